// What is told of a step: one log line, one audit line per target write, figures, Events; and what is not: content.
import t from 'tap';
import type { StepReport } from '../../hooks/call.ts';
import { cachedReadiness } from '../../server/routes/probes.ts';
import { report, request, rest, testApp } from './parts.ts';

async function figuresAfter(...reports: readonly StepReport[]): Promise<readonly string[]> {
  let next = 0;
  const app = testApp({
    connectHook: (record) => async () => {
      const current = reports[next++];
      if (current !== undefined) record(current);
      return { kind: 'retry', retryAfterSeconds: 1 };
    },
  });
  for (const _ of reports) await app.server.inject({ method: 'POST', url: '/sync', payload: request });
  const { body } = await app.server.inject('/metrics');
  return body.split('\n').filter((line) => !line.startsWith('#') && line !== '');
}

t.test('one line a step, one line a target write, constant messages', async (t) => {
  const app = testApp({ report });
  await app.server.inject({ method: 'POST', url: '/sync', payload: request });
  t.equal(app.lines.length, 2);
  t.match(app.lines[0], {
    msg: 'step',
    transaction: 'shop/deploy-v2',
    uid: '6f1c-01',
    step: 'apply',
    because: 'change 1 is next',
    fromPhase: 'Prepared',
    toPhase: 'Committing',
    item: 0,
    outcome: 'done',
  });
  t.match(app.lines[1], {
    msg: 'target write',
    audit: true,
    transaction: 'shop/deploy-v2',
    uid: '6f1c-01',
    item: 0,
    verb: 'update',
    resource: 'configmaps',
    target: 'ConfigMap shop/a',
    serviceAccount: 'deployer',
    outcome: 'ok',
  });
});

t.test('sentences of the story are told about the Transaction', async (t) => {
  const app = testApp({ report });
  await app.server.inject({ method: 'POST', url: '/sync', payload: request });
  t.same(app.sentences, [{ ...report.events[0], namespace: 'shop', name: 'deploy-v2', uid: '6f1c-01' }]);
});

t.test('telling that fails does not fail the call', async (t) => {
  const tell = () => {
    throw new Error('hunter2');
  };
  const app = testApp({ report, tell });
  const answer = await app.server.inject({ method: 'POST', url: '/sync', payload: request });
  t.equal(answer.statusCode, 200);
  t.match(app.lines.at(-1), { msg: 'a report could not be recorded' });
  t.notMatch(JSON.stringify(app.lines), /hunter2/);
});

t.test('figures', async (t) => {
  const figures = await figuresAfter(
    {
      ...report,
      step: 'begin',
      fromPhase: '',
      toPhase: 'Preparing',
      itemCount: 3,
      locks: [{ operation: 'acquire', result: 'ok' }],
    },
    report,
    { ...report, outcome: 'ConnectionFailed', fromPhase: 'Committing', toPhase: 'Committing' },
    { ...report, uid: 'other', fromPhase: 'Committing', toPhase: 'Committed', durationSeconds: 0.7 },
  );
  for (const figure of [
    'janus_transaction_phase_transitions_total{from_phase="None",to_phase="Preparing"} 1',
    'janus_transaction_phase_transitions_total{from_phase="Committing",to_phase="Committed"} 1',
    'janus_transactions_active{phase="Committing"} 1',
    'janus_item_operations_total{operation="apply",result="done"} 2',
    'janus_item_operations_total{operation="apply",result="trouble"} 1',
    'janus_lock_operations_total{operation="acquire",result="ok"} 1',
    'janus_transaction_item_count_sum 3',
    'janus_transaction_duration_seconds_bucket{le="1",outcome="Committed"} 1',
    'janus_transaction_duration_seconds_count{outcome="Committed"} 1',
  ])
    t.ok(figures.includes(figure), figure);
  t.notOk(figures.some((line) => line.includes('to_phase="Committing"') && line.includes('from_phase="Committing"')));
});

t.test('a Transaction is active until nothing is left to do for it', async (t) => {
  for (const finalized of [false, true]) {
    const app = testApp({ report, hook: async () => ({ ...rest, finalized }) });
    await app.server.inject({ method: 'POST', url: '/finalize', payload: request });
    const { body } = await app.server.inject('/metrics');
    t.equal(body.includes('janus_transactions_active{phase="Committing"} 1'), !finalized);
  }
});

t.test('each app has a registry of its own', async (t) => {
  await figuresAfter(report);
  const figures = await figuresAfter(report);
  t.ok(figures.includes('janus_transaction_phase_transitions_total{from_phase="Prepared",to_phase="Committing"} 1'));
});

t.test('the API server is asked once for many probes', async (t) => {
  let asked = 0;
  let now = 0;
  const readiness = cachedReadiness(
    async () => String(++asked),
    5_000,
    () => now,
  );
  t.same(await Promise.all([readiness(), readiness()]), ['1', '1']);
  now = 4_999;
  t.equal(await readiness(), '1');
  now = 5_000;
  t.equal(await readiness(), '2');
});
