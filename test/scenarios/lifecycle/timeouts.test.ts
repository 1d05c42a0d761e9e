// The ends that time brings: before the first change, among the changes, in the undo. Each is at rest, holds no lock, and says
// what it left and what to do.
import t, { type Test } from 'tap';
import type { Cluster, Failed, Write } from '../../../hooks/objects/cluster.ts';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { openEngines } from '../../support/engine.ts';
import { conditionOf, type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const green = { data: { color: 'green' } };
const short = { spec: { timeout: '1s' } };

/** The API server is not able to perform writes to this object, for now and for ever. */
function unavailable(isMeant: (write: Write) => boolean): (cluster: Cluster) => Cluster {
  const message = 'for the test';
  const failure = { kind: 'transient', code: 503, reason: 'ServiceUnavailable', message, fields: [], definitive: false } as const;
  const answer: Failed = { kind: 'failed', failure };
  return (cluster) => ({
    ...cluster,
    send: (write) => (isMeant(write) ? Promise.resolve(answer) : cluster.send(write)),
    dryRun: (write) => (isMeant(write) ? Promise.resolve(answer) : cluster.dryRun(write)),
  });
}

async function showAtRest(t: Test, stage: Stage, name: string): Promise<void> {
  const before = await stage.read(name);
  t.equal((await step(stage, name)).resyncAfterSeconds, 0, 'the engine asks for no further call');
  t.equal(
    textAt(await stage.read(name), 'metadata', 'resourceVersion'),
    textAt(before, 'metadata', 'resourceVersion'),
    'it is at rest',
  );
  t.same(await stage.leases(), [], 'no lock is held');
}

t.test('spec.timeout ends a Transaction in each phase', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  // A write of an unknown fate is waited out for longer than spec.timeout.
  const engines = await openEngines(t, stage, { stepDeadline: 2_000, writeTimeout: 2_000 });
  const show = (...names: readonly string[]): Promise<readonly unknown[]> =>
    portraits(
      stage.client,
      names.map((name) => stage.path(`configmaps/${name}`)),
    );

  await t.test('spec.timeout ends a wait for a lock as Failed, without a write', async (t) => {
    await createConfigMaps(stage, ['a0', 'a1']);
    const before = await show('a0', 'a1');
    await stage.transaction('holder', [change('Patch', 'a1', green)]);
    await stepUntil(stage, 'holder', 'Preparing');
    await stage.transaction('waiter', [change('Patch', 'a0', green), change('Patch', 'a1', green)], short);
    const { status } = await stepToEnd(stage, 'waiter');
    t.match(status, {
      phase: 'Failed',
      message: 'nothing was applied: not finished within spec.timeout (1s)',
      conditions: [
        { type: 'Finished', status: 'True' },
        { type: 'Succeeded', reason: 'Timeout' },
      ],
    });
    t.same(
      (await stage.leases()).filter((lease) => lease.includes('-a0-')),
      [],
      'the lock that it had is given back',
    );
    t.same(await show('a0', 'a1'), before);
    await stage.annotate('holder', { 'tx.janus.io/request-rollback': 'yes' });
    await stepToEnd(stage, 'holder');
    await showAtRest(t, stage, 'waiter');
  });

  await t.test('spec.timeout ends a Transaction as Failed without a write while dry runs cannot be sent', async (t) => {
    await createConfigMaps(stage, ['b0', 'b1']);
    const before = await show('b0', 'b1');
    const troubled = engines.start({ wrap: unavailable(({ location }) => location.name === 'b1') });
    await stage.transaction('untried', [change('Patch', 'b0', green), change('Patch', 'b1', green)], short);
    const { status } = await stepToEnd(troubled, 'untried');
    t.match(status, { phase: 'Failed', message: 'nothing was applied: not finished within spec.timeout (1s)', progress: '0/2' });
    t.same(await show('b0', 'b1'), before);
    await showAtRest(t, troubled, 'untried');
  });

  await t.test('spec.timeout among the changes makes the engine undo the applied changes', async (t) => {
    await createConfigMaps(stage, ['c0', 'c1', 'c2']);
    const before = await show('c0', 'c1', 'c2');
    const troubled = engines.start({ wrap: unavailable(({ location, verb }) => location.name === 'c1' && verb === 'apply') });
    const names = ['c0', 'c1', 'c2'];
    await stage.transaction(
      'midway',
      names.map((name) => change('Patch', name, green)),
      { spec: { timeout: '2s' } },
    );
    // The dry run must pass for the write to be met.
    await stepUntil(stage, 'midway', 'Prepared');
    const { status } = await stepToEnd(troubled, 'midway');
    t.match(status, {
      phase: 'RolledBack',
      message: 'rolled back 1 change: not finished within spec.timeout (2s)',
    });
    t.equal(reasonOf(status, 'Succeeded'), 'Timeout');
    t.same(await show(...names), before);
    await showAtRest(t, troubled, 'midway');
  });

  await t.test('spec.timeout ends an undo as Failed; the message names the rest, and a request retries it', async (t) => {
    await createConfigMaps(stage, ['d0', 'd2']);
    const before = await show('d0', 'd1', 'd2');
    await stage.transaction('kept', [change('Patch', 'd0', green), change('Create', 'd1', green), change('Patch', 'd2', green)], {
      spec: { timeout: '3s' },
    });
    await stepUntil(stage, 'kept', 'Committed');
    await stepToEnd(stage, 'kept');
    must(await stage.client.patch(stage.path('configmaps/d1'), { metadata: { finalizers: ['test.janus.io/kept'] } }));
    await stage.annotate('kept', { 'tx.janus.io/request-rollback': 'yes' });
    await stepUntil(stage, 'kept', 'RollingBack');
    const { status } = await stepToEnd(stage, 'kept');
    t.equal(reasonOf(status, 'Stalled'), 'RollbackTimeout');
    t.match(status, {
      phase: 'Failed',
      items: [
        { rolledBack: true },
        { left: true, error: { reason: 'RollbackTimeout', message: /d1 is being deleted/ } },
        { rolledBack: true },
      ],
    });
    t.match(
      textAt(status, 'message'),
      /^rolled back 2 changes, 1 not restored: the rollback did not finish within its own spec\.timeout \(3s\).*set tx\.janus\.io\/retry-rollback to try again; keep the Transaction until then/,
    );
    t.equal(conditionOf(status, 'Succeeded'), 'False');
    await showAtRest(t, stage, 'kept');

    must(await stage.client.patch(stage.path('configmaps/d1'), { metadata: { finalizers: null } }));
    await stage.annotate('kept', { 'tx.janus.io/retry-rollback': 'yes' });
    await stepUntil(stage, 'kept', 'RollingBack');
    t.match((await stepToEnd(stage, 'kept')).status, { phase: 'RolledBack', items: [{}, {}, {}] });
    t.same(await show('d0', 'd1', 'd2'), before);
    await showAtRest(t, stage, 'kept');
  });

  await t.test('the engine undoes a Transaction whose rollback is requested after spec.timeout', async (t) => {
    await createConfigMaps(stage, ['d']);
    const before = await show('d');
    await stage.transaction('old', [change('Patch', 'd', green)], { spec: { timeout: '1m' } });
    await stepToEnd(stage, 'old');
    await putIntoThePast(stage, 'old');
    await stage.annotate('old', { 'tx.janus.io/request-rollback': 'yes' });
    t.match((await stepUntil(stage, 'old', 'RolledBack')).status, { phase: 'RolledBack' });
    await stepToEnd(stage, 'old');
    t.same(await show('d'), before);
  });
});

function reasonOf(status: JsonObject, type: string): string | undefined {
  const conditions = at(status, 'conditions') as readonly JsonObject[];
  return textAt(
    conditions.find((condition) => condition.type === type),
    'reason',
  );
}

/** As if it had been committed a day ago. */
async function putIntoThePast(stage: Stage, name: string): Promise<void> {
  const live = await stage.read(name);
  const status = live.status as JsonObject;
  const aDayBefore = (key: string): string =>
    new Date(Date.parse(textAt(status, key) ?? '') - 86_400_000).toISOString().replace('.000Z', 'Z');
  const moved = { startTime: aDayBefore('startTime'), completionTime: aDayBefore('completionTime') };
  const version = Number(at(status, 'version')) + 1;
  must(
    await stage.client.update(`/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/${name}/status`, {
      ...live,
      status: { ...status, ...moved, version },
    }),
  );
}
