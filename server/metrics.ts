// The figures of the engine for Prometheus, on a registry of its own. Labels are words of ours only, never names or content.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { StepReport } from '../hooks/call.ts';

export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
  record(report: StepReport): void;
  /** The Transaction is no more, whatever phase it was in. */
  forget(uid: string): void;
}

const ends: ReadonlySet<string> = new Set(['Committed', 'RolledBack', 'Failed']);
const mostActive = 10_000;

export function createMetrics(): Metrics {
  const registry = new Registry();
  const figures = createFigures(registry);
  const active = new Map<string, string>();
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    record(report) {
      recordPhase(figures, report);
      recordOperations(figures, report);
      if (report.itemCount !== undefined) figures.itemCount.observe(report.itemCount);
      follow(active, report);
      showActive(figures, active);
    },
    forget(uid) {
      if (active.delete(uid)) showActive(figures, active);
    },
  };
}

type Figures = ReturnType<typeof createFigures>;

function createFigures(registry: Registry) {
  const registers = [registry];
  return {
    transitions: new Counter({
      name: 'janus_transaction_phase_transitions_total',
      help: 'Transactions that went from one phase to another',
      labelNames: ['from_phase', 'to_phase'],
      registers,
    }),
    duration: new Histogram({
      name: 'janus_transaction_duration_seconds',
      help: 'Time from the start of a Transaction to its end',
      labelNames: ['outcome'],
      buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
      registers,
    }),
    active: new Gauge({
      name: 'janus_transactions_active',
      help: 'Transactions that this process saw last in a phase that is not an end',
      labelNames: ['phase'],
      registers,
    }),
    items: new Counter({
      name: 'janus_item_operations_total',
      help: 'Steps that were about one change, by what became of them',
      labelNames: ['operation', 'result'],
      registers,
    }),
    locks: new Counter({
      name: 'janus_lock_operations_total',
      help: 'What was done to Leases, by what became of it',
      labelNames: ['operation', 'result'],
      registers,
    }),
    itemCount: new Histogram({
      name: 'janus_transaction_item_count',
      help: 'Number of changes of a Transaction',
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
      registers,
    }),
  };
}

function recordPhase(figures: Figures, report: StepReport): void {
  if (report.fromPhase === report.toPhase) return;
  figures.transitions.inc({ from_phase: phaseLabel(report.fromPhase), to_phase: phaseLabel(report.toPhase) });
  if (report.durationSeconds !== undefined && ends.has(report.toPhase))
    figures.duration.observe({ outcome: report.toPhase }, report.durationSeconds);
}

// A Transaction that was just created has no phase yet.
function phaseLabel(phase: string): string {
  return phase === '' ? 'None' : phase;
}

const outcomes: ReadonlySet<string> = new Set(['done', 'waiting', 'failed']);

function recordOperations(figures: Figures, report: StepReport): void {
  for (const lock of report.locks) figures.locks.inc({ operation: lock.operation, result: lock.result });
  if (report.item === undefined) return;
  figures.items.inc({ operation: report.step, result: outcomes.has(report.outcome) ? report.outcome : 'trouble' });
}

function follow(active: Map<string, string>, report: StepReport): void {
  active.delete(report.uid);
  if (report.toPhase !== '' && !ends.has(report.toPhase)) active.set(report.uid, report.toPhase);
  const oldest = active.keys().next();
  if (active.size > mostActive && !oldest.done) active.delete(oldest.value);
}

function showActive(figures: Figures, active: ReadonlyMap<string, string>): void {
  figures.active.reset();
  for (const phase of active.values()) figures.active.inc({ phase });
}
