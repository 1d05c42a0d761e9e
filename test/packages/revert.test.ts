// A release of a package that is taken back, as by git revert: what is stored decides whether a definition may follow.
import t, { type Test } from 'tap';
import { optedIn, packageUidLabel } from '../../hooks/crossplane/model/own.ts';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { startOwnLoops } from '../support/package-loops.ts';
import { definitionPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { instancesPath } from '../support/replacing.ts';

t.setTimeout(1_800_000);

const world = await startPackageWorld(t, { environment: { JANUS_PACKAGES_OWN: 'annotated' } });
const { client, source } = world;
await startOwnLoops(t, { kubeconfig: world.plane.kubeconfig, hookUrls: [world.hook.url] });

const group = 'revert.example.org';
const text = { type: 'string' };
const schemaOf = (spec: object): object => ({ type: 'object', properties: spec });
const publish = (tag: string, spec: object): Promise<string> =>
  world.publish({ name: 'moved', tag, objects: [definitionOf('things', group, schemaOf(spec))] });
await publish('v1.0.0', { a: text });
await publish('v1.1.0', { a: text, b: { ...text, default: 'usual' } });
await publish('v1.2.0', { a: { type: 'integer' } });

async function apply(tag: string): Promise<void> {
  const object = {
    apiVersion: 'pkg.crossplane.io/v1',
    kind: 'Provider',
    metadata: { name: 'moved', annotations: optedIn },
    spec: { package: `${source('moved')}:${tag}` },
  };
  must(await client.apply(packagePath('providers', 'moved'), object));
}

const provider = async (): Promise<JsonObject> => must(await client.get(packagePath('providers', 'moved')));

async function until(
  what: string,
  isSo: (condition: ReturnType<typeof conditionIn>, found: JsonObject) => boolean,
): Promise<string> {
  return waitFor(
    async () => {
      const found = await provider();
      const condition = conditionIn(statusOf(found), 'Installed');
      if (isSo(condition, found)) return condition?.message ?? '';
      throw new Error(JSON.stringify(statusOf(found)));
    },
    what,
    { timeoutMs: 300_000 },
  );
}

/** The properties of `spec` as the CRD has them. */
async function fields(): Promise<readonly string[]> {
  const versions = at(must(await client.get(definitionPath(`things.${group}`))), 'spec', 'versions');
  const [version] = Array.isArray(versions) ? versions : [];
  return Object.keys((at(version, 'schema', 'openAPIV3Schema', 'properties', 'spec', 'properties') ?? {}) as JsonObject);
}

async function installed(t: Test, tag: string, expected: readonly string[]): Promise<void> {
  await apply(tag);
  await until(`${tag} to be installed`, (condition, found) => {
    const isCurrent = textAt(statusOf(found), 'currentIdentifier')?.endsWith(tag) === true;
    return condition?.status === 'True' && condition.reason === 'ActivePackageRevision' && isCurrent;
  });
  t.same(await fields(), expected, tag);
}

const refused = (): Promise<string> => until('a refusal', (condition) => condition?.reason === 'SchemaIncompatible');

async function create(name: string, spec: JsonObject): Promise<void> {
  const object = { apiVersion: `${group}/v1beta1`, kind: 'Thing', metadata: { name }, spec };
  await waitFor(async () => must(await client.create(instancesPath(group, 'things'), object)), `instance ${name}`);
}

t.test('without instances every schema may follow', async (t) => {
  await installed(t, 'v1.0.0', ['a']);
  await installed(t, 'v1.1.0', ['a', 'b']);
  await installed(t, 'v1.0.0', ['a']);
  await installed(t, 'v1.2.0', ['a']);
  await installed(t, 'v1.0.0', ['a']);
});

t.test('a field goes if no instance holds a value other than its default', async (t) => {
  await installed(t, 'v1.1.0', ['a', 'b']);
  await create('plain', { a: 'x' });
  await create('defaulted', { a: 'x', b: 'usual' });
  await installed(t, 'v1.0.0', ['a']);
});

t.test('another change of a schema with instances is refused', async (t) => {
  await apply('v1.2.0');
  t.match(
    await refused(),
    /CRD things\.revert\.example\.org would break what is there: v1beta1 \.spec\.a type was "string", is "integer"/,
  );
});

t.test('values: the condition names ten instances, and the annotation with the new version makes the try again', async (t) => {
  await installed(t, 'v1.1.0', ['a', 'b']);
  for (let index = 0; index < 12; index += 1) await create(`held-${String(index).padStart(2, '0')}`, { b: 'mine' });
  await apply('v1.0.0');
  const message = await refused();
  t.match(
    message,
    /"held-00", .*"held-09" and 2 more hold values in fields that it drops \(v1beta1 \.spec\.b the field is gone\)/,
  );
  const events = async () =>
    (await client.list('/api/v1/namespaces/default/events')).items.filter(
      (one) => textAt(one, 'involvedObject', 'kind') === 'Provider' && textAt(one, 'involvedObject', 'name') === 'moved',
    );
  const isSaid = async (): Promise<boolean> => (await events()).some((one) => textAt(one, 'reason') === 'SchemaIncompatible');
  await waitFor(isSaid, 'an Event of the refusal');
  const kinds = (await events()).map((one) => `${textAt(one, 'type')} ${textAt(one, 'reason')}`);
  for (const kind of ['Normal ActivePackageRevision', 'Warning SchemaIncompatible']) t.ok(kinds.includes(kind), `${kinds}`);
  t.match(message, /annotate Provider moved with pkg\.crossplane\.io\/allow-irreversible=v1\.0\.0 to allow it/);
  t.notMatch(message, /plain|defaulted/);
  t.same(await fields(), ['a', 'b']);
  const allow = (value: string) =>
    client.patch(packagePath('providers', 'moved'), {
      metadata: { annotations: { 'pkg.crossplane.io/allow-irreversible': value } },
    });
  must(await allow('v0.9.0'));
  const uid = textAt(await provider(), 'metadata', 'uid');
  const isMadeAgain = async (): Promise<boolean> => {
    const made = (await client.list(ptxPath(), { labelSelector: `${packageUidLabel}=${uid}` })).items;
    return made.some((one) => textAt(one, 'metadata', 'annotations', 'pkg.crossplane.io/allow-irreversible') === 'v0.9.0');
  };
  await waitFor(isMadeAgain, 'another package transaction', { timeoutMs: 120_000 });
  await refused();
  must(await allow('v1.0.0'));
  await installed(t, 'v1.0.0', ['a']);
  const lost = await until(
    'the loss to be named',
    (condition) => condition?.status === 'True' && condition.message !== undefined,
  );
  t.match(lost, /CRD things\.revert\.example\.org: "held-00", .*"held-09" and 2 more lose the values in fields that it drops/);
  const [made] = (await client.list(ptxPath(), { labelSelector: `${packageUidLabel}=${uid}` })).items.filter(
    (one) => textAt(one, 'metadata', 'annotations', 'pkg.crossplane.io/allow-irreversible') === 'v1.0.0',
  );
  t.ok(conditionIn(statusOf(made ?? {}), 'Installed')?.message?.includes(lost), 'the package transaction names them, too');
});
