// A Replace of packages whose definitions need more than a new controller: a webhook converts the instances of a CRD, or Crossplane makes
// the CRD of a ManagedResourceDefinition. No Crossplane runs here. The test runs the servers of the webhooks.
import t from 'tap';
import { at, type JsonObject, objectsAt, textAt } from '../../hooks/objects/json.ts';
import { makeCertificate } from '../support/certificate.ts';
import { must } from '../support/client.ts';
import { authorityIn, convertedThings, createService, reachable, startConversion, thingsOf } from '../support/conversion.ts';
import { extensions, serveExtensions } from '../support/extensions.ts';
import { startPackageAdmission } from '../support/package-admission.ts';
import { definitionPath, kinds, lockPath, packagePath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { controllerOfDefinition, replace, watchControllers } from '../support/replacing.ts';
import { comparable } from '../support/stage.ts';

t.setTimeout(1_800_000);

const secretName = 'webhooks';
const world = await startPackageWorld(t, {
  apiServerFlags: ['--enable-aggregator-routing=true'],
  environment: { JANUS_PACKAGES_WEBHOOK_SECRET: secretName },
});
const { client, source } = world;
await serveExtensions(client);
const admission = await startPackageAdmission(client, t, [extensions]);
const managedPath = (name = ''): string =>
  `/apis/${extensions}/v1alpha1/managedresourcedefinitions${name === '' ? '' : `/${name}`}`;

/** Packages, revisions, definitions and the Lock. */
async function everything(): Promise<JsonObject> {
  const paths = [definitionPath(), managedPath(), ...kinds.map((plural) => packagePath(plural))];
  const lists = await Promise.all(paths.map(async (path) => (await client.list(path)).items));
  const objects = lists.flat().map((one) => comparable(one) as JsonObject);
  return { objects, packages: at(must(await client.get(lockPath)), 'packages') ?? [] };
}

async function installed(name: string, package_: string): Promise<void> {
  await world.install(name, `${source(package_)}:v1.0.0`, { packageName: name });
  const status = await world.finished(name);
  t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
}

async function replaced(name: string, from: string, to: string, packageName: string): Promise<JsonObject> {
  await replace(world, name, { from: source(from), to: `${source(to)}:v1.0.0`, packageName });
  return world.finished(name);
}

/** Refuses each write of the object, but not its dry run. Returns the names of the definitions that are written. */
function refuse(refused: string): readonly string[] {
  const written: string[] = [];
  admission.decide(({ resource, operation, name, dryRun }) => {
    if (dryRun || !resource.endsWith('resourcedefinitions')) return undefined;
    written.push(`${operation} ${name}`);
    return name === refused ? { code: 403, message: 'not today' } : undefined;
  });
  return written;
}

t.test(
  'CRDs with a conversion webhook',
  { skip: reachable === undefined && 'this machine has no address that an EndpointSlice may name' },
  async (t) => {
    const group = 'converted.example.org';
    const path = definitionPath(`things.${group}`);
    const namespace = 'janus-packages';
    const services = ['one-things', 'two-things'];
    const { certificate, key } = makeCertificate('127.0.0.1', ...services.map((service) => `${service}.${namespace}.svc`));
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const data = { 'tls.crt': base64(certificate), 'tls.key': base64(key) };
    const secret = must(await client.create(`/api/v1/namespaces/${namespace}/secrets`, { metadata: { name: secretName }, data }));
    const [one, two] = await Promise.all(
      services.map(async (service) => {
        await createService(client, { namespace, service });
        return startConversion(t, client, secret, { namespace, service });
      }),
    );
    const things = thingsOf(client, group);
    const conversion = async (): Promise<unknown> => at(must(await client.get(path)), 'spec', 'conversion');
    const uids = async (): Promise<readonly unknown[]> =>
      (await client.list(things.path('v1'))).items.map((item) => textAt(item, 'metadata', 'uid'));
    const areConverted = async (): Promise<void> => {
      await things.converts('of-v1', { uno: 'a' }, { one: 'a' });
      await things.converts('of-v2', { uno: 'b' }, { one: 'b' });
    };
    for (const vendor of ['one', 'two'])
      await world.publish({
        name: `${vendor}/things`,
        tag: 'v1.0.0',
        objects: [convertedThings(group), definitionOf('others', group)],
      });
    await installed('one-things', 'one/things');
    await things.create('v1', 'of-v1', { one: 'a' });
    await things.create('v2', 'of-v2', { uno: 'b' });
    await areConverted();
    const before = await uids();

    await t.test('a Replace that fails at the second CRD puts back the webhook of the first one', async (t) => {
      const [kept, stanza] = [await everything(), await conversion()];
      t.equal(textAt(stanza as JsonObject, 'webhook', 'clientConfig', 'service', 'name'), 'one-things');
      t.equal(textAt(stanza as JsonObject, 'webhook', 'clientConfig', 'caBundle'), data['tls.crt']);
      const written = refuse(`others.${group}`);
      const status = await replaced('failing', 'one/things', 'two/things', 'two-things');
      admission.decide(() => undefined);
      t.match(conditionIn(status, 'Installed'), { status: 'False', message: /not today/ });
      t.ok(written.filter((write) => write === `UPDATE things.${group}`).length > 1, 'written, and put back');
      t.strictSame(await conversion(), stanza);
      t.strictSame(await everything(), kept);
      t.same(await uids(), before);
      await areConverted();
    });

    await t.test('after a Replace the webhook of the new package converts the instances', async (t) => {
      const status = await replaced('moved', 'one/things', 'two/things', 'two-things');
      t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
      const definition = must(await client.get(path));
      t.equal(textAt(definition, 'spec', 'conversion', 'webhook', 'clientConfig', 'service', 'name'), 'two-things');
      t.equal(authorityIn(definition), data['tls.crt']);
      t.match(await controllerOfDefinition(client, `things.${group}`), /^two-things-/);
      await one?.stop();
      const answered = two?.answered() ?? 0;
      await areConverted();
      t.ok((two?.answered() ?? 0) > answered, 'the new server has answered');
      t.same(await uids(), before);
    });
  },
);

t.test('ManagedResourceDefinitions', async (t) => {
  const group = 'managed.example.org';
  const names = ['gadgets', 'widgets'].map((plural) => `${plural}.${group}`);
  const [active = '', inactive = ''] = names;
  const managed = (plural: string): JsonObject => ({
    apiVersion: `${extensions}/v1alpha1`,
    kind: 'ManagedResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { ...(at(definitionOf(plural, group) as JsonObject, 'spec') as JsonObject), state: 'Inactive' },
  });
  const publish = (name: string, ...objects: readonly object[]): Promise<string> =>
    world.publish({ name, tag: 'v1.0.0', objects });
  await publish('one/managed', managed('gadgets'), managed('widgets'));
  await publish('two/managed', managed('gadgets'), managed('widgets'));
  await publish('less/managed', managed('gadgets'));
  await publish('plain/managed', managed('gadgets'), definitionOf('widgets', group));
  await installed('one-managed', 'one/managed');
  must(await client.patch(managedPath(active), { spec: { state: 'Active' } }));
  const live = (): Promise<readonly JsonObject[]> =>
    Promise.all(names.map(async (name) => must(await client.get(managedPath(name)))));
  const kept = async (): Promise<unknown> =>
    (await live()).map((one) => [textAt(one, 'metadata', 'uid'), textAt(one, 'spec', 'state')]);
  const before = await kept();
  t.match(before, [
    [/./, 'Active'],
    [/./, 'Inactive'],
  ]);

  for (const [vendor, what] of [
    ['less', 'lacks one'],
    ['plain', 'has only the CRD of one, and no Crossplane makes its definition'],
  ] as const)
    await t.test(`a Replace by a tree that ${what} is refused, and nothing is written`, async (t) => {
      const [all, objects] = [await everything(), await live()];
      const status = await replaced(vendor, 'one/managed', `${vendor}/managed`, `${vendor}-managed`);
      t.match(conditionIn(status, 'Validated'), {
        status: 'False',
        reason: 'SchemaIncompatible',
        message:
          /^ManagedResourceDefinition widgets\.managed\.example\.org of \S+one\/managed is in no package of the tree of \S+\/managed/,
      });
      t.strictSame(await live(), objects, 'not written at all');
      t.strictSame(await everything(), all);
    });

  await t.test('a Replace that fails at the second one leaves everything as it was', async (t) => {
    const [all, watch] = [await everything(), await watchControllers(world, group, managedPath())];
    const written = refuse(inactive);
    const status = await replaced('undone', 'one/managed', 'two/managed', 'two-managed');
    admission.decide(() => undefined);
    t.match(conditionIn(status, 'Installed'), { status: 'False', message: /not today/ });
    t.ok(written.filter((write) => write === `UPDATE ${active}`).length > 1, 'written, and put back');
    t.same(await watch.stop(), []);
    t.strictSame(await everything(), all);
  });

  await t.test('a Replace gives each of them to the new revision by one write', async (t) => {
    const watch = await watchControllers(world, group, managedPath());
    const written = refuse('none');
    const status = await replaced('taken', 'one/managed', 'two/managed', 'two-managed');
    admission.decide(() => undefined);
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    t.same(
      written.toSorted(),
      names.map((name) => `UPDATE ${name}`),
    );
    t.same(await watch.stop(), []);
    t.same(await kept(), before, 'with uid and state');
    for (const one of await live()) {
      const owners = objectsAt(one, 'metadata', 'ownerReferences').filter(({ kind }) => kind === 'ProviderRevision');
      t.match(owners, [{ controller: true, name: /^two-managed-/ }]);
      t.equal(owners.length, 1);
    }
  });
});
