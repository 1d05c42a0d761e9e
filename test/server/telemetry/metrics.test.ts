// The metrics: a status counts once it is known to be stored, requests when they are made, gauges come from the API server.
import t from 'tap';
import type { StepReport } from '../../../hooks/transactions/call.ts';
import type { Inventory } from '../../../server/telemetry/inventory.ts';
import { createMetrics, type Metrics } from '../../../server/telemetry/metrics.ts';
import { report, request, rest, testApp } from '../parts.ts';

async function linesOf(metrics: Metrics): Promise<readonly string[]> {
  return (await metrics.text()).split('\n').filter((line) => !line.startsWith('#') && line !== '');
}

async function figureOf(metrics: Metrics, name: string): Promise<string | undefined> {
  return (await linesOf(metrics)).find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
}

const transition = 'janus_transaction_phase_transitions_total{from_phase="Prepared",to_phase="Committing"}';
const next: StepReport = {
  ...report,
  foundVersion: 4,
  version: 5,
  stored: {
    fromPhase: 'Committing',
    toPhase: 'Committed',
    durationSeconds: 7,
    lockWaitSeconds: 2,
    itemCount: 3,
    items: [{ operation: 'commit', result: 'conflict' }],
    gates: [{ at: 'AtEnd', outcome: 'passed', seconds: 3 }],
    conflicts: ['Conflict'],
  },
};
const afterwards: StepReport = { ...report, foundVersion: 5, version: 5 };

t.test('a status counts when the next call finds it stored', async (t) => {
  const metrics = createMetrics();
  t.equal(await figureOf(metrics, transition), '0', 'what may be counted is there from the start');
  metrics.record(report);
  t.equal(await figureOf(metrics, transition), '0');
  metrics.record(next);
  t.equal(await figureOf(metrics, transition), '1');
  metrics.record(afterwards);
  metrics.record(afterwards);
  const lines = await linesOf(metrics);
  for (const line of [
    `${transition} 1`,
    'janus_transaction_phase_transitions_total{from_phase="Committing",to_phase="Committed"} 1',
    'janus_item_operations_total{operation="commit",result="success"} 1',
    'janus_item_operations_total{operation="commit",result="conflict"} 1',
    'janus_conflicts_total{reason="Conflict"} 1',
    'janus_transaction_item_count_sum 3',
    'janus_lock_wait_seconds_sum 2',
    'janus_gate_wait_seconds_sum{at="AtEnd",outcome="passed"} 3',
    'janus_transaction_duration_seconds_bucket{le="10",outcome="Committed"} 1',
    'janus_transaction_duration_seconds_count{outcome="Committed"} 1',
  ])
    t.ok(lines.includes(line), line);
});

t.test('a repeated call and an answer that was not stored count once', async (t) => {
  const metrics = createMetrics();
  for (let time = 0; time < 3; time += 1) metrics.record(report);
  metrics.record(next);
  t.equal(await figureOf(metrics, transition), '1');
});

t.test('an answer that another answer replaced does not count', async (t) => {
  const metrics = createMetrics();
  metrics.record(report);
  metrics.record({ ...report, stored: { ...report.stored, fromPhase: 'Prepared', toPhase: 'RollingBack' } });
  metrics.record({ ...next, stored: { ...next.stored, fromPhase: 'RollingBack', toPhase: 'RolledBack' } });
  t.equal(await figureOf(metrics, transition), '0');
});

t.test('a reply whose caller had disconnected does not count, whatever another replica replied', async (t) => {
  const metrics = createMetrics();
  metrics.record(report);
  metrics.replyLost(report.uid);
  metrics.record({ ...next, foundVersion: 4 });
  t.equal(await figureOf(metrics, transition), '0');
});

t.test('operations on locks count at once', async (t) => {
  const metrics = createMetrics();
  const results = ['success', 'conflict', 'error'] as const;
  metrics.record({ ...report, locks: results.map((result) => ({ operation: 'acquire' as const, result })) });
  for (const result of results)
    t.equal(await figureOf(metrics, `janus_lock_operations_total{operation="acquire",result="${result}"}`), '1');
});

t.test('calls count by path and code, other requests do not', async (t) => {
  const metrics = createMetrics();
  const app = testApp({ metrics, hook: async () => rest });
  await app.server.inject({ method: 'POST', url: '/sync', payload: request });
  await app.server.inject({ method: 'POST', url: '/finalize', payload: {} });
  await app.server.inject('/healthz');
  const lines = (await linesOf(metrics)).filter((line) => line.startsWith('janus_hook_requests_total'));
  t.same(lines, [
    'janus_hook_requests_total{path="/sync",code="200"} 1',
    'janus_hook_requests_total{path="/finalize",code="200"} 0',
    'janus_hook_requests_total{path="/finalize",code="400"} 1',
  ]);
});

t.test('each app has a registry of its own', async (t) => {
  const [one, other] = [createMetrics(), createMetrics()];
  one.hookRequest({ path: '/sync', code: 429, seconds: 0.1 });
  t.equal(await figureOf(one, 'janus_hook_requests_total{path="/sync",code="429"}'), '1');
  t.equal(await figureOf(other, 'janus_hook_requests_total{path="/sync",code="429"}'), undefined);
});

interface World {
  now: number;
  asked: number;
  answers: boolean;
  version: number | 'gone' | undefined;
}

function scraped(): { readonly world: World; readonly metrics: Metrics } {
  const world: World = { now: 0, asked: 0, answers: true, version: undefined };
  const inventory: Inventory = {
    transactions: async () => {
      world.asked += 1;
      const byPhase = new Map([['Committing', { count: 2, oldest: 30 }]]);
      return world.answers ? { byPhase, unrestored: new Map([['RollbackConflict', 1]]), waiting: new Set() } : undefined;
    },
    locks: async () => (world.answers ? { count: 4, oldest: 31 } : undefined),
    version: async () => world.version,
  };
  return { world, metrics: createMetrics({ inventory, monotonic: () => world.now }) };
}

const gauges = [
  'janus_transactions_active{phase="Committing"} 2',
  'janus_transaction_oldest_active_seconds{phase="Committing"} 30',
  'janus_transactions_unrestored{reason="RollbackConflict"} 1',
  'janus_locks_held 4',
  'janus_lock_oldest_seconds 31',
];

t.test('gauges come from the API server, with one request for scrapes that are close together', async (t) => {
  const { world, metrics } = scraped();
  const [lines = []] = await Promise.all([linesOf(metrics), linesOf(metrics)]);
  for (const line of gauges) t.ok(lines.includes(line), line);
  t.equal(world.asked, 1);
  world.now = 5_000;
  await metrics.text();
  t.equal(world.asked, 2);
});

t.test('gauges are absent while the API server does not answer, and errors are counted', async (t) => {
  const { world, metrics } = scraped();
  await metrics.text();
  Object.assign(world, { now: 5_000, answers: false });
  const lines = await linesOf(metrics);
  t.notOk(lines.some((line) => gauges.some((gauge) => line.startsWith(gauge.split(/[ {]/)[0] ?? ''))));
  for (const source of ['transactions', 'locks']) t.ok(lines.includes(`janus_scrape_errors_total{source="${source}"} 1`));
  Object.assign(world, { now: 10_000, answers: true });
  const again = await linesOf(metrics);
  for (const line of gauges) t.ok(again.includes(line), line);
});

t.test('the hook looks up Transactions that another replica has taken over', async (t) => {
  for (const [version, counted] of [
    [4, '1'],
    ['gone', '1'],
    [3, '0'],
    [undefined, '0'],
  ] as const) {
    const { world, metrics } = scraped();
    metrics.record(report);
    Object.assign(world, { now: 9_000, version });
    t.equal(await figureOf(metrics, transition), '0', 'not yet');
    world.now = 20_000;
    t.equal(await figureOf(metrics, transition), counted, String(version));
    world.now = 40_000;
    t.equal(await figureOf(metrics, transition), counted, 'once');
  }
});
