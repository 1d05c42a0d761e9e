// Metrics of package transactions. If the hook does not serve package transactions, they have no series. Label values come from closed
// lists.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { PackageReport } from '../../hooks/crossplane/call.ts';
import { tryReasons } from '../../hooks/crossplane/model/fault.ts';

const results = ['ok', 'trouble'] as const;

type PackageMetrics = ReturnType<typeof packageMetrics>;

export function packageMetrics(registers: Registry[]) {
  return {
    packageTries: new Counter({
      name: 'janus_package_tries_total',
      help: 'Tries of package transactions that ended, by outcome and reason, counted when answered.',
      labelNames: ['outcome', 'reason'],
      registers,
    }),
    packageDuration: new Histogram({
      name: 'janus_package_duration_seconds',
      help: 'Time from the first try of a package transaction to its end.',
      labelNames: ['outcome'],
      buckets: [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600],
      registers,
    }),
    packageCalls: new Counter({
      name: 'janus_package_calls_total',
      help: 'Calls about package transactions: trouble if a read or a write failed and is tried again.',
      labelNames: ['result'],
      registers,
    }),
    packagesActive: new Gauge({
      name: 'janus_package_transactions_active',
      help: 'Package transactions in a phase that is not terminal, in the cluster (equal on every replica).',
      labelNames: ['phase'],
      registers,
    }),
    oldestPackage: new Gauge({
      name: 'janus_package_oldest_active_seconds',
      help: 'Age of the oldest package transaction in a phase; 0 if there is none (equal on every replica).',
      labelNames: ['phase'],
      registers,
    }),
    ownPackages: new Gauge({
      name: 'janus_own_packages',
      help: 'Packages that make their own package transactions, by state (equal on every replica).',
      labelNames: ['state'],
      registers,
    }),
    oldestDeletion: new Gauge({
      name: 'janus_own_package_oldest_deletion_seconds',
      help: 'Time since the deletion of the Package that has been Terminating for longest; 0 if there is none (equal on every replica).',
      registers,
    }),
  };
}

/** Every counter starts at 0: `increase()` does not see a series begin at 1. */
export function startPackagesAtZero({ packageTries, packageDuration, packageCalls }: PackageMetrics): void {
  packageTries.inc({ outcome: 'Succeeded', reason: '' }, 0);
  packageTries.inc({ outcome: 'Abandoned', reason: '' }, 0);
  for (const reason of [...tryReasons, 'Other']) packageTries.inc({ outcome: 'Failed', reason }, 0);
  for (const outcome of ['Succeeded', 'Failed']) packageDuration.zero({ outcome });
  for (const result of results) packageCalls.inc({ result }, 0);
}

export function countPackageReport(metrics: PackageMetrics, report: PackageReport): void {
  const { toPhase, ended, durationSeconds, trouble } = report;
  metrics.packageCalls.inc({ result: trouble === undefined ? 'ok' : 'trouble' });
  if (ended !== undefined) metrics.packageTries.inc({ outcome: ended.kind, reason: reasonOf(ended) });
  if (durationSeconds !== undefined)
    metrics.packageDuration.observe({ outcome: toPhase === 'Succeeded' ? toPhase : 'Failed' }, durationSeconds);
}

function reasonOf({ kind, reason }: NonNullable<PackageReport['ended']>): string {
  // The reason comes from a stored status.
  return kind === 'Failed' ? (tryReasons.find((one) => one === reason) ?? 'Other') : '';
}
