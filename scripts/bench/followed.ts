// When each Transaction was seen in which phase: one watch over all of them, so that looking costs the API server little.
import { at, isList, type JsonObject, textAt } from '../../hooks/model/json.ts';
import { connectAsMetacontroller } from '../../test/support/metacontroller/connection.ts';
import { readEvents } from '../../test/support/metacontroller/watch-stream.ts';

const collection = '/apis/tx.janus.io/v1alpha1/transactions';
const patience = 900_000; // a guard against hanging

export interface Followed {
  /** When (performance.now) the Transaction of that uid was seen in that phase, or with condition Finished True. */
  when(uid: string, what: string): Promise<number>;
  /** A Transaction's memory of `what` is dropped, to wait for it again. */
  forget(uid: string, what: string): void;
  stop(): Promise<void>;
}

export async function followTransactions(kubeconfig: string): Promise<Followed> {
  const over = new AbortController();
  const api = await connectAsMetacontroller({ kubeconfig, signal: over.signal });
  const list = await api.call('GET', `${collection}?limit=1`);
  const version = textAt(list, 'metadata', 'resourceVersion') ?? '';
  const events = readEvents(await api.watch(`${collection}?watch=true&resourceVersion=${version}&allowWatchBookmarks=true`));
  const seen = new Map<string, number>();
  const waiting = new Map<string, (now: number) => void>();
  const note = (key: string): void => {
    if (seen.has(key)) return;
    const now = performance.now();
    seen.set(key, now);
    waiting.get(key)?.(now);
    waiting.delete(key);
  };
  const followed = follow(events, note).catch((error: unknown) => {
    if (!over.signal.aborted) process.stderr.write(`the watch over Transactions ended: ${String(error)}\n`);
  });
  return {
    when: (uid, what) => {
      const known = seen.get(`${uid} ${what}`);
      return known === undefined ? arrival(waiting, `${uid} ${what}`) : Promise.resolve(known);
    },
    forget: (uid, what) => void seen.delete(`${uid} ${what}`),
    stop: async () => {
      over.abort();
      await followed;
      await api.close();
    },
  };
}

async function follow(events: ReturnType<typeof readEvents>, note: (key: string) => void): Promise<void> {
  for await (const { object } of events) {
    const uid = textAt(object, 'metadata', 'uid') ?? '';
    note(`${uid} ${textAt(object, 'status', 'phase') ?? ''}`);
    if (isFinished(object)) note(`${uid} Finished`);
  }
}

function isFinished(object: JsonObject): boolean {
  const conditions = at(object, 'status', 'conditions');
  const all = isList(conditions) ? conditions : [];
  return all.some((one) => textAt(one, 'type') === 'Finished' && textAt(one, 'status') === 'True');
}

function arrival(waiting: Map<string, (now: number) => void>, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`waited ${patience / 1000} s for Transaction ${key}`)), patience);
    waiting.set(key, (now) => {
      clearTimeout(timer);
      resolve(now);
    });
  });
}
