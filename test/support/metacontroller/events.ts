// Writes Events on the parent as client-go's recorder does: equal Events increase a count, and one object gets a burst of at most
// 25, then one in 5 minutes. They are written in order, beside the work, and may be lost.
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import type { Api } from './connection.ts';
import { type Bucket, tokenBucket } from './limits.ts';

export interface EventRecorder {
  syncError(parent: JsonObject, message: string): void;
  /** The object is gone: everything kept for it is dropped. */
  forget(parent: JsonObject): void;
  /** Resolves once every recorded Event is written or lost. */
  settled(): Promise<void>;
}

interface Known {
  readonly bucket: Bucket;
  readonly counts: Map<string, { readonly path: string; count: number }>;
}

export function createEventRecorder(api: Api): EventRecorder {
  const known = new Map<string, Known>();
  let writing: Promise<unknown> = Promise.resolve();

  async function write(parent: JsonObject, message: string, entry: Known): Promise<void> {
    const lastTimestamp = now();
    const repeated = entry.counts.get(message);
    if (repeated !== undefined) {
      repeated.count += 1;
      await api.call('PATCH', repeated.path, { count: repeated.count, lastTimestamp });
      return;
    }
    const event = eventOf(parent, message, lastTimestamp);
    const collection = `/api/v1/namespaces/${textAt(event, 'metadata', 'namespace')}/events`;
    await api.call('POST', collection, event);
    entry.counts.set(message, { path: `${collection}/${textAt(event, 'metadata', 'name')}`, count: 1 });
  }

  return {
    syncError(parent, error) {
      const uid = textAt(parent, 'metadata', 'uid') ?? '';
      const entry = known.get(uid) ?? { bucket: tokenBucket({ perSecond: 1 / 300, burst: 25 }), counts: new Map() };
      known.set(uid, entry);
      if (!entry.bucket.tryTake()) return;
      writing = writing.then(() => write(parent, `Sync error: ${error}`, entry)).catch(() => undefined);
    },
    forget(parent) {
      known.delete(textAt(parent, 'metadata', 'uid') ?? '');
    },
    settled: async () => {
      await writing;
    },
  };
}

function now(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, 'Z');
}

let numbered = 0;

function eventOf(parent: JsonObject, message: string, time: string): JsonObject {
  const field = (name: string): string => textAt(parent, 'metadata', name) ?? '';
  numbered += 1;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    // Events about cluster-scoped objects are in the namespace default.
    metadata: {
      namespace: field('namespace') || 'default',
      name: `${field('name')}.${Date.now().toString(16)}${process.pid}${numbered}`,
    },
    involvedObject: {
      apiVersion: textAt(parent, 'apiVersion') ?? '',
      kind: textAt(parent, 'kind') ?? '',
      namespace: field('namespace'),
      name: field('name'),
      uid: field('uid'),
      resourceVersion: field('resourceVersion'),
    },
    type: 'Warning',
    reason: 'SyncError',
    message,
    source: { component: 'metacontroller' },
    reportingComponent: 'metacontroller',
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
}
