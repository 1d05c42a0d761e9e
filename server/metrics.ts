// The figures of the engine for Prometheus, on a registry of its own.
//
// 1. What a status says counts once that status is stored (see ledger.ts); requests and calls count when they are made.
// 2. What there is now comes from the API server at scrape (see scrape.ts). Where it does not answer in time these gauges are
//    absent, and a counter says so: an old figure would pass for a new one.
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { StepReport, Stored } from '../hooks/call.ts';
import { labelOf } from '../hooks/model/reason.ts';
import { createFigures, type Figures } from './figures.ts';
import type { Census } from './kubernetes/census.ts';
import type { RequestFact } from './kubernetes/observed.ts';
import { createLedger } from './ledger.ts';
import { createScrape, type Scrape } from './scrape.ts';

export interface HookFact {
  readonly path: string;
  readonly code: number;
  readonly seconds: number;
}

export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
  record(report: StepReport): void;
  /** Nobody was there to hear the latest answer about this Transaction. */
  lost(uid: string): void;
  hookRequest(fact: HookFact): void;
  apiRequest(fact: RequestFact): void;
  /** Where to take from what there is now. */
  take(census: Census): void;
}

/** Gauges of prom-client that are named as counters are, which promtool refuses. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

export function createMetrics(monotonic: () => number = () => performance.now()): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  const figures = createFigures(registry);
  const ledger = createLedger(monotonic);
  const count = (stored: Stored) => countStored(figures, stored);
  let scrape: Scrape | undefined;
  return {
    contentType: registry.contentType,
    async text() {
      await scrape?.();
      return registry.metrics();
    },
    record(report) {
      const stored = ledger.enter(report);
      if (stored !== undefined) count(stored);
      if (report.thrown !== undefined) figures.faults.inc();
      for (const { operation, result } of report.locks) figures.locks.inc({ operation, result });
    },
    lost: ledger.lost,
    hookRequest({ path, code, seconds }) {
      figures.hookRequests.inc({ path, code });
      figures.hookDuration.observe({ path }, seconds);
    },
    apiRequest({ verb, outcome, seconds }) {
      figures.apiRequests.inc({ verb, outcome });
      figures.apiDuration.observe({ verb }, seconds);
    },
    take(census) {
      scrape = createScrape({ figures, ledger, census, monotonic, count });
    },
  };
}

function countStored(figures: Figures, stored: Stored): void {
  const { fromPhase, toPhase, durationSeconds, itemCount, lockWaitSeconds } = stored;
  if (fromPhase !== toPhase) figures.transitions.inc({ from_phase: fromPhase, to_phase: toPhase });
  if (durationSeconds !== undefined) figures.duration.observe({ outcome: toPhase }, durationSeconds);
  if (itemCount !== undefined) figures.itemCount.observe(itemCount);
  if (lockWaitSeconds !== undefined) figures.lockWait.observe(lockWaitSeconds);
  for (const { operation, result } of stored.items) figures.items.inc({ operation, result });
  for (const reason of stored.conflicts) figures.conflicts.inc({ reason: labelOf(reason) });
}
