// A ResourceQuota that counts ConfigMaps counts those of the engine: the refusal names these ConfigMaps and their number.
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { itemsOf } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const green = { data: { color: 'green' } };

/** Leaves room for so many ConfigMaps more; `resource` is one of the two names by which a quota counts them. */
async function leaveRoom({ client, path }: Stage, room: number, resource = 'count/configmaps'): Promise<void> {
  // Kubernetes creates one in each namespace, after some time.
  await waitFor(async () => (await client.get(path('configmaps/kube-root-ca.crt'))).code === 200, 'the ConfigMap of Kubernetes');
  const there = (await client.list(path('configmaps'))).items.length;
  const hard = { [resource]: String(there + room) };
  must(await client.create(path('resourcequotas'), { metadata: { name: 'few' }, spec: { hard } }));
  const isCounted = async (): Promise<boolean> => {
    const quota = must(await client.get(path('resourcequotas/few')));
    return at(quota, 'status', 'hard', resource) === hard[resource] && at(quota, 'status', 'used', resource) === String(there);
  };
  await waitFor(isCounted, 'the quota to be counted');
}

/** Content that does not compress: the states of two such objects fill several ConfigMaps. */
function bulky(): JsonObject {
  return { data: { text: randomBytes(500_000).toString('base64') } };
}

const takes = (stage: Stage, name: string): RegExp =>
  new RegExp(
    `exceeded quota: few.*the snapshot of this Transaction uses 1 ConfigMap in namespace ${stage.namespace} \\(${name}[^ ]*\\)`,
  );

for (const resource of ['count/configmaps', 'configmaps'])
  t.test(`a Create that is refused names the snapshot if the snapshot uses up the quota of ${resource}`, async (t) => {
    const stage = await startStage(t, { withoutLoop: true });
    await createConfigMaps(stage, ['there']);
    await leaveRoom(stage, 1, resource);
    await stage.transaction('last', [change('Patch', 'there', green), change('Create', 'new', green)]);
    const { phase, status } = await stepToEnd(stage, 'last');
    t.equal(phase, 'RolledBack');
    t.match(textAt(itemsOf(status)[1], 'error', 'message'), takes(stage, 'last-rollback'));
    t.match(
      textAt(status, 'message'),
      takes(stage, 'last-rollback'),
      'the dry run could not show it: the engine stores the snapshot afterwards',
    );
    t.equal(textAt(must(await stage.client.get(stage.path('configmaps/there'))), 'data', 'color'), 'blue');
  });

t.test('the undo names the snapshot if the quota has no room for a deleted object', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  await createConfigMaps(stage, ['old', 'other']);
  await leaveRoom(stage, 1);
  await stage.transaction('swap', [change('Delete', 'old'), change('Patch', 'other', green)]);
  await stepUntil(stage, 'swap', 'Committing');
  await waitFor(
    async () => (await client.create(path('configmaps'), { metadata: { name: 'somebody' } })).code === 201,
    'the place',
  );
  await stage.annotate('swap', { 'tx.janus.io/request-rollback': '1' });
  const { phase, status } = await stepToEnd(stage, 'swap');
  t.equal(phase, 'Failed');
  t.match(itemsOf(status)[0], { left: true, error: { reason: 'Forbidden', message: takes(stage, 'swap-rollback') } });
  must(await client.delete(path('configmaps/somebody')));
  await waitFor(async () => {
    const dry = await client.create(`${path('configmaps')}?dryRun=All`, { metadata: { name: 'probe' } });
    return dry.code === 201;
  }, 'the place to be free');
  await stage.annotate('swap', { 'tx.janus.io/retry-rollback': '1' });
  t.equal((await stepToEnd(stage, 'swap')).phase, 'RolledBack');
});

t.test('the refusal names a snapshot that exceeds the quota, and the engine changes nothing', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  await createConfigMaps(stage, ['there']);
  await leaveRoom(stage, 0);
  await stage.transaction('none', [change('Patch', 'there', green)]);
  const { phase, status } = await stepToEnd(stage, 'none');
  t.equal(phase, 'Failed');
  t.match(status, {
    message:
      /^nothing was applied: the snapshot cannot be stored: it requires 1 ConfigMap in namespace .*exceeded quota: few.*raise the ResourceQuota/,
  });
  t.match(JSON.stringify(at(status, 'conditions')), /"reason":"SnapshotRefused"/);
  t.same(await stage.leases(), []);
});

t.test('the first part of a snapshot stays until the Transaction is deleted if the second part is refused', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  await Promise.all(['a', 'b'].map((name) => client.create(path('configmaps'), { metadata: { name }, ...bulky() })));
  await leaveRoom(stage, 1);
  await stage.transaction('half', [change('Patch', 'a', green), change('Patch', 'b', green)]);
  const { status } = await stepToEnd(stage, 'half');
  t.match(status, {
    phase: 'Failed',
    message:
      /it requires \d+ ConfigMaps in namespace .*exceeded quota: few.*; 1 of them remain until this Transaction is deleted/,
  });
});
