// The metrics: names, help and labels, on a registry of their own. Label values come from closed lists, never from content of objects or
// from names, except names of some namespaces (costs.ts). Every counter starts at 0: `increase()` does not see a series begin at 1.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { isTerminal, mayFollow, phases } from '../../hooks/transactions/model/phase.ts';
import { costMetrics } from './costs.ts';
import { packageMetrics } from './package-metrics.ts';

/** The sources of gauges that the hook reads from the API server at scrape. */
const sources = ['transactions', 'locks', 'replies'] as const;

/** `packages`: only if the hook serves package transactions. */
export type Source = (typeof sources)[number] | 'packages';

export type MetricDefinitions = ReturnType<typeof defineMetrics>;

/** Gauges of prom-client with names of counters. promtool refuses these names. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

export function defineMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  const metrics = {
    ...transactionMetrics([registry]),
    ...undoMetrics([registry]),
    ...requestMetrics([registry]),
    ...inventoryMetrics([registry]),
    ...packageMetrics([registry]),
    ...costMetrics([registry]),
  };
  startAtZero(metrics);
  return { registry, ...metrics };
}

function transactionMetrics(registers: Registry[]) {
  return {
    transitions: new Counter({
      name: 'janus_transaction_phase_transitions_total',
      help: 'Phase transitions, counted once stored.',
      labelNames: ['from_phase', 'to_phase'],
      registers,
    }),
    duration: new Histogram({
      name: 'janus_transaction_duration_seconds',
      help: 'Time from the start of a Transaction, or of its rollback, to its end.',
      labelNames: ['outcome'],
      buckets: [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600],
      registers,
    }),
    itemOperations: new Counter({
      name: 'janus_item_operations_total',
      help: 'Operations on single changes by result, counted once stored.',
      labelNames: ['operation', 'result'],
      registers,
    }),
    itemCount: new Histogram({
      name: 'janus_transaction_item_count',
      help: 'Changes per Transaction, observed when it starts.',
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
      registers,
    }),
    conflicts: new Counter({
      name: 'janus_conflicts_total',
      help: 'Changes and restores that conflicted with edits by other clients, counted once stored.',
      labelNames: ['reason'],
      registers,
    }),
    lockWait: new Histogram({
      name: 'janus_lock_wait_seconds',
      help: 'Time a Transaction waited for its locks, until it acquired them or gave up.',
      buckets: [0, 1, 2, 5, 10, 30, 60, 300, 1800],
      registers,
    }),
    gateWait: new Histogram({
      name: 'janus_gate_wait_seconds',
      help: 'Time a gate was open, until the object was ready or the Transaction was rolled back.',
      labelNames: ['at', 'outcome'],
      buckets: [0, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800],
      registers,
    }),
  };
}

function undoMetrics(registers: Registry[]) {
  return {
    refusedUndos: new Counter({
      name: 'janus_undo_refusals_total',
      help: 'Requested undos that the engine refused before their first write, counted once stored.',
      labelNames: ['reason'],
      registers,
    }),
  };
}

function requestMetrics(registers: Registry[]) {
  return {
    lockOperations: new Counter({
      name: 'janus_lock_operations_total',
      help: 'Lock operations by result.',
      labelNames: ['operation', 'result'],
      registers,
    }),
    internalErrors: new Counter({
      name: 'janus_internal_errors_total',
      help: 'Steps, and calls about package transactions, that failed because of an internal error; the log has the stack.',
      registers,
    }),
    hookRequests: new Counter({
      name: 'janus_hook_requests_total',
      help: 'Calls by Metacontroller, by path and HTTP status.',
      labelNames: ['path', 'code'],
      registers,
    }),
    hookDuration: new Histogram({
      name: 'janus_hook_request_duration_seconds',
      help: 'Duration of calls by Metacontroller.',
      labelNames: ['path'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    apiRequests: new Counter({
      name: 'janus_api_requests_total',
      help: 'Requests to the API server by verb and outcome.',
      labelNames: ['verb', 'outcome'],
      registers,
    }),
    apiDuration: new Histogram({
      name: 'janus_api_request_duration_seconds',
      help: 'Duration of requests to the API server, including the wait for a connection.',
      labelNames: ['verb'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    scrapeErrors: new Counter({
      name: 'janus_scrape_errors_total',
      help: 'Scrapes for which the hook could not read the API server; the gauges of that source are then absent.',
      labelNames: ['source'],
      registers,
    }),
  };
}

/** The hook reads them from the API server at scrape. Every replica shows equal values, so aggregate by `max`, never by `sum`. */
function inventoryMetrics(registers: Registry[]) {
  return {
    active: new Gauge({
      name: 'janus_transactions_active',
      help: 'Transactions in a phase that is not terminal, in the cluster (equal on every replica).',
      labelNames: ['phase'],
      registers,
    }),
    oldestActive: new Gauge({
      name: 'janus_transaction_oldest_active_seconds',
      help: 'Age of the oldest active Transaction in a phase that does not wait for a gate; 0 if there is none (equal on every replica).',
      labelNames: ['phase'],
      registers,
    }),
    unrestored: new Gauge({
      name: 'janus_transactions_unrestored',
      help: 'Failed Transactions with objects that were not restored, by the reason of the first (equal on every replica).',
      labelNames: ['reason'],
      registers,
    }),
    locksHeld: new Gauge({
      name: 'janus_locks_held',
      help: 'Locks currently held in the cluster (equal on every replica).',
      registers,
    }),
    oldestLock: new Gauge({
      name: 'janus_lock_oldest_seconds',
      help: 'Age of the oldest lock whose holder does not wait for a gate; 0 if there is none (equal on every replica).',
      registers,
    }),
  };
}

type Counters = ReturnType<typeof transactionMetrics> & ReturnType<typeof requestMetrics> & ReturnType<typeof undoMetrics>;

function startAtZero(counters: Counters): void {
  const { transitions, duration, itemOperations, lockOperations, hookRequests, scrapeErrors, gateWait, refusedUndos } = counters;
  for (const [from_phase, to_phase] of pairs(phases, phases).filter(([from, to]) => mayFollow(from, to)))
    transitions.inc({ from_phase, to_phase }, 0);
  for (const outcome of phases.filter(isTerminal)) duration.zero({ outcome });
  const results = ['success', 'conflict', 'error'];
  for (const [operation, result] of pairs(['prepare', 'commit', 'rollback'], results))
    itemOperations.inc({ operation, result }, 0);
  for (const [operation, result] of pairs(['acquire', 'renew', 'release'], results)) lockOperations.inc({ operation, result }, 0);
  for (const path of ['/sync', '/finalize']) hookRequests.inc({ path, code: 200 }, 0);
  for (const [at, outcome] of pairs(['AfterChange', 'AtEnd'], ['passed', 'failed', 'timeout', 'stopped']))
    gateWait.zero({ at, outcome });
  for (const reason of ['UndoRefused', 'PlanChanged']) refusedUndos.inc({ reason }, 0);
  for (const source of sources) scrapeErrors.inc({ source }, 0);
}

function pairs<First, Second>(first: readonly First[], second: readonly Second[]): readonly (readonly [First, Second])[] {
  return first.flatMap((one) => second.map((other) => [one, other] as const));
}
