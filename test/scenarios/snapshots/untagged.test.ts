// Snapshots of an engine that did not tag what it stored: read for Transactions from before this one first ran, by the digest in the
// status, and for no others. How their targets are served is not theirs to say.
import t from 'tap';
import { at, type JsonObject, parseJson, textAt } from '../../../hooks/model/json.ts';
import { digestOf } from '../../../hooks/snapshots/chunks.ts';
import { createCluster } from '../../../server/kubernetes/cluster.ts';
import { createSealer, type KeyRing } from '../../../server/kubernetes/sealer.ts';
import { readSealingKeys } from '../../../server/kubernetes/sealing-key.ts';
import { must } from '../../support/client.ts';
import { openEngines } from '../../support/engine.ts';
import { engineNamespace } from '../../support/install.ts';
import { connectionOf } from '../../support/kubeconfig.ts';
import { snapshotOf } from '../../support/snapshots.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd, stepUntil, stepUntilGone, storeStatus } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const green = { data: { color: 'green' } };

async function ringOf(stage: Stage): Promise<KeyRing> {
  const cluster = createCluster(connectionOf(stage.engineKubeconfig), { writeTimeout: 10_000 });
  const answer = await readSealingKeys(cluster, engineNamespace);
  await cluster.close();
  if (answer.kind === 'failed') throw new Error(answer.failure.message);
  return answer.keyRing;
}

/** Puts the snapshot of a Prepared one as that engine stored it, each entry changed by `edit`. */
async function downgrade(stage: Stage, name: string, edit: (entry: JsonObject) => JsonObject = (entry) => entry): Promise<void> {
  const stored = at(await snapshotOf(stage, name), 'data') as Readonly<Record<string, string>>;
  const plain = (text: string): JsonObject => parseJson(text.replace(/^plain:[^:]*:/, '')) as JsonObject;
  const data = Object.fromEntries(Object.entries(stored).map(([key, text]) => [key, JSON.stringify(edit(plain(text)))]));
  const uid = textAt(await stage.read(name), 'metadata', 'uid') ?? '';
  const metadata = { name: `${name}-rollback`, labels: { 'tx.janus.io/transaction-uid': uid } };
  must(await stage.client.create(stage.path('configmaps'), { metadata, immutable: true, data }));
  const status = at(await stage.read(name), 'status') as JsonObject;
  const rollbackRef = { name: `${name}-rollback`, digest: digestOf([data]), objects: 1 };
  must(await storeStatus(stage, name, { status: { ...status, rollbackRef, version: Number(status.version) + 1 } }));
}

t.test('a snapshot without tags', async (t) => {
  const bare = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, bare);
  const ring = await ringOf(bare);
  // As if this version were about to run for the first time.
  const older = engines.start({ sealer: createSealer(() => ({ ...ring, taggedSince: Date.now() + 3_600_000 })) });
  const prepare = async (name: string): Promise<void> => {
    await createConfigMaps(bare, [`${name}-a`, `${name}-b`]);
    await bare.transaction(name, [change('Patch', `${name}-a`, green), change('Delete', `${name}-b`)]);
    await stepUntil(bare, name, 'Prepared');
  };

  await t.test('of a Transaction from before: it goes on, and is undone', async (t) => {
    await prepare('before');
    await downgrade(bare, 'before');
    t.match((await stepToEnd(older, 'before')).status, { phase: 'Committed' });
    await bare.annotate('before', { 'tx.janus.io/request-rollback': 'yes' });
    t.match((await stepUntil(older, 'before', 'RolledBack')).status, { phase: 'RolledBack' });
    await stepToEnd(older, 'before');
    for (const letter of ['a', 'b'])
      t.match(must(await bare.client.get(bare.path(`configmaps/before-${letter}`))), { data: { color: 'blue' } });
  });

  await t.test('of a Transaction from after: it is not read', async (t) => {
    await prepare('after');
    await downgrade(bare, 'after');
    const engine = engines.start();
    t.match((await stepToEnd(engine, 'after')).status, {
      phase: 'RolledBack',
      message: /has no readable entry for spec\.changes\[0\]/,
    });
    t.match(must(await bare.client.get(bare.path('configmaps/after-a'))), { data: { color: 'blue' } });
  });

  await t.test('that says of another resource: discovery is asked', async (t) => {
    await prepare('other');
    await downgrade(bare, 'other', (entry) => ({ ...entry, resource: { ...(entry.resource as object), plural: 'secrets' } }));
    t.match((await stepToEnd(older, 'other')).status, { phase: 'Committed' });
    t.equal((await bare.client.get(bare.path('configmaps/other-b'))).code, 404, 'the ConfigMap was deleted');
    t.match(must(await bare.client.get(bare.path('configmaps/other-a'))), { data: { color: 'green' } });
  });

  await t.test('where nothing is applied yet: it is not adopted', async (t) => {
    await createConfigMaps(bare, ['early-a']);
    const { metadata } = await bare.transaction('early', [change('Patch', 'early-a', green)]);
    await stepUntil(bare, 'early', 'Preparing');
    const labels = { 'tx.janus.io/transaction-uid': textAt(metadata, 'uid') ?? '' };
    const forged = { metadata: { name: 'early-rollback', labels }, immutable: true, data: { '0-0.x': '{}' } };
    must(await bare.client.create(bare.path('configmaps'), forged));
    const { status } = await stepUntil(older, 'early', 'Prepared');
    t.match(status, { rollbackRef: { name: /^early-rollback-[0-9a-f]{20}$/ } });
    await stepToEnd(older, 'early');
  });

  await t.test('goes with its Transaction where it was owned by it, and was there before', async (t) => {
    await prepare('owned');
    const uid = textAt(await bare.read('owned'), 'metadata', 'uid') ?? '';
    const owner = { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', name: 'owned', uid };
    const labels = { 'tx.janus.io/transaction-uid': uid };
    const metadata = { labels, finalizers: ['tx.janus.io/snapshot'] };
    for (const [name, ownerReferences] of [
      ['owned-rollback', [owner]],
      ['owned-rollback-1', []],
    ] as const)
      must(await bare.client.create(bare.path('configmaps'), { metadata: { ...metadata, name, ownerReferences } }));
    await stepToEnd(older, 'owned');
    must(await bare.client.delete(`/apis/tx.janus.io/v1alpha1/namespaces/${bare.namespace}/transactions/owned`));
    await stepUntilGone(older, 'owned');
    t.equal((await bare.client.get(bare.path('configmaps/owned-rollback'))).code, 404);
    t.equal((await bare.client.get(bare.path('configmaps/owned-rollback-1'))).code, 200, 'somebody else’s');
  });
});
