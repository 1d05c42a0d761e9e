// Nothing that others run, or leave lying about, keeps a Transaction from being deleted.
import t from 'tap';
import type { Cluster, Failed } from '../../../hooks/objects/cluster.ts';
import { textAt, withPath } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { openEngines } from '../../support/engine.ts';
import { commit } from '../../support/round-trip.ts';
import { snapshotParts } from '../../support/snapshots.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepUntilGone } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const green = { data: { color: 'green' } };
const broken: Failed = {
  kind: 'failed',
  failure: { kind: 'transient', code: 500, reason: 'InternalError', message: 'a webhook is gone', fields: [], definitive: false },
};

async function deleteIt({ client, namespace }: Stage, name: string): Promise<void> {
  must(await client.delete(`/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions/${name}`));
}

/** Two minutes after the Transaction was deleted. */
function later(cluster: Cluster): Cluster {
  return {
    ...cluster,
    get: async (location, identity) => {
      const answer = await cluster.get(location, identity);
      const deleted = answer.kind === 'ok' ? textAt(answer.object, 'metadata', 'deletionTimestamp') : undefined;
      if (answer.kind !== 'ok' || location.resource.kind !== 'Transaction' || deleted === undefined) return answer;
      const time = new Date(Date.parse(deleted) - 120_000).toISOString();
      return { ...answer, object: withPath(answer.object, ['metadata', 'deletionTimestamp'], time) };
    },
  };
}

t.test('a patched object that the engine cannot reach delays a deletion for a minute', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage);
  const ways: Readonly<Record<string, (cluster: Cluster, name: string) => Cluster>> = {
    read: (cluster, name) => ({
      ...cluster,
      get: async (location, identity) => (location.name === name ? broken : cluster.get(location, identity)),
    }),
    written: (cluster, name) => ({
      ...cluster,
      send: async (write, isLate) => (write.location.name === name ? broken : cluster.send(write, isLate)),
    }),
  };
  for (const [way, wrap] of Object.entries(ways))
    await t.test(`the object cannot be ${way}`, async (t) => {
      const target = `target-${way}`;
      await createConfigMaps(stage, [target]);
      await commit(stage, way, [change('Patch', target, green)]);
      await deleteIt(stage, way);
      const young = engines.start({ wrap: (cluster) => wrap(cluster, target) });
      t.match((await step(young, way)).status, { phase: 'Committed', message: /^waiting: / });
      t.ok((await stepUntilGone(engines.start({ wrap: (cluster) => later(wrap(cluster, target)) }), way)).gone);
    });
});

t.test('the engine deletes a Transaction although too many objects have its label for one answer', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage);
  const tooLarge: Failed = { kind: 'failed', failure: { ...broken.failure, code: 0, reason: 'AnswerTooLarge' } };
  const flooded = engines.start({
    wrap: (cluster) => ({
      ...cluster,
      listMetadata: async (resource, ...rest) =>
        resource.kind === 'ConfigMap' ? tooLarge : cluster.listMetadata(resource, ...rest),
    }),
  });
  await createConfigMaps(stage, ['target']);
  await commit(stage, 'flooded', [change('Patch', 'target', green)]);
  await deleteIt(stage, 'flooded');
  t.ok((await stepUntilGone(flooded, 'flooded')).gone);
  t.same(await snapshotParts(stage, 'flooded'), [], 'ours is gone');
});
