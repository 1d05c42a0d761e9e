// What the calls for each namespace cost. The first namespaces that a process sees have series of their own and keep them; all others share
// one: no counter moves from one series to another, and their number has a bound.
import { AsyncLocalStorage } from 'node:async_hooks';
import { Counter, type Registry } from 'prom-client';
import type { Hook } from '../../hooks/transactions/call.ts';

interface Cost {
  readonly namespace: string;
  readonly seconds: number;
  readonly bytes: number;
}

type CostMetrics = ReturnType<typeof costMetrics>;

/** The call that a request to the API server is sent for, and what it has read so far. */
const calls = new AsyncLocalStorage<{ bytes: number } | undefined>();

const mostNamespaces = 20;
/** No namespace has a name with a capital letter. */
const others = 'Other';

// Not `namespace`: Prometheus gives that label to what it scrapes, and would rename ours.
const labelNames = ['transaction_namespace'] as const;

export function costMetrics(registers: Registry[]) {
  return {
    namespaceCalls: new Counter({
      name: 'janus_namespace_calls_total',
      help: 'Calls about the Transactions of a namespace: the first 20 that the process sees, all others as Other.',
      labelNames,
      registers,
    }),
    namespaceSeconds: new Counter({
      name: 'janus_namespace_call_seconds_total',
      help: 'Time in calls about the Transactions of a namespace, waiting included.',
      labelNames,
      registers,
    }),
    namespaceBytes: new Counter({
      name: 'janus_namespace_read_bytes_total',
      help: 'Bytes of objects and lists that the API server answered in calls about the Transactions of a namespace.',
      labelNames,
      registers,
    }),
  };
}

/** Counts calls for their namespaces. */
export function countCosts({ namespaceCalls, namespaceSeconds, namespaceBytes }: CostMetrics): (cost: Cost) => void {
  const known = new Set<string>();
  const labelsOf = (namespace: string) => {
    if (known.size < mostNamespaces) known.add(namespace);
    return { transaction_namespace: known.has(namespace) ? namespace : others };
  };
  for (const counter of [namespaceCalls, namespaceSeconds, namespaceBytes]) counter.inc({ transaction_namespace: others }, 0);
  return ({ namespace, seconds, bytes }) => {
    const labels = labelsOf(namespace);
    namespaceCalls.inc(labels);
    namespaceSeconds.inc(labels, seconds);
    namespaceBytes.inc(labels, bytes);
  };
}

/** The hook, with the cost of each call counted at its end. */
export function withCosts(hook: Hook, count: (cost: Cost) => void): Hook {
  return async (call) => {
    const cost = { bytes: 0 };
    const began = performance.now();
    try {
      return await calls.run(cost, () => hook(call));
    } finally {
      count({ namespace: call.namespace, seconds: (performance.now() - began) / 1000, bytes: cost.bytes });
    }
  };
}

/** So many bytes were read for the call that is under way here, if there is one. */
export function countRead(bytes: number): void {
  const cost = calls.getStore();
  if (cost !== undefined) cost.bytes += bytes;
}

/** Runs what is work for no call, although a call has started it. */
export function outsideCalls<Result>(work: () => Result): Result {
  return calls.run(undefined, work);
}
