// Admits work of tenants to something that all tenants share: calls of the hook, connections to the API server, a thread. The other
// callers wait in one fair queue. A tenant is a namespace.
//
// A1. The tenant whose last turn is longest ago comes first, and in it the Transaction whose last turn is longest ago. So a Transaction
//     with many tasks delays others by only one of them.
// A2. A tenant that is alone takes all but `spare`, while its turns end. So the first turns of another tenant never wait for it.
// A3. If other tenants run or wait, or if a turn of the tenant does not end for `limits.hang`, it takes only as many as it leaves free:
//     the first tenant half, the next one half of the rest, and so on. So a tenant whose work hangs never takes all.
import { limits } from '../../hooks/objects/limits.ts';
import { createLruCache } from '../../hooks/objects/lru-cache.ts';

interface Caller {
  /** Empty or absent for the engine itself, which has no limit of its own. */
  readonly namespace?: string | undefined;
  /** The Transaction. */
  readonly uid?: string | undefined;
}

export interface Admission {
  /**
   * Resolves at the caller's turn with a function that ends the turn: call it once. Resolves with undefined if the signal is aborted
   * before.
   */
  take(caller?: Caller, signal?: AbortSignal): Promise<(() => void) | undefined>;
  /** How many callers of the tenant wait. */
  waiting(namespace: string): number;
}

interface AdmissionOptions {
  /** Parallel turns. */
  readonly count: number;
  /** Turns that only the engine itself takes. */
  readonly reserve?: number;
  /** Turns that a tenant leaves to others, although it is alone; half of all by default. */
  readonly spare?: number;
  /** Gives ms. */
  readonly now?: () => number;
}

/** Tenants and Transactions whose last turn is known. Without it, a caller counts as one that never had a turn. */
const mostKnown = 10_000;

/** The engine itself. */
const engine = '';

interface Waiting {
  readonly uid: string;
  readonly start: () => void;
}

interface Tenant {
  readonly waiting: Set<Waiting>;
  /** When each of its turns began, the oldest first. */
  readonly running: Set<{ readonly since: number }>;
}

export function createAdmission(options: AdmissionOptions): Admission {
  const shares = createShares(options);
  const order = createOrder();
  const next = (): Waiting | undefined => {
    const [key = '', tenant] = order.first(shares.ready()) ?? [];
    return tenant && order.firstOf(key, [...tenant.waiting]);
  };
  const go = (): void => {
    for (let one = next(); one !== undefined; one = next()) one.start();
  };
  const take = ({ namespace: key = engine, uid = '' }: Caller, signal?: AbortSignal): Promise<(() => void) | undefined> =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve(undefined);
      const { waiting } = shares.tenant(key);
      const leave = (): void => {
        waiting.delete(one);
        resolve(undefined);
        shares.forgetIdle(key);
        go();
      };
      const start = (): void => {
        signal?.removeEventListener('abort', leave);
        waiting.delete(one);
        order.note(key, uid);
        const giveBack = shares.begin(key);
        resolve(() => {
          giveBack();
          go();
        });
      };
      const one = { uid, start };
      signal?.addEventListener('abort', leave, { once: true });
      waiting.add(one);
      go();
    });
  return { take: (caller = {}, signal) => take(caller, signal), waiting: shares.waiting };
}

/** A2, A3. */
function createShares({ count, reserve = 0, spare = Math.floor(count / 2), now = () => performance.now() }: AdmissionOptions) {
  const tenants = new Map<string, Tenant>();
  let free = count;
  const isAlone = (): boolean => tenants.size - (tenants.has(engine) ? 1 : 0) === 1;
  const mostOf = (tenant: Tenant): number => (isAlone() && !hangs(tenant, now()) ? count - reserve - spare : free - reserve);
  const mayRun = (key: string, tenant: Tenant): boolean => key === engine || tenant.running.size < mostOf(tenant);
  const tenantOf = (key: string): Tenant => {
    const tenant = tenants.get(key) ?? { waiting: new Set(), running: new Set() };
    tenants.set(key, tenant);
    return tenant;
  };
  const forgetIdle = (key: string): void => {
    const { waiting, running } = tenantOf(key);
    if (waiting.size === 0 && running.size === 0) tenants.delete(key);
  };
  return {
    tenant: tenantOf,
    waiting: (key: string) => tenants.get(key)?.waiting.size ?? 0,
    forgetIdle,
    ready: () => (free === 0 ? [] : [...tenants].filter(([key, one]) => one.waiting.size > 0 && mayRun(key, one))),
    begin(key: string): () => void {
      const { running } = tenantOf(key);
      const turn = { since: now() };
      running.add(turn);
      free -= 1;
      return () => {
        running.delete(turn);
        free += 1;
        forgetIdle(key);
      };
    },
  };
}

function hangs({ running }: Tenant, now: number): boolean {
  const [oldest] = running;
  return oldest !== undefined && now - oldest.since > limits.hang.value;
}

/** A1. */
function createOrder() {
  const last = createLruCache<number>({ most: mostKnown });
  let turns = 0;
  const lastOf = (...key: readonly string[]): number => last.get(key.join('/')) ?? -1;
  return {
    note(key: string, uid: string): void {
      turns += 1;
      for (const name of [key, `${key}/${uid}`]) last.set(name, turns);
    },
    first: (ready: readonly (readonly [string, Tenant])[]) => earliest(ready, ([key]) => lastOf(key)),
    firstOf: (key: string, waiting: readonly Waiting[]) => earliest(waiting, ({ uid }) => lastOf(key, uid)),
  };
}

/** The first one with the smallest time. */
function earliest<One>(all: readonly One[], timeOf: (one: One) => number): One | undefined {
  let best: { readonly one: One; readonly time: number } | undefined;
  for (const one of all) {
    const time = timeOf(one);
    if (best === undefined || time < best.time) best = { one, time };
  }
  return best?.one;
}
