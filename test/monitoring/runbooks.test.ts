// docs/runbooks.md, followed on the real control plane: its commands about Transactions, by kubectl.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { at, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import type { Block } from '../support/pages.ts';
import { snapshotParts } from '../support/snapshots.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';
import { openPages } from '../support/typing.ts';
import { readShipped } from './shipped.ts';

const pages = openPages('test/monitoring/runbooks.test.ts');

/** The blocks of a section. */
function blocksOf(title: string): readonly Block[] {
  return pages.take('docs/runbooks.md', title);
}

interface Following {
  readonly stage: Stage;
  readonly name: string;
  readonly folder: string;
}

/** Types a block; returns what it printed. */
async function follow(t: Test, { stage, name, folder }: Following, block: Block | undefined): Promise<string> {
  if (block === undefined) throw new Error('expected another block of shell in that section of docs/runbooks.md');
  const env = { KUBECONFIG: stage.kubeconfig, NAMESPACE: stage.namespace, NAME: name };
  return pages.typeOne(t, block, { folder, env });
}

/** Metacontroller, back again: takes the steps once the annotation is there. */
async function goOnOnce(stage: Stage, name: string, annotation: string): Promise<void> {
  const isAsked = async (): Promise<boolean> => at(await stage.read(name), 'metadata', 'annotations', annotation) !== undefined;
  await waitFor(isAsked, `the annotation ${annotation}`);
  await stepToEnd(stage, name);
}

function meddle({ client, path }: Stage, name: string, color: string): Promise<unknown> {
  return client.patch(path(`configmaps/${name}`), { data: { color } }, 'merge', { fieldManager: 'their-tool' });
}

const red = { data: { color: 'red' } };

t.test('the runbooks name only sections and reasons that there are', async (t) => {
  const text = readShipped('docs/runbooks.md');
  const anchors = [...text.matchAll(/^## (.+)$/gm)].map(([, title = '']) => title.toLowerCase().replaceAll(' ', '-'));
  for (const [, anchor = ''] of text.matchAll(/\]\(#([^)]+)\)/g)) t.ok(anchors.includes(anchor), anchor);
  const reasons = readShipped('docs/reasons.md');
  for (const reason of [
    'RollbackConflict',
    'ForeignContent',
    'NotEmpty',
    'StoredVersions',
    'Recreated',
    'LaterTransaction',
    'RollbackTimeout',
    'SnapshotBroken',
  ])
    t.ok(text.includes(reason) && reasons.includes(`| \`${reason}\``), reason);
});

t.test('JanusTransactionStuck: the runbook inspects, stops and undoes the Transaction', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const following = { stage, name: 'stuck', folder: t.testdir({}) };
  const [look, stop] = blocksOf('JanusTransactionStuck');
  await createConfigMaps(stage, ['a', 'b']);
  await stage.transaction('stuck', [change('Patch', 'a', red), change('Patch', 'b', red)]);
  await stepUntil(stage, 'stuck', 'Committing');
  const looked = await follow(t, following, look);
  t.match(looked, /1 of 2 changes applied/);
  const [all] = blocksOf('');
  t.match(await follow(t, following, all), new RegExp(`^${stage.namespace} +stuck +Committing`, 'm'));
  const [holders] = blocksOf('JanusLockHeldTooLong');
  t.match(await follow(t, following, holders), new RegExp(` ${stage.namespace}/stuck/\\S+ `));
  const stopped = follow(t, following, stop);
  await Promise.all([stopped, goOnOnce(stage, 'stuck', 'tx.janus.io/request-rollback')]);
  t.equal(textAt(await stage.read('stuck'), 'status', 'phase'), 'RolledBack');
  t.equal(textAt(must(await stage.client.get(stage.path('configmaps/a'))), 'data', 'color'), 'blue');
});

t.test('the runbook inspects, stops and undoes a Transaction that waits for a gate', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const following = { stage, name: 'gated', folder: t.testdir({}) };
  const [look, stop, why] = blocksOf('A Transaction that waits for a gate');
  await createConfigMaps(stage, ['a', 'b']);
  const gate = { ready: { field: { path: '.data.loaded' } } };
  await stage.transaction('gated', [{ ...change('Patch', 'a', red), gate }, change('Patch', 'b', red)]);
  await stepUntil(stage, 'gated', 'Committing');
  await step(stage, 'gated');
  const looked = await follow(t, following, look);
  const waits = /waiting for ConfigMap \S*a\b.*expected \.data\.loaded to have a value.*found /;
  t.match(looked, waits);
  t.match(looked, /^ConfigMap a: \{.*"found":/m);
  const stopped = follow(t, following, stop);
  await Promise.all([stopped, goOnOnce(stage, 'gated', 'tx.janus.io/request-rollback')]);
  t.equal(textAt(await stage.read('gated'), 'status', 'phase'), 'RolledBack');
  const said = await follow(t, following, why);
  t.equal(said, 'RollbackRequested: a rollback was requested\n');
});

t.test('JanusRollbackConflict: the runbook finds the rest, a user corrects it, and the undo ends', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const following = { stage, name: 'conflict', folder: t.testdir({}) };
  const [look, retry, changes] = blocksOf('JanusRollbackConflict');
  await createConfigMaps(stage, ['a', 'b']);
  await stage.transaction('conflict', [change('Patch', 'a', red), change('Patch', 'b', red)]);
  await stepUntil(stage, 'conflict', 'Committing');
  await meddle(stage, 'a', 'green');
  await meddle(stage, 'b', 'green');
  t.equal((await stepToEnd(stage, 'conflict')).phase, 'Failed');
  const looked = await follow(t, following, look);
  t.match(looked, /^RollbackConflict: .*data\.color \(by their-tool\)/);
  const [failed] = blocksOf('JanusTransactionFailed');
  t.match(await follow(t, following, failed), new RegExp(`^${stage.namespace}/conflict: [\\s\\S]*\\nConflict\\n$`, 'm'));
  const listed = await follow(t, following, changes);
  t.equal(listed, 'Patch ConfigMap a\nPatch ConfigMap b\n');
  await meddle(stage, 'a', 'blue');
  const retried = follow(t, following, retry);
  await Promise.all([retried, goOnOnce(stage, 'conflict', 'tx.janus.io/retry-rollback')]);
  t.equal(textAt(await stage.read('conflict'), 'status', 'phase'), 'RolledBack');
});

t.test('the runbook removes a Transaction that cannot finalize, and only its applied changes stay', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const following = { stage, name: 'orphan', folder: t.testdir({}) };
  const [breakGlass] = blocksOf('A Transaction that cannot finalize');
  await createConfigMaps(stage, ['a', 'b']);
  await stage.transaction('orphan', [change('Patch', 'a', red), change('Patch', 'b', red)]);
  await stepUntil(stage, 'orphan', 'Committing');
  t.equal((await stage.leases()).length, 2);
  await follow(t, following, breakGlass);
  const transaction = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/orphan`;
  await waitFor(async () => (await client.get(transaction)).code === 404, 'the Transaction to be gone');
  await waitFor(async () => (await snapshotParts(stage, 'orphan')).length === 0, 'its snapshot to be gone');
  t.same(await stage.leases(), []);
  t.equal(textAt(must(await client.get(path('configmaps/a'))), 'data', 'color'), 'red', 'what was applied stays');
  const kept = (file: string): string => readFileSync(join(following.folder, file), 'utf8');
  t.match(kept('orphan-transaction.yaml'), /phase: Committing/);
  t.match(kept('orphan-snapshots.yaml'), /name: orphan-rollback-/);
});

t.test('no command of these sections is left out', async (t) => {
  t.same(pages.left(), []);
});
