// docs/backups.md, followed on the real control plane: copies of Transactions that had ended run only on purpose, and snapshots that
// come back from a backup are worth as much as before.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { createCluster } from '../../server/kubernetes/cluster.ts';
import { ensureSealingKeys } from '../../server/kubernetes/sealing-key.ts';
import { freeNamespace, must, waitFor } from '../support/client.ts';
import { connectionOf } from '../support/kubeconfig.ts';
import { type } from '../support/kubectl.ts';
import { root } from '../support/pages.ts';
import { snapshotParts } from '../support/snapshots.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { step, stepToEnd } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';
import { openPages, type Place } from '../support/typing.ts';

const page = 'docs/backups.md';
const pages = openPages('test/documents/backups.test.ts');
const red = { data: { color: 'red' } };

/** `engine`: stands for the namespace of the engine, which all tests share. */
function placeOf(t: Test, stage: Stage, engine = stage.namespace): Place {
  const as = (text: string): string =>
    text
      .replaceAll('-n shop', `-n ${stage.namespace}`)
      .replaceAll('-n janus-system', `-n ${engine}`)
      .replaceAll('--all-namespaces', `-n ${stage.namespace}`)
      .replaceAll('manifests/', `${root}/manifests/`);
  return { folder: t.testdir({}), env: { KUBECONFIG: stage.kubeconfig }, as };
}

/** Saves Transactions as Velero restores them: without a status, owners, a uid and a version. */
async function save(stage: Stage, { folder }: Place, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const { apiVersion, kind, spec, metadata } = await stage.read(name);
    const { annotations = {}, finalizers = [] } = metadata as JsonObject;
    t.match(finalizers, [/^metacontroller\.io\/compositecontroller-/]);
    const copy = { apiVersion, kind, metadata: { name, namespace: stage.namespace, annotations, finalizers }, spec };
    writeFileSync(join(folder, `${name}.yaml`), JSON.stringify(copy));
  }
}

async function remove(stage: Stage, name: string): Promise<void> {
  must(await stage.client.delete(`/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/${name}`));
  while (!(await step(stage, name)).gone);
}

const isThere = async (stage: Stage, name: string): Promise<boolean> =>
  (await stage.client.get(stage.path(`configmaps/${name}`))).code === 200;

t.test('a copy of a Transaction that had ended is refused, and runs again only on purpose', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const place = placeOf(t, stage);
  await createConfigMaps(stage, ['a', 'b', 'c']);
  await stage.transaction('deploy-v2', [change('Delete', 'a')]);
  await stage.transaction('undone', [change('Delete', 'b')]);
  await stage.transaction('failed', [change('Patch', 'missing', red), change('Delete', 'c')]);
  for (const name of ['deploy-v2', 'undone', 'failed']) await stepToEnd(stage, name);
  await stage.annotate('undone', { 'tx.janus.io/request-rollback': '1' });
  await stepToEnd(stage, 'undone');
  const phases = ['deploy-v2', 'undone', 'failed'].map(async (name) => textAt(await stage.read(name), 'status', 'phase'));
  t.same(await Promise.all(phases), ['Committed', 'RolledBack', 'Failed']);
  const [waiting] = pages.take(page, 'Take a backup');
  await t.test('the backup waits until none runs', async (t) => {
    const [first, ...others] = waiting?.commands ?? [];
    if (waiting === undefined || first === undefined) throw new Error('expected the command that waits');
    await pages.typeOne(t, { ...waiting, commands: [first] }, place);
    t.equal(others.length, 1, 'the other one saves the key, below');
  });
  await save(stage, place, 'deploy-v2', 'undone', 'failed');
  for (const name of ['deploy-v2', 'undone', 'failed']) await remove(stage, name);
  await createConfigMaps(stage, ['a']);

  const [refused, onPurpose] = pages.take(page, 'A copy of a Transaction');
  if (refused === undefined || onPurpose === undefined) throw new Error('expected two blocks');
  const asShown = (text: string): string => text.replace(/compositecontroller-[a-z0-9-]+/, 'compositecontroller-janus');
  await t.test('however it is created', async (t) => {
    for (const name of ['deploy-v2', 'undone', 'failed'])
      for (const verb of ['create', 'apply', 'apply --server-side', 'create --validate=false', 'create --dry-run=server']) {
        const words = `kubectl -n ${stage.namespace} ${verb} -f ${name}.yaml`;
        const { code, output } = await type(words, place.folder, place.env);
        t.equal(code, 1, words);
        t.match(output, 'To run it again on purpose, remove metadata.finalizers', words);
      }
  });
  const { code, output } = await type(`kubectl -n ${stage.namespace} create -f deploy-v2.yaml`, place.folder, place.env);
  t.same([code, asShown(output).trim()], [refused.exits, refused.output?.trim()]);
  t.equal((await stage.client.list(stage.path('tx.janus.io/v1alpha1/transactions'))).items.length, 0);
  t.ok(await isThere(stage, 'a'), 'nothing ran');

  await pages.typeOne(t, onPurpose, place);
  t.match((await stepToEnd(stage, 'deploy-v2')).status, { phase: 'Committed' });
  t.notOk(await isThere(stage, 'a'), 'the copy without finalizers is a new Transaction');
});

/** Deletes objects as an accident does, with their finalizers. */
async function lose(stage: Stage, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const found = must(await stage.client.get(path));
    if (isList(at(found, 'metadata', 'finalizers'))) must(await stage.client.patch(path, { metadata: { finalizers: null } }));
    must(await stage.client.delete(path));
    await waitFor(async () => (await stage.client.get(path)).code === 404, `${path} to be gone`);
  }
}

t.test('snapshots, contents and the key come back from a backup, and the Transaction is undone', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engine = await freeNamespace(stage.client, 'engine', t);
  const cluster = createCluster(connectionOf(stage.kubeconfig), { writeTimeout: 10_000 });
  t.teardown(() => cluster.close());
  await ensureSealingKeys(cluster, engine);
  const place = placeOf(t, stage, engine);
  const contents: JsonObject = { name: 'release-contents', labels: { 'tx.janus.io/contents': 'true' } };
  must(await stage.client.create(stage.path('secrets'), { metadata: contents, stringData: { a: JSON.stringify(red) } }));
  await createConfigMaps(stage, ['a']);
  const from = { contentFrom: { secretKeyRef: { name: 'release-contents', key: 'a' } } };
  await stage.transaction('release', [{ ...change('Patch', 'a'), ...from }]);
  t.match((await stepToEnd(stage, 'release')).status, { phase: 'Committed' });

  const [taking] = pages.take(page, 'Take a backup');
  const [save, restore] = pages.take(page, 'Only snapshots or the key are lost');
  if (taking === undefined || save === undefined || restore === undefined) throw new Error('expected three blocks');
  await pages.typeOne(t, { ...taking, commands: taking.commands.slice(1) }, place);
  await pages.typeOne(t, save, place);
  const keyPath = `/api/v1/namespaces/${engine}/secrets/janus-sealing-key`;
  const key = at(must(await stage.client.get(keyPath)), 'data');
  const parts = (await snapshotParts(stage, 'release')).map((part) =>
    stage.path(`configmaps/${textAt(part, 'metadata', 'name')}`),
  );
  t.ok(parts.length > 0);
  await lose(stage, [keyPath, stage.path('secrets/release-contents'), ...parts]);

  await stage.annotate('release', { 'tx.janus.io/request-rollback': '1' });
  t.match((await stepToEnd(stage, 'release')).status, { phase: 'Committed' }, 'without its snapshot it has no way back');
  await pages.typeOne(t, restore, place);
  t.same(at(must(await stage.client.get(keyPath)), 'data'), key);
  await stage.annotate('release', { 'tx.janus.io/request-rollback': '2' });
  t.match((await stepToEnd(stage, 'release')).status, { phase: 'RolledBack' });
  t.match(must(await stage.client.get(stage.path('configmaps/a'))), { data: { color: 'blue' } });
});

t.test('a new cluster has the key before the engine', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engine = await freeNamespace(stage.client, 'engine', t);
  const place = placeOf(t, stage, engine);
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'janus-sealing-key', namespace: engine, resourceVersion: '7' },
  };
  writeFileSync(join(place.folder, 'sealing-key.yaml'), JSON.stringify({ ...secret, stringData: { current: 'key-1' } }));
  await pages.type(t, place, page, 'Restore it into a new cluster');
  t.equal((await stage.client.get(`/api/v1/namespaces/${engine}/secrets/janus-sealing-key`)).code, 200);
});

t.test('the page names what there is', async (t) => {
  t.same(pages.left(), []);
  const text = readFileSync(join(root, page), 'utf8');
  for (const label of ['tx.janus.io/transaction-uid', 'tx.janus.io/contents']) t.match(text, `\`${label}\``);
});
