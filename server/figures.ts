// The figures themselves: names, help, labels. Labels are words of ours only, never names or content of objects, and what can
// be counted at all stands at 0 from the start: `increase()` does not see a series begin at 1.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { isTerminal, mayFollow, phases } from '../hooks/model/phase.ts';

/** What is asked of the API server at scrape. */
const sources = ['transactions', 'locks', 'answers'] as const;

export type Source = (typeof sources)[number];

export type Figures = ReturnType<typeof createFigures>;

export function createFigures(registry: Registry) {
  const figures = { ...transactionFigures([registry]), ...workFigures([registry]), ...censusFigures([registry]) };
  startAtZero(figures);
  return figures;
}

function transactionFigures(registers: Registry[]) {
  return {
    transitions: new Counter({
      name: 'janus_transaction_phase_transitions_total',
      help: 'Transactions that went from one phase to another, counted once that is stored.',
      labelNames: ['from_phase', 'to_phase'],
      registers,
    }),
    duration: new Histogram({
      name: 'janus_transaction_duration_seconds',
      help: 'Time from the start of a Transaction, or of its undo, to the end of it.',
      labelNames: ['outcome'],
      buckets: [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600],
      registers,
    }),
    items: new Counter({
      name: 'janus_item_operations_total',
      help: 'What became of single changes (prepare, commit, rollback), counted once that is stored.',
      labelNames: ['operation', 'result'],
      registers,
    }),
    itemCount: new Histogram({
      name: 'janus_transaction_item_count',
      help: 'Changes of a Transaction, observed as it begins.',
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
      registers,
    }),
    conflicts: new Counter({
      name: 'janus_conflicts_total',
      help: 'Changes and undos that met the work of somebody else, counted once that is stored.',
      labelNames: ['reason'],
      registers,
    }),
    lockWait: new Histogram({
      name: 'janus_lock_wait_seconds',
      help: 'Time that a Transaction waited until it held its locks, or gave up.',
      buckets: [0, 1, 2, 5, 10, 30, 60, 300, 1800],
      registers,
    }),
  };
}

function workFigures(registers: Registry[]) {
  return {
    locks: new Counter({
      name: 'janus_lock_operations_total',
      help: 'Requests that take, renew or give back a lock, by what became of them.',
      labelNames: ['operation', 'result'],
      registers,
    }),
    faults: new Counter({
      name: 'janus_internal_errors_total',
      help: 'Steps that met a fault of the engine; its log has the stack.',
      registers,
    }),
    hookRequests: new Counter({
      name: 'janus_hook_requests_total',
      help: 'Calls of Metacontroller, by path and HTTP status of the answer.',
      labelNames: ['path', 'code'],
      registers,
    }),
    hookDuration: new Histogram({
      name: 'janus_hook_request_duration_seconds',
      help: 'Time from a call of Metacontroller to its answer.',
      labelNames: ['path'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    apiRequests: new Counter({
      name: 'janus_api_requests_total',
      help: 'Requests to the API server, by verb and what became of them.',
      labelNames: ['verb', 'outcome'],
      registers,
    }),
    apiDuration: new Histogram({
      name: 'janus_api_request_duration_seconds',
      help: 'Time of a request to the API server, waiting for a free connection included.',
      labelNames: ['verb'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    scrapeErrors: new Counter({
      name: 'janus_scrape_errors_total',
      help: 'Scrapes for which the API server could not be asked; the gauges of that source are absent then.',
      labelNames: ['source'],
      registers,
    }),
  };
}

/** From the API server at scrape: the same on every replica, so ask for `max`, never for `sum`. */
function censusFigures(registers: Registry[]) {
  return {
    active: new Gauge({
      name: 'janus_transactions_active',
      help: 'Transactions in a phase that is not an end, in the whole cluster (the same on every replica).',
      labelNames: ['phase'],
      registers,
    }),
    oldest: new Gauge({
      name: 'janus_transaction_oldest_active_seconds',
      help: 'For how long the oldest of the Transactions in a phase has been under way; 0 without any (the same on every replica).',
      labelNames: ['phase'],
      registers,
    }),
    left: new Gauge({
      name: 'janus_transactions_left',
      help: 'Failed Transactions of which something could not be undone, by the reason of the first (the same on every replica).',
      labelNames: ['reason'],
      registers,
    }),
    locksHeld: new Gauge({
      name: 'janus_locks_held',
      help: 'Locks that there are, in the whole cluster (the same on every replica).',
      registers,
    }),
    oldestLock: new Gauge({
      name: 'janus_lock_oldest_seconds',
      help: 'Age of the oldest lock; 0 without any (the same on every replica).',
      registers,
    }),
  };
}

type Counting = ReturnType<typeof transactionFigures> & ReturnType<typeof workFigures>;

function startAtZero({ transitions, duration, items, locks, hookRequests, scrapeErrors }: Counting): void {
  for (const [from_phase, to_phase] of pairs(phases, phases).filter(([from, to]) => mayFollow(from, to)))
    transitions.inc({ from_phase, to_phase }, 0);
  for (const outcome of phases.filter(isTerminal)) duration.zero({ outcome });
  const results = ['success', 'conflict', 'error'];
  for (const [operation, result] of pairs(['prepare', 'commit', 'rollback'], results)) items.inc({ operation, result }, 0);
  for (const [operation, result] of pairs(['acquire', 'renew', 'release'], results)) locks.inc({ operation, result }, 0);
  for (const path of ['/sync', '/finalize']) hookRequests.inc({ path, code: 200 }, 0);
  for (const source of sources) scrapeErrors.inc({ source }, 0);
}

function pairs<First, Second>(first: readonly First[], second: readonly Second[]): readonly (readonly [First, Second])[] {
  return first.flatMap((one) => second.map((other) => [one, other] as const));
}
