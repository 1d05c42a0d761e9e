// A release of a Configuration that has moved a required package is taken back, as by git revert: with a required package that the hook has
// chosen, with one that the user applies at once, and where one alone cannot go.
import t, { type Test } from 'tap';
import { optedIn, packageUidLabel } from '../../hooks/crossplane/model/own.ts';
import type { PackageKind } from '../../hooks/crossplane/model/package.ts';
import { at, isList, type JsonObject, objectsAt, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { startOwnLoops } from '../support/package-loops.ts';
import { lockPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(1_800_000);

const world = await startPackageWorld(t, { environment: { JANUS_PACKAGES_OWN: 'annotated' } });
const { client, source } = world;
await startOwnLoops(t, { kubeconfig: world.plane.kubeconfig, hookUrls: [world.hook.url] });

const fieldsOf = (count: number): object => ({
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, { type: 'string' }])),
});

/** A Provider in two versions, of which the second adds a field; and a Configuration whose versions require one of them each. */
async function publishPair(provider: string, configuration: string): Promise<void> {
  for (const [index, tag] of ['v1.0.0', 'v2.0.0'].entries())
    await world.publish({
      name: provider,
      tag,
      objects: [definitionOf(`${provider}s`, 'back.example.org', fieldsOf(index + 1))],
    });
  await world.publish({ kind: 'Configuration', name: configuration, tag: 'v1.0.0', requires: { [provider]: '<v2.0.0' } });
  await world.publish({ kind: 'Configuration', name: configuration, tag: 'v2.0.0', requires: { [provider]: '>=v2.0.0' } });
}

const pathOf = (kind: PackageKind, name: string): string => packagePath(`${kind.toLowerCase()}s`, name);

async function apply(kind: PackageKind, name: string, tag: string): Promise<void> {
  const metadata = { name, annotations: optedIn };
  const object = { apiVersion: 'pkg.crossplane.io/v1', kind, metadata, spec: { package: `${source(name)}:${tag}` } };
  must(await client.apply(pathOf(kind, name), object));
}

async function locked(): Promise<Readonly<Record<string, string>>> {
  const packages = at(must(await client.get(lockPath)), 'packages');
  const entries = isList(packages) ? packages : [];
  return Object.fromEntries(
    entries.map((one) => [textAt(one, 'source')?.split('/').at(-1), textAt(one, 'version')?.split('@')[0] ?? '']),
  );
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  await waitFor(isSo, what, { timeoutMs: 300_000 });
}

async function conditionOf(kind: PackageKind, name: string) {
  const found = must(await client.get(pathOf(kind, name)));
  const installed = objectsAt(found, 'status', 'conditions').find(({ type }) => type === 'Installed');
  const isPresent = at(installed, 'observedGeneration') === at(found, 'metadata', 'generation');
  return { ...conditionIn(statusOf(found), 'Installed'), isPresent, pkg: found };
}

async function installed(kind: PackageKind, name: string): Promise<JsonObject> {
  let pkg: JsonObject = {};
  await until(`${kind} ${name} to be installed`, async () => {
    const found = await conditionOf(kind, name);
    pkg = found.pkg;
    if (found.isPresent && found.status === 'True' && found.reason === 'ActivePackageRevision') return true;
    throw new Error(JSON.stringify(statusOf(found.pkg)));
  });
  return pkg;
}

/** How many tries of the package transactions of this Package have failed. */
async function failuresOf(pkg: JsonObject): Promise<number> {
  const labelSelector = `${packageUidLabel}=${textAt(pkg, 'metadata', 'uid')}`;
  const { items } = await client.list(ptxPath(), { labelSelector });
  return items.reduce((sum, one) => sum + Number(at(one, 'status', 'failures') ?? 0), 0);
}

async function isIn(t: Test, expected: Readonly<Record<string, string>>): Promise<void> {
  t.match(await locked(), expected);
}

t.test('a required package that the hook has chosen goes back with the Configuration', async (t) => {
  await publishPair('chosen', 'stack');
  for (const tag of ['v1.0.0', 'v2.0.0', 'v1.0.0', 'v2.0.0']) {
    await apply('Configuration', 'stack', tag);
    const pkg = await installed('Configuration', 'stack');
    await isIn(t, { stack: tag, chosen: tag });
    t.equal(await failuresOf(pkg), 0);
  }
});

t.test('Packages that are applied at once go forward and back at once, in either order', async (t) => {
  await publishPair('applied', 'both');
  const orders = [
    ['v1.0.0', true],
    ['v2.0.0', true],
    ['v1.0.0', true],
    ['v2.0.0', false],
    ['v1.0.0', false],
  ] as const;
  for (const [tag, isProviderFirst] of orders) {
    const some = [() => apply('Provider', 'applied', tag), () => apply('Configuration', 'both', tag)];
    for (const one of isProviderFirst ? some : some.toReversed()) await one();
    const packages = [await installed('Provider', 'applied'), await installed('Configuration', 'both')];
    await isIn(t, { applied: tag, both: tag });
    for (const pkg of packages) t.equal(await failuresOf(pkg), 0, `${textAt(pkg, 'metadata', 'name')} ${tag}`);
  }
});

t.test('where a Configuration alone cannot go back, its condition names the other, and it goes back with it', async (t) => {
  await publishPair('pinned', 'alone');
  await apply('Provider', 'pinned', 'v2.0.0');
  await apply('Configuration', 'alone', 'v2.0.0');
  await installed('Configuration', 'alone');
  await apply('Configuration', 'alone', 'v1.0.0');
  await until('the refusal', async () => {
    const { reason, message = '' } = await conditionOf('Configuration', 'alone');
    if (reason !== 'VersionConflict') throw new Error(message);
    t.match(
      message,
      /pinned.* requires <v2\.0\.0.*installed is v2\.0\.0; it goes to a lower version only if its Package names that version/,
    );
    return true;
  });
  await apply('Provider', 'pinned', 'v1.0.0');
  await installed('Configuration', 'alone');
  await installed('Provider', 'pinned');
  await isIn(t, { pinned: 'v1.0.0', alone: 'v1.0.0' });
});

t.test(
  'a Provider alone cannot go back below its Configuration: it waits if the Configuration goes, too, and is refused otherwise',
  async (t) => {
    await apply('Configuration', 'alone', 'v2.0.0');
    await apply('Provider', 'pinned', 'v2.0.0');
    await installed('Configuration', 'alone');
    await installed('Provider', 'pinned');
    await apply('Provider', 'pinned', 'v1.0.0');
    await until('the refusal', async () => {
      const { reason, message = '' } = await conditionOf('Provider', 'pinned');
      if (reason !== 'VersionConflict') throw new Error(message);
      t.match(message, /alone requires >=v2\.0\.0/);
      return true;
    });
  },
);

t.test('two Packages that require each other in their new versions are refused, and both conditions name both', async (t) => {
  for (const name of ['left', 'right']) {
    await world.publish({ name, tag: 'v1.0.0' });
    await apply('Provider', name, 'v1.0.0');
    await installed('Provider', name);
  }
  await world.publish({ name: 'left', tag: 'v2.0.0', requires: { right: '>=v2.0.0' } });
  await world.publish({ name: 'right', tag: 'v2.0.0', requires: { left: '>=v2.0.0' } });
  await apply('Provider', 'left', 'v2.0.0');
  await apply('Provider', 'right', 'v2.0.0');
  for (const name of ['left', 'right'])
    await until(`the refusal of ${name}`, async () => {
      const { reason, message = '' } = await conditionOf('Provider', name);
      if (reason !== 'CircularDependency') throw new Error(`${reason} ${message}`);
      t.match(message, /left.*right|right.*left/);
      return true;
    });
});
