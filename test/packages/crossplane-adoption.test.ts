// There and back: package transactions take over packages that Crossplane has installed, and give them back. No provider restarts.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { runtimes, withCrossplane } from '../support/crossplane.ts';
import { revisionOf, schemaOf, startCrossplaneWorld } from '../support/crossplane-world.ts';
import { definitionPath, packagePath } from '../support/package-paths.ts';
import { conditionIn, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(1_800_000);

const names = ['first', 'second', 'third'];
const groupOf = (name: string): string => `${name}.example.org`;
const things = (name: string, ...fields: readonly string[]): object => definitionOf('things', groupOf(name), schemaOf(...fields));
const instancesPath = (name: string): string => `/apis/${groupOf(name)}/v1beta1/things`;

t.test('there and back, with sixty instances', withCrossplane, async (t) => {
  const { world, lockEntries, packageNames, healthy } = await startCrossplaneWorld(t);
  const { client, source } = world;
  const revisions = new Map<string, string>();
  const revisionPath = (name: string): string => packagePath('providerrevisions', revisions.get(name) ?? '');

  /** By Crossplane alone, as people do. */
  async function installByCrossplane(name: string): Promise<void> {
    const requires = name === 'first' ? {} : { first: '>=v1.0.0' };
    const digest = await world.publish({ name, tag: 'v1.0.0', requires, objects: [things(name, 'one')] });
    revisions.set(name, revisionOf(name, digest));
    const spec = { package: `${source(name)}:v1.0.0` };
    must(
      await client.create(packagePath('providers'), {
        apiVersion: 'pkg.crossplane.io/v1',
        kind: 'Provider',
        metadata: { name },
        spec,
      }),
    );
    await healthy(revisionOf(name, digest));
    for (let index = 0; index < 20; index += 1) {
      const object = { apiVersion: `${groupOf(name)}/v1beta1`, kind: 'Thing', metadata: { name: `thing-${index}` } };
      must(await client.create(instancesPath(name), { ...object, spec: { one: String(index) } }));
    }
  }

  /** With uids and managedFields. */
  const instances = async (): Promise<readonly unknown[]> =>
    Promise.all(names.map(async (name) => at(must(await client.get(instancesPath(name))), 'items')));
  /** The API server answers 404 or 429 for a moment while it serves a changed CRD anew. */
  const stay = async (t: Test, what: string): Promise<void> => {
    for (const name of names)
      await waitFor(async () => (await client.get(instancesPath(name))).code === 200, `the instances of ${name} to be served`);
    t.strictSame(await instances(), before[0], what);
  };
  const uids = async (): Promise<unknown> => {
    const paths = names.flatMap((name) => [
      packagePath('providers', name),
      revisionPath(name),
      definitionPath(`things.${groupOf(name)}`),
    ]);
    return Promise.all(paths.map(async (path) => textAt(must(await client.get(path)), 'metadata', 'uid')));
  };
  const specs = async (): Promise<unknown> =>
    Promise.all(names.map(async (name) => at(must(await client.get(revisionPath(name))), 'spec')));
  const started = async (): Promise<readonly string[]> => {
    const deployments = await runtimes(client);
    return deployments.map((one) => `${textAt(one, 'metadata', 'uid')} ${at(one, 'metadata', 'generation')}`).sort();
  };
  const succeeds = async (name: string, package_: string, packageName: string): Promise<void> => {
    await world.install(name, package_, { packageName });
    const status = await world.finished(name);
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
  };
  const isWell = async (name: string): Promise<boolean> => {
    const status = statusOf(must(await client.get(packagePath('providers', name))));
    return ['Installed', 'Healthy'].every((type) => conditionIn(status, type)?.status === 'True');
  };

  for (const name of names) await installByCrossplane(name);
  const before = [await instances(), await uids(), await specs(), await lockEntries(), await started()];

  await t.test('there: each package is taken over, and no provider starts again', async (t) => {
    for (const name of names) await succeeds(`adopt-${name}`, `${source(name)}:v1.0.0`, name);
    for (const name of names) await healthy(revisions.get(name) ?? '');
    t.strictSame([await instances(), await uids(), await specs(), await lockEntries(), await started()], before);
    const taken = names.flatMap((name) => [packagePath('providers', name), revisionPath(name)]);
    const labels = await Promise.all(taken.map(async (path) => at(must(await client.get(path)), 'metadata', 'labels')));
    t.ok(labels.every((one) => textAt(one, 'pkg.crossplane.io/transaction')?.startsWith('adopt-')));
  });

  await t.test('an update of one on which the others depend', async (t) => {
    const digest = await world.publish({ name: 'first', tag: 'v1.1.0', objects: [things('first', 'one', 'two')] });
    await succeeds('update', `${source('first')}:v1.1.0`, 'first');
    await healthy(revisionOf('first', digest));
    revisions.set('first', revisionOf('first', digest));
    await stay(t, 'an update by a package transaction');
    t.same(await packageNames(), names);
    for (const name of names) await healthy(revisions.get(name) ?? '');
  });

  await t.test('back: unpaused, and Crossplane goes on', async (t) => {
    const entries = await lockEntries();
    const unpaused: JsonObject = { metadata: { annotations: { 'crossplane.io/paused': null } } };
    for (const name of names) must(await client.patch(packagePath('providers', name), unpaused));
    for (const name of names) await waitFor(() => isWell(name), `Crossplane to go on with ${name}`, { timeoutMs: 120_000 });
    t.same(await lockEntries(), entries);
    t.same(await packageNames(), names);
    await stay(t, 'nothing happens to them');
    const digest = await world.publish({
      name: 'third',
      tag: 'v1.1.0',
      requires: { first: '>=v1.0.0' },
      objects: [things('third', 'one', 'two')],
    });
    must(await client.patch(packagePath('providers', 'third'), { spec: { package: `${source('third')}:v1.1.0` } }));
    await healthy(revisionOf('third', digest));
    t.match((await lockEntries()).join('\n'), `${revisionOf('third', digest)} ${source('third')} v1.1.0`);
    await stay(t, 'an update by Crossplane');
  });
});
