// Leases that cannot be released: for now (the API server is overloaded), or at all (a policy in the namespace of the engine). The
// message of an end stays that of the end, and a Transaction whose Leases are there is not finished.
import t from 'tap';
import type { Answer, Cluster } from '../../../hooks/objects/cluster.ts';
import type { FailureKind } from '../../../hooks/objects/failure.ts';
import { textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { openEngines } from '../../support/engine.ts';
import { conditionOf, type Stage, startStage, statusOf } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const green = { data: { color: 'green' } };

/** Releasing a Lease, or reading the Leases, fails so, as long as `kind` is set. */
interface Port {
  kind?: FailureKind;
  readonly wrap: (cluster: Cluster) => Cluster;
}

function createPort(what: 'delete' | 'list'): Port {
  const port: { kind?: FailureKind } = {};
  const failed = (): Answer & { kind: 'failed' } => ({
    kind: 'failed',
    failure: {
      kind: port.kind ?? 'transient',
      code: port.kind === 'refused' ? 403 : 503,
      reason: port.kind === 'refused' ? 'Forbidden' : 'ServiceUnavailable',
      message: 'denied by a policy',
      fields: [],
      definitive: true,
    },
  });
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    send: async (write, isLate) => {
      const isIts = what === 'delete' && write.verb === 'delete' && write.location.resource.kind === 'Lease';
      return isIts && port.kind !== undefined ? failed() : cluster.send(write, isLate);
    },
    listMetadata: async (...args) =>
      what === 'list' && args[0].kind === 'Lease' && port.kind !== undefined ? failed() : cluster.listMetadata(...args),
  });
  return Object.assign(port, { wrap });
}

async function ends(stage: Stage, name: string): Promise<string> {
  await createConfigMaps(stage, [name]);
  await stage.transaction(name, [change('Patch', name, green)]);
  const { status } = await stepUntil(stage, name, 'Committed');
  return String(textAt(status, 'message'));
}

for (const what of ['delete', 'list'] as const) {
  t.test(`for now, where ${what} fails: the message is that of the end`, async (t) => {
    const stage = await startStage(t, { withoutLoop: true });
    const engines = await openEngines(t, stage);
    const port = createPort(what);
    const engine = engines.start({ wrap: port.wrap });
    const said = await ends(engine, 'ended');
    port.kind = 'transient';
    const { status } = await step(engine, 'ended');
    t.match(status, { phase: 'Committed', message: said });
    t.equal(conditionOf(status, 'Finished'), 'False');
    delete port.kind;
    await stepToEnd(engine, 'ended');
    const end = statusOf(await stage.read('ended'));
    t.match(end, { phase: 'Committed', message: said });
    t.equal(conditionOf(end, 'Finished'), 'True');
    t.same(await stage.leases(), []);
  });
}

t.test('a Transaction is not finished while the API server refuses to release its Leases', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage);
  const port = createPort('delete');
  const engine = engines.start({ wrap: port.wrap });
  const said = await ends(engine, 'denied');
  port.kind = 'refused';
  const { status, resyncAfterSeconds } = await step(engine, 'denied');
  t.not(conditionOf(status, 'Finished'), 'True');
  t.equal((await stage.leases()).length, 1);
  t.ok(resyncAfterSeconds > 0, 'it is tried again');
  delete port.kind;
  await stepToEnd(engine, 'denied');
  const end = statusOf(await stage.read('denied'));
  t.match(end, { phase: 'Committed', message: said });
  t.equal(conditionOf(end, 'Finished'), 'True');
  t.same(await stage.leases(), []);
});

t.test('the status shows its final message again after a request that waits for locks is withdrawn', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const said = await ends(stage, 'waiting');
  await stepToEnd(stage, 'waiting');
  await stage.transaction('holder', [change('Patch', 'waiting', green)]);
  await stepUntil(stage, 'holder', 'Prepared');
  await stage.annotate('waiting', { 'tx.janus.io/request-rollback': 'yes' });
  t.match((await step(stage, 'waiting')).status, {
    phase: 'Committed',
    message: /^waiting until \S+: ConfigMap .* is locked by /,
  });
  const withdrawn = { metadata: { annotations: { 'tx.janus.io/request-rollback': null } } };
  must(await stage.client.patch(stage.path('tx.janus.io/v1alpha1/transactions/waiting'), withdrawn));
  t.match((await stepToEnd(stage, 'waiting')).status, { phase: 'Committed', message: said });
});
