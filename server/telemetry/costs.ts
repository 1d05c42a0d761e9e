// The cost of the calls for each namespace. The first namespaces that a process sees get series of their own; all others share one series.
// So no counter moves to another series, and the number of series has a bound.
import { AsyncLocalStorage } from 'node:async_hooks';
import { Counter, type Registry } from 'prom-client';
import type { Hook } from '../../hooks/transactions/call.ts';

interface Cost {
  readonly namespace: string;
  readonly seconds: number;
  readonly bytes: number;
}

type CostMetrics = ReturnType<typeof costMetrics>;

/** The call that causes a request to the API server, and the bytes that it has read so far. */
const calls = new AsyncLocalStorage<{ bytes: number } | undefined>();

const mostNamespaces = 20;
/** No namespace can have this name, because it has a capital letter. */
const others = 'Other';

// Not `namespace`: Prometheus sets that label on scraped series, and would rename this one.
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

/** A hook that counts the cost of each call at its end. */
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

/** Adds bytes to the call in progress, if there is one. */
export function countRead(bytes: number): void {
  const cost = calls.getStore();
  if (cost !== undefined) cost.bytes += bytes;
}

/** Runs work that does not count for the call that started it. */
export function outsideCalls<Result>(work: () => Result): Result {
  return calls.run(undefined, work);
}
