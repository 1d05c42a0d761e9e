// Metrics of package transactions: none where they are not served, counted when answered, with labels out of closed lists.
import t from 'tap';
import type { PackageReport } from '../../../hooks/crossplane/call.ts';
import { type Status, writeStatus } from '../../../hooks/crossplane/model/status.ts';
import { changedBy } from '../../../hooks/crossplane/outcome/changed.ts';
import { createMetrics } from '../../../server/telemetry/metrics.ts';
import { noOwn, testApp } from '../parts.ts';

const seriesIn = (text: string): readonly string[] => text.split('\n').filter((line) => line.startsWith('janus_package_'));

const report: PackageReport = {
  name: 'one',
  uid: 'uid-1',
  fromPhase: 'Installing',
  toPhase: 'Installing',
  because: '',
  writes: 0,
};

t.test('off: the hook exports no series', async (t) => {
  t.same(seriesIn(await createMetrics().text()), []);
});

t.test('on: every series begins at 0, and the hook counts calls', async (t) => {
  const metrics = createMetrics();
  const reply = { status: {}, resyncAfterSeconds: 0, finalized: false };
  const { server, lines } = testApp({
    metrics,
    packages: (record) => ({
      namespace: 'packages',
      own: noOwn,
      hook: async () => {
        record({ ...report, trouble: 'no answer' });
        return reply;
      },
    }),
  });
  await server.ready();
  const begun = seriesIn(await metrics.text());
  t.ok(begun.includes('janus_package_tries_total{outcome="Failed",reason="RollbackIncomplete"} 0'));
  t.ok(begun.includes('janus_package_calls_total{result="trouble"} 0'));
  const metadata = { name: 'one', uid: 'uid-1' };
  const parent = { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', metadata };
  t.equal((await server.inject({ method: 'POST', url: '/packages/sync', payload: { parent } })).statusCode, 200);
  const text = await metrics.text();
  t.ok(seriesIn(text).includes('janus_package_calls_total{result="trouble"} 1'));
  t.match(text, 'janus_hook_requests_total{path="/packages/sync",code="200"} 1');
  t.ok(lines.some(({ msg, trouble }) => msg === 'package transaction' && trouble === 'no answer'));
});

t.test('labels have values from closed lists, for any status', async (t) => {
  const metrics = createMetrics();
  metrics.recordPackages({ ...report, ended: { kind: 'Failed', reason: 'VersionConflict' } });
  metrics.recordPackages({ ...report, ended: { kind: 'Failed', reason: 'made-up-by-somebody' } });
  metrics.recordPackages({ ...report, ended: { kind: 'Succeeded' } });
  metrics.recordPackages({ ...report, toPhase: 'Succeeded', durationSeconds: 7 });
  const found = seriesIn(await metrics.text());
  for (const line of [
    'janus_package_tries_total{outcome="Failed",reason="VersionConflict"} 1',
    'janus_package_tries_total{outcome="Failed",reason="Other"} 1',
    'janus_package_tries_total{outcome="Succeeded",reason=""} 1',
    'janus_package_duration_seconds_sum{outcome="Succeeded"} 7',
  ])
    t.ok(found.includes(line), line);
  t.notOk(found.some((line) => line.includes('made-up')));
});

t.test('the metrics count each try once, and each install once', async (t) => {
  const status = (more: Partial<Status>): Status => ({
    phase: 'Waiting',
    version: 1,
    failures: 0,
    stages: [],
    made: 0,
    committed: 0,
    conditions: [],
    ...more,
  });
  const changed = (before: Status, after: Status) => changedBy({ status: before, isDryRun: false }, writeStatus(after, []));
  const outcome = { kind: 'Failed', step: 'Installation', reason: 'InstallationFailed', message: '' } as const;
  const [rolling, releasing] = [status({ phase: 'RollingBack', outcome }), status({ phase: 'Releasing', outcome })];
  t.match(changed(status({ phase: 'Installing' }), rolling), { ended: undefined, toPhase: 'RollingBack' });
  t.match(changed(rolling, releasing), { ended: { kind: 'Failed', reason: 'InstallationFailed' } });
  t.match(changed(releasing, status({ phase: 'Waiting', outcome })), { ended: undefined });
  const refused = status({ phase: 'Failed', outcome });
  t.match(changed(status({}), refused), { ended: { kind: 'Failed' } }, 'before the Lock is taken');
  t.match(changed(releasing, refused), { ended: undefined }, 'and not once more');
  const times = { startTime: '2026-01-01T00:00:00Z', completionTime: '2026-01-01T00:01:00Z' };
  const done = status({ phase: 'Releasing', outcome: { kind: 'Succeeded' } });
  t.match(changed(done, status({ phase: 'Succeeded', ...times })), { ended: undefined, durationSeconds: 60 });
  t.same(changedBy({ status: status({}), isDryRun: true }, writeStatus(refused, [])), {
    fromPhase: 'Waiting',
    toPhase: 'Failed',
  });
});
