// Leases that the API server does not give: refused (a quota in the namespace of the engine), or not for now (a webhook that is down).
import t from 'tap';
import type { Answer, Cluster } from '../../../hooks/objects/cluster.ts';
import type { FailureKind } from '../../../hooks/objects/failure.ts';
import { at } from '../../../hooks/objects/json.ts';
import { waitFor } from '../../support/client.ts';
import { conditionOf, type Stage, startStage, statusOf } from '../../support/stage.ts';
import { step, stepToEnd } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const codes: Readonly<Partial<Record<FailureKind, number>>> = { refused: 403, transient: 503 };

/** The Lease of the second object fails so. */
function failing(kind: FailureKind): (cluster: Cluster) => Cluster {
  const failure = {
    kind,
    code: codes[kind] ?? 0,
    reason: kind === 'refused' ? 'Forbidden' : 'ServiceUnavailable',
    message: 'exceeded quota',
    fields: [],
    definitive: kind === 'refused',
  } as const;
  const failed: Answer = { kind: 'failed', failure };
  return (cluster) => ({
    ...cluster,
    send: async (write, isLate) => {
      const isIts = write.verb === 'create' && write.location.resource.kind === 'Lease' && /-two-/.test(write.location.name);
      return isIts ? failed : cluster.send(write, isLate);
    },
  });
}

async function begin(stage: Stage, more: Parameters<Stage['transaction']>[2] = {}): Promise<void> {
  await createConfigMaps(stage, ['one', 'two', 'three']);
  const changes = ['one', 'two', 'three'].map((name) => change('Patch', name, { data: { color: 'green' } }));
  await stage.transaction('locked', changes, more);
}

t.test('a refused lock ends the Transaction as Failed, and no lock stays', async (t) => {
  const stage = await startStage(t, { withoutLoop: true, wrap: failing('refused') });
  await begin(stage);
  await stepToEnd(stage, 'locked');
  const status = statusOf(await stage.read('locked'));
  t.match(status, { phase: 'Failed', message: /LockRefused|was refused: exceeded quota/ });
  t.equal(conditionOf(status, 'Finished'), 'True');
  t.same(await stage.leases(), []);
});

t.test('spec.timeout ends the wait for a lock that cannot be taken, counted from the first try', async (t) => {
  const stage = await startStage(t, { withoutLoop: true, wrap: failing('transient') });
  await begin(stage, { spec: { timeout: '3s' } });
  t.match(await step(stage, 'locked'), {
    phase: 'Pending',
    status: { message: /acquiring locks failed \(ServiceUnavailable\)/ },
  });
  const since = at(statusOf(await stage.read('locked')), 'startTime');
  t.type(since, 'string');
  await waitFor(async () => (await step(stage, 'locked')).phase === 'Failed', 'spec.timeout to end it');
  await stepToEnd(stage, 'locked');
  t.match(statusOf(await stage.read('locked')), { phase: 'Failed', startTime: since, message: /spec\.timeout/ });
  t.same(await stage.leases(), []);
});
