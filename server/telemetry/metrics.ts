// Metrics for Prometheus.
//
// 1. The content of a status counts once that status is stored (see unconfirmed.ts). Requests and calls count when they are made.
// 2. The hook reads the gauges of the cluster from the API server at scrape (see scrape.ts). If the API server does not answer in time,
//    the gauges are absent, and a counter is incremented. An old value would look like a new one.

import type { PackageReport } from '../../hooks/crossplane/call.ts';
import type { StepReport, Stored } from '../../hooks/transactions/call.ts';
import { labelOf } from '../../hooks/transactions/model/reason.ts';
import { countCosts } from './costs.ts';
import { defineMetrics, type MetricDefinitions } from './definitions.ts';
import type { Inventory } from './inventory.ts';
import { countPackageReport, startPackagesAtZero } from './package-metrics.ts';
import { createScrape } from './scrape.ts';
import { createUnconfirmedReplies } from './unconfirmed.ts';

interface HookRequest {
  readonly path: string;
  readonly code: number;
  readonly seconds: number;
}

export interface Metrics {
  readonly contentType: string;
  /** In the exposition format of Prometheus. */
  text(): Promise<string>;
  record(report: StepReport): void;
  recordPackages(report: PackageReport): void;
  /** The hook serves package transactions: from now on their metrics have series. */
  startPackages(): void;
  /** The caller had gone before the latest reply about this Transaction. */
  replyLost(uid: string): void;
  hookRequest(request: HookRequest): void;
  /** A call about a Transaction of the namespace has ended. */
  readonly called: ReturnType<typeof countCosts>;
}

interface MetricsParts {
  readonly definitions?: MetricDefinitions;
  /** The source of the cluster's gauges. Without a source they are absent. */
  readonly inventory?: Inventory;
  readonly monotonic?: () => number;
}

export function createMetrics(parts: MetricsParts = {}): Metrics {
  const { definitions = defineMetrics(), inventory, monotonic = () => performance.now() } = parts;
  const { registry } = definitions;
  const unconfirmed = createUnconfirmedReplies(monotonic);
  const count = (stored: Stored) => countStored(definitions, stored);
  const scrape = inventory && createScrape({ definitions, unconfirmed, inventory, monotonic, count });
  return {
    contentType: registry.contentType,
    async text() {
      await scrape?.();
      return registry.metrics();
    },
    record(report) {
      const stored = unconfirmed.record(report);
      if (stored !== undefined) count(stored);
      if (report.thrown !== undefined) definitions.internalErrors.inc();
      for (const { operation, result } of report.locks) definitions.lockOperations.inc({ operation, result });
    },
    recordPackages(report) {
      countPackageReport(definitions, report);
      if (report.thrown !== undefined) definitions.internalErrors.inc();
    },
    startPackages: () => startPackagesAtZero(definitions),
    replyLost: unconfirmed.forget,
    called: countCosts(definitions),
    hookRequest({ path, code, seconds }) {
      definitions.hookRequests.inc({ path, code });
      definitions.hookDuration.observe({ path }, seconds);
    },
  };
}

function countStored(definitions: MetricDefinitions, stored: Stored): void {
  const { fromPhase, toPhase, durationSeconds, itemCount, lockWaitSeconds } = stored;
  if (fromPhase !== toPhase) definitions.transitions.inc({ from_phase: fromPhase, to_phase: toPhase });
  if (durationSeconds !== undefined) definitions.duration.observe({ outcome: toPhase }, durationSeconds);
  if (itemCount !== undefined) definitions.itemCount.observe(itemCount);
  if (lockWaitSeconds !== undefined) definitions.lockWait.observe(lockWaitSeconds);
  for (const { operation, result } of stored.items) definitions.itemOperations.inc({ operation, result });
  for (const { at, outcome, seconds } of stored.gates) definitions.gateWait.observe({ at, outcome }, seconds);
  if (stored.refusedUndo !== undefined) definitions.refusedUndos.inc({ reason: stored.refusedUndo });
  for (const reason of stored.conflicts) definitions.conflicts.inc({ reason: labelOf(reason) });
}
