// Package transactions with spec.dryRun, and `janus plan` of a package: the plan says what an install or a Delete does, and nothing is
// changed before.
import t, { type Test } from 'tap';
import { at, type JsonObject, objectsAt, textAt } from '../../hooks/objects/json.ts';
import { startServer, typed } from '../cli/here.ts';
import { openCli } from '../support/cli.ts';
import { must, waitFor } from '../support/client.ts';
import { definitionPath, kinds, lockPath, packagePath, ptxPath, stagesPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, storyOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { comparable } from '../support/stage.ts';

t.setTimeout(600_000);

const world = await startPackageWorld(t);
const { client, source } = world;
const cli = await openCli(t, world.plane.kubeconfig);
const group = 'planned.example.org';
const crd = (plural: string): string => `${plural}.${group}`;
const schema = { type: 'object', properties: { color: { type: 'string' } } };
await world.publish({ name: 'family', tag: 'v1.0.0', objects: [definitionOf('configs', group)] });
const requires = { family: '>=v1.0.0' };
await world.publish({
  name: 'queue',
  tag: 'v1.0.0',
  requires,
  objects: ['queues', 'topics', 'olds'].map((plural) => definitionOf(plural, group)),
});
await world.publish({
  name: 'queue',
  tag: 'v1.1.0',
  requires,
  objects: [definitionOf('queues', group, schema), definitionOf('topics', group), definitionOf('streams', group)],
});
await world.publish({ name: 'lonely', tag: 'v1.0.0', requires: { nobody: '>=v1.0.0' } });

const provider = (name: string, tag: string): string =>
  JSON.stringify({
    apiVersion: 'pkg.crossplane.io/v1',
    kind: 'Provider',
    metadata: { name },
    spec: { package: `${source(name)}:${tag}` },
  });
const deletion = (more: JsonObject = {}): string =>
  JSON.stringify({
    apiVersion: 'pkg.crossplane.io/v1alpha1',
    kind: 'Transaction',
    metadata: { name: 'gone', ...more },
    spec: { change: 'Delete', delete: { source: source('queue') } },
  });

/** All that a package transaction could change, with the packages of the Lock. */
async function everything(): Promise<JsonObject> {
  const paths = [definitionPath(), ...kinds.map((plural) => packagePath(plural)), stagesPath];
  const lists = await Promise.all(paths.map(async (path) => (await client.list(path)).items));
  const objects = lists.flat().map((one) => comparable(one) as JsonObject);
  const lock = await client.get(lockPath);
  return { objects, packages: at(lock.body, 'packages') ?? [] };
}

async function planOf(t: Test, text: string, code: number): Promise<{ readonly out: string; readonly plan: JsonObject }> {
  const before = await everything();
  const found = await cli.run(['plan', '-f', '-', '-o', 'json'], { input: text });
  t.equal(found.code, code, found.out + found.err);
  const printed = await cli.run(['plan', '-f', '-'], { input: text });
  t.equal(printed.code, code, printed.err);
  t.strictSame(await everything(), before, 'nothing is changed');
  t.equal(
    textAt(must(await client.get(lockPath)), 'metadata', 'annotations', 'pkg.crossplane.io/current-transaction'),
    undefined,
  );
  const left = async (): Promise<boolean> =>
    (await client.list(ptxPath())).items.every((one) => !textAt(one, 'metadata', 'name')?.startsWith('plan-'));
  await waitFor(left, 'the package transactions of the plans to go');
  return { out: printed.out, plan: at(JSON.parse(found.out), 'status', 'plan') as JsonObject };
}

/** `Create Queue x`, and from whom to whom. */
const told = (plan: JsonObject): readonly string[] =>
  objectsAt(plan, 'objects').map((one) => {
    const [operation, kind, name] = [one.operation, one.kind, one.name].map(String) as [string, string, string];
    const revision = (key: string): string => (textAt(one, key) ?? 'none').replace(/-[0-9a-f]{12}$/, '');
    return `${operation} ${kind.replace('CustomResourceDefinition', 'CRD')} ${name.replace(/-[0-9a-f]{12}$/, '')} ${revision('from')} -> ${revision('to')}`;
  });

t.test('a dry run of a first install is final, and makes nothing', async (t) => {
  await world.install('first', `${source('queue')}:v1.0.0`, { packageName: 'queue', dryRun: true });
  const status = await world.finished('first');
  t.same(storyOf(status), [
    'Validated True/AllValidationsPassed',
    'Installed False/DryRun',
    'Ready True/TransactionComplete',
    'Synced True/ReconcileSuccess',
    'Finished True/TransactionComplete',
  ]);
  t.match(at(status, 'plan', 'packages'), [
    {
      operation: 'Create',
      name: 'acme-family',
      to: /^v1.0.0@sha256:/,
      requiredBy: [{ package: source('queue'), constraints: '>=v1.0.0' }],
    },
    { operation: 'Create', name: 'queue', to: /^v1.0.0@sha256:/, requiredBy: [] },
  ]);
  t.same(told(at(status, 'plan') as JsonObject).toSorted(), [
    `Create CRD ${crd('configs')} none -> acme-family`,
    `Create CRD ${crd('olds')} none -> queue`,
    `Create CRD ${crd('queues')} none -> queue`,
    `Create CRD ${crd('topics')} none -> queue`,
    'Create ProviderRevision acme-family none -> Active',
    'Create ProviderRevision queue none -> Active',
  ]);
  t.equal(textAt(status, 'outcome', 'kind'), 'Succeeded');
  t.same((await client.list(packagePath('providers'))).items, []);
  t.same((await client.list(stagesPath)).items, []);
  t.equal((await client.get(definitionPath(crd('queues')))).code, 404);
  t.same(at(must(await client.get(lockPath)), 'packages') ?? [], []);
});

t.test(
  'the plan of an update names what is created, changed, handed over and released, and the update does just that',
  async (t) => {
    await world.install('real', `${source('queue')}:v1.0.0`, { packageName: 'queue' });
    t.equal(conditionIn(await world.finished('real'), 'Ready')?.status, 'True');
    const generations = async (): Promise<readonly unknown[]> =>
      Promise.all(
        ['queues', 'topics', 'olds'].map(async (plural) =>
          at((await client.get(definitionPath(crd(plural)))).body, 'metadata', 'generation'),
        ),
      );
    const before = await generations();
    const { out, plan } = await planOf(t, provider('queue', 'v1.1.0'), 1);
    t.match(plan.packages, [{ operation: 'Update', name: 'queue', from: /^v1.0.0@/, to: /^v1.1.0@/ }]);
    t.same(told(plan), [
      `Release CRD ${crd('olds')} queue -> none`,
      `HandOver CRD ${crd('topics')} queue -> queue`,
      'Update ProviderRevision queue Active -> Inactive',
      `Update CRD ${crd('queues')} queue -> queue`,
      'Create ProviderRevision queue none -> Active',
      `Create CRD ${crd('streams')} none -> queue`,
    ]);
    t.match(out, /^> handed over +CustomResourceDefinition +topics\.planned\.example\.org/m);
    t.match(out, /1 package changes; objects: 2 created, 2 changed, 1 handed over, 1 released\. Nothing was changed\. +exit 1$/m);
    await world.install('update', `${source('queue')}:v1.1.0`, { packageName: 'queue' });
    t.equal(conditionIn(await world.finished('update'), 'Ready')?.status, 'True');
    const after = await generations();
    t.same(
      after.map((one, index) => one === before[index]),
      [false, true, true],
      'of the CRDs that were there, only queues has another content',
    );
  },
);

t.test('the plan of an installed package changes nothing', async (t) => {
  const { out, plan } = await planOf(t, provider('queue', 'v1.1.0'), 0);
  t.same(plan, { packages: at(plan, 'packages'), objects: [], unchanged: 3, unlisted: 0 });
  t.match(out, /0 packages change; objects: 3 unchanged\./);
});

t.test('a dry run that is refused is final, however often it may fail', async (t) => {
  await world.install('refused', `${source('lonely')}:v1.0.0`, { packageName: 'lonely', dryRun: true, retryLimit: 5 });
  const status = await world.finished('refused');
  t.match(conditionIn(status, 'Validated'), { status: 'False', reason: 'MissingDependency' });
  t.equal(at(status, 'failures'), 1);
  t.match(await planOf(t, provider('lonely', 'v1.0.0'), 2), {
    out: /Would be refused:\n +MissingDependency +Package lonely requires/,
  });
});

t.test('the plan of a Delete names the objects that go, and the reason of a refusal', async (t) => {
  const { plan, out } = await planOf(t, deletion(), 1);
  t.match(plan.packages, [{ operation: 'Delete', kind: 'Provider', name: 'queue', from: /^v1.1.0@/ }]);
  t.same(
    told(plan).toSorted(),
    [
      ...['queues', 'streams', 'topics'].map((plural) => `Delete CRD ${crd(plural)} queue -> none`),
      'Delete ProviderRevision queue Active -> none',
      'Delete ProviderRevision queue Inactive -> none',
    ].toSorted(),
  );
  t.match(out, /no package requires .*acme\/family any more/);
  const kept = await planOf(t, deletion({ annotations: { 'pkg.crossplane.io/keep-crds': 'true' } }), 1);
  t.ok(told(kept.plan).includes(`Keep CRD ${crd('queues')} queue -> none`));
  const object = { apiVersion: `${group}/v1beta1`, kind: 'Queue', metadata: { name: 'mine' } };
  const path = `/apis/${group}/v1beta1/queues`;
  await waitFor(async () => (await client.create(path, object)).code === 201, 'the instance to be created');
  t.match(await planOf(t, deletion(), 2), {
    out: /ResourcesInUse +CRD queues\.planned\.example\.org has 1 instance, such as "mine"/,
  });
  must(await client.delete(`${path}/mine`));
});

t.test('dry runs leave the history of changes as it is', async (t) => {
  const annotation = 'pkg.crossplane.io/transaction-history-limit';
  must(await client.patch(lockPath, { metadata: { annotations: { [annotation]: '1' } } }));
  await world.install('last', `${source('queue')}:v1.1.0`, { packageName: 'queue' });
  await world.finished('last');
  const names = async (): Promise<readonly string[]> =>
    (await client.list(ptxPath())).items.map((one) => textAt(one, 'metadata', 'name') ?? '').sort();
  await waitFor(async () => (await names()).length === 2, 'the older ones to go');
  t.same(await names(), ['last', 'refused'], 'the last change, and the last dry run');
});

t.test('a refusal of the API server says which rights a plan needs, and what to enable', async (t) => {
  const rows = [
    [403, 'Forbidden', /You may not create transactions\.pkg\.crossplane\.io .*needs create, get and delete of/],
    [
      404,
      'NotFound',
      /does not serve transactions\.pkg\.crossplane\.io: enable package transactions as docs\/packages\.md shows/,
    ],
  ] as const;
  for (const [code, reason, message] of rows) {
    const server = await startServer(t, (_, answer) => {
      answer.writeHead(code, { 'content-type': 'application/json' });
      answer.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code, message: 'no' }));
    });
    const found = await typed(t, ['plan', '-f', 'provider.json'], { server });
    t.match(found, { code: 3, out: '', err: message });
  }
  t.match(await typed(t, ['plan', '-f', 'provider.json', '--gate']), { code: 64, err: /without options about Transactions/ });
});
