// The Transaction itself cannot be read: Metacontroller is asked to call again, and stores nothing of what it believes itself.
import t from 'tap';
import type { Answer, Cluster } from '../../../hooks/objects/cluster.ts';
import type { Failure } from '../../../hooks/objects/failure.ts';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { startStage, statusOf } from '../../support/stage.ts';
import { step, stepToEnd } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const failures: readonly (readonly [Failure['kind'], number, Failure['reason']])[] = [
  ['transient', 503, 'ServiceUnavailable'],
  ['transient', 0, 'Timeout'],
  ['refused', 403, 'Forbidden'],
];

t.test('a Transaction that cannot be read', async (t) => {
  let failing: Failure | undefined;
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    get: async (location, identity): Promise<Answer> =>
      failing !== undefined && location.resource.kind === 'Transaction'
        ? { kind: 'failed', failure: failing }
        : cluster.get(location, identity),
  });
  const stage = await startStage(t, { withoutLoop: true, wrap });
  await createConfigMaps(stage, ['a', 'b']);
  const changes: readonly JsonObject[] = ['a', 'b'].map((name) => change('Patch', name, { data: { color: 'green' } }));
  await stage.transaction('unread', changes);
  await step(stage, 'unread');
  for (const [kind, code, reason] of failures) {
    const before = statusOf(await stage.read('unread'));
    failing = { kind, code, reason, message: '', fields: [], definitive: true };
    const { code: answered, text } = await stage.call('unread');
    failing = undefined;
    t.equal(answered, 429, `${reason}: to be called again`);
    t.notMatch(text, /phase/, 'no status is given back');
    t.same(statusOf(await stage.read('unread')), before, 'nothing has moved');
    await step(stage, 'unread');
  }
  const { status } = await stepToEnd(stage, 'unread');
  t.equal(textAt(status, 'phase'), 'Committed', 'it goes on where it was');
});
