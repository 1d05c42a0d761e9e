// Records when each Transaction reached each phase. One watch follows all Transactions, which costs the API server little. If the watch
// reads too slowly, the API server ends it, and a new watch continues.
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { connectAsMetacontroller } from '../../test/support/metacontroller/connection.ts';
import { transactions } from '../../test/support/metacontroller/double.ts';
import { createInformer } from '../../test/support/metacontroller/informer.ts';

const patience = 900_000; // a guard against hanging

export interface Followed {
  /** When (performance.now) that Transaction reached that phase, or condition Finished True; throws if it Failed. */
  when(uid: string, what: string): Promise<number>;
  /** Forgets `what` of a Transaction, to wait for it again. */
  forget(uid: string, what: string): void;
  stop(): Promise<void>;
}

export async function followTransactions(kubeconfig: string): Promise<Followed> {
  const over = new AbortController();
  const api = await connectAsMetacontroller({ kubeconfig, signal: over.signal });
  const seen = new Map<string, number>();
  const failed = new Map<string, string>();
  const waiting = new Map<string, Waiting>();
  const note = (key: string): void => {
    if (seen.has(key)) return;
    const now = performance.now();
    seen.set(key, now);
    waiting.get(key)?.arrived(now);
    waiting.delete(key);
  };
  const changed = (object: JsonObject): void => {
    const uid = textAt(object, 'metadata', 'uid') ?? '';
    const phase = textAt(object, 'status', 'phase') ?? '';
    note(`${uid} ${phase}`);
    if (isFinished(object)) note(`${uid} Finished`);
    if (phase === 'Failed')
      fail(uid, `Transaction ${textAt(object, 'metadata', 'name')} failed: ${textAt(object, 'status', 'message')}`);
  };
  const fail = (uid: string, why: string): void => {
    failed.set(uid, why);
    for (const [key, { refused }] of waiting) if (key.startsWith(uid)) refused(new Error(why));
  };
  const informer = createInformer({ api, resource: transactions, signal: over.signal, lagMilliseconds: 0, changed });
  await informer.list();
  const followed = informer.follow();
  return {
    when: (uid, what) => {
      const known = seen.get(`${uid} ${what}`);
      if (known !== undefined) return Promise.resolve(known);
      const failure = failed.get(uid);
      return failure === undefined ? arrival(waiting, `${uid} ${what}`) : Promise.reject(new Error(failure));
    },
    forget: (uid, what) => void seen.delete(`${uid} ${what}`),
    stop: async () => {
      over.abort();
      await followed;
      await api.close();
    },
  };
}

function isFinished(object: JsonObject): boolean {
  const conditions = at(object, 'status', 'conditions');
  const all = isList(conditions) ? conditions : [];
  return all.some((one) => textAt(one, 'type') === 'Finished' && textAt(one, 'status') === 'True');
}

interface Waiting {
  readonly arrived: (now: number) => void;
  readonly refused: (error: Error) => void;
}

function arrival(waiting: Map<string, Waiting>, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const over = (): void => refused(new Error(`waited ${patience / 1000} s for Transaction ${key}`));
    const timer = setTimeout(over, patience);
    const refused = (error: Error): void => {
      clearTimeout(timer);
      reject(error);
    };
    const arrived = (now: number): void => {
      clearTimeout(timer);
      resolve(now);
    };
    waiting.set(key, { arrived, refused });
  });
}
