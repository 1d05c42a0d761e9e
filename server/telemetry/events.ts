// Events about Transactions, for `kubectl describe`. Recording is best effort: it never delays a step or makes it fail.
//
// 1. The name of an Event follows from its content. So an Event exists once, even if several replicas record it several times. A time
//    in its message does not count, because the next replica may name the next second.
// 2. Events have a resolution of one second. Within a second, their names sort in the order of the steps.
// 3. One writer writes all Events. Its queue has a bound.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Identity, Resource } from '../../hooks/objects/cluster.ts';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { formatTime } from '../../hooks/objects/time.ts';
import { foreign } from '../../hooks/objects/words.ts';
import { collectionPath } from '../kubernetes/paths.ts';
import type { Transport } from '../kubernetes/transport.ts';
import { outsideCalls } from './costs.ts';

/** The content of one Event about one Transaction, one package transaction, or one Package. */
export interface TransactionEvent {
  /** Undefined for package transactions and Packages, which have no namespace. */
  readonly namespace: string | undefined;
  /** That of a Package. */
  readonly kind?: string;
  readonly name: string;
  readonly uid: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** The time, in ms since the epoch, by the API server's clock. */
  readonly at: number;
  /** The version of the status that the Event describes, and the index of the Event within that version. */
  readonly position: readonly [version: number, index: number];
}

export interface EventRecorder {
  /** Queues the Event and returns at once. */
  record(event: TransactionEvent): void;
  /** Resolves when every queued Event is written or dropped, at the latest after `timeout` ms. */
  flush(timeout: number): Promise<void>;
}

const mostQueued = 1_000;
const longestMessage = 1_000;
const engine: Identity = { kind: 'engine' };
const events: Resource = {
  group: '',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
  verbs: ['create'],
  statusSubresource: false,
};

export function createEventRecorder(transport: Transport): EventRecorder {
  const queue = new Map<string, TransactionEvent>();
  let writing: Promise<void> | undefined;

  const writeAll = async () => {
    for (let next = firstOf(queue); next !== undefined; next = firstOf(queue)) {
      const [name, event] = next;
      queue.delete(name);
      // The Event exists already, or the API server refuses it. In both cases nothing is left to do.
      await transport.request(creation(name, event), engine);
    }
    writing = undefined;
  };

  return {
    record(event) {
      queue.set(eventName(event), event);
      const oldest = queue.keys().next();
      if (queue.size > mostQueued && !oldest.done) queue.delete(oldest.value);
      writing ??= outsideCalls(writeAll);
    },
    async flush(timeout) {
      if (writing === undefined) return;
      const over = new AbortController();
      await Promise.race([writing, sleep(timeout, undefined, { signal: over.signal })]);
      over.abort();
    },
  };
}

function firstOf(queue: ReadonlyMap<string, TransactionEvent>): readonly [string, TransactionEvent] | undefined {
  const { done, value } = queue.entries().next();
  return done ? undefined : value;
}

/** Where Kubernetes has Events about objects without a namespace. */
const namespaceOfOthers = 'default';

function creation(name: string, event: TransactionEvent) {
  return {
    method: 'POST',
    path: collectionPath(events, event.namespace ?? namespaceOfOthers),
    contentType: 'application/json',
    body: bodyOf(name, event),
  } as const;
}

/** `deploy-v2.00007-1.3f9a2c1b`: the Transaction, the position, a hash of the rest. */
function eventName({ name, uid, reason, message, position: [version, index] }: TransactionEvent): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([uid, reason, message.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '')])) // 1
    .digest('hex')
    .slice(0, 10);
  const suffix = `${String(version).padStart(5, '0')}-${index}.${hash}`;
  return `${name.slice(0, 253 - suffix.length - 1).replace(/[.-]+$/, '')}.${suffix}`;
}

function objectOf({ namespace, kind }: TransactionEvent): JsonObject {
  if (kind !== undefined) return { apiVersion: 'pkg.crossplane.io/v1', kind };
  return namespace === undefined
    ? { apiVersion: 'pkg.crossplane.io/v1alpha1' }
    : { apiVersion: 'tx.janus.io/v1alpha1', namespace };
}

function bodyOf(name: string, event: TransactionEvent): JsonObject {
  const at = formatTime(event.at);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: event.namespace ?? namespaceOfOthers },
    involvedObject: { kind: 'Transaction', ...objectOf(event), name: event.name, uid: event.uid },
    type: event.type,
    reason: event.reason,
    message: foreign(event.message, longestMessage),
    source: { component: 'janus' },
    count: 1,
    firstTimestamp: at,
    lastTimestamp: at,
  };
}
