// Who may hold what. Leases are advisory; the order of their names and keeping only a contiguous prefix while waiting makes a
// deadlock impossible.

import { at, type JsonObject, textAt } from '../model/json.ts';
import { parseTime } from '../model/timeouts.ts';
import type { LockState, LockView } from '../observe/observation.ts';
import { isWrittenBy, type Lock, otherTarget } from '../writes/lease.ts';

/** The `Date` header has a resolution of one second, and so has the time that a Lease was written with. */
const resolution = 2_000;

export type LeaseState =
  | 'free'
  | 'ours'
  /** Ours, but less than half of its life is left, or none: it is renewed and goes on. */
  | 'fading'
  | 'expired'
  | 'held';

export function leaseState(lease: JsonObject | undefined, holder: string, now: number): LeaseState {
  if (lease === undefined) return 'free';
  const heldBy = textAt(lease, 'spec', 'holderIdentity') ?? '';
  const [life, age] = [lifeOf(lease), ageOf(lease, now)];
  if (heldBy === holder) return age > life / 2 ? 'fading' : 'ours';
  return heldBy === '' || age > life + resolution ? 'expired' : 'held';
}

/** ms until nobody needs to respect it any more. Others add the resolution to that, so that this is on the safe side. */
export function lifeLeft(lease: JsonObject, now: number): number {
  return lifeOf(lease) - ageOf(lease, now);
}

/** ms until it is to be renewed; negative when it should have been. */
export function halfLifeLeft(lease: JsonObject, now: number): number {
  return lifeOf(lease) / 2 - ageOf(lease, now);
}

function ageOf(lease: JsonObject, now: number): number {
  return now - (parseTime(textAt(lease, 'spec', 'renewTime')) ?? 0);
}

function lifeOf(lease: JsonObject): number {
  const seconds = at(lease, 'spec', 'leaseDurationSeconds');
  return typeof seconds === 'number' ? seconds * 1000 : 0;
}

/** What taking locks comes to. */
export type Locking =
  | { readonly kind: 'held' }
  | {
      readonly kind: 'take';
      readonly create: readonly Lock[];
      readonly replace: readonly { readonly lock: Lock; readonly lease: JsonObject }[];
    }
  /** `release`: those of ours beyond the first one that is held by another, unless another process may be taking them. */
  | {
      readonly kind: 'blocked';
      readonly lock: Lock;
      readonly holder: string;
      /** What it locks for the other one, where that is another object of the same lock name. */
      readonly other?: string;
      readonly release: readonly JsonObject[];
    };

/** Who takes them: the Transaction, and the process that serves it. */
export interface Taker {
  readonly holder: string;
  readonly server: string;
  /** How long after a call began something of it may still happen, in ms. */
  readonly lateWindow: number;
}

export function judgeLocks(view: LockView, taker: Taker, now: number): Locking {
  const states = view.locks.map((lock) => ({ lock, state: stateOf(view.states.get(lock.name), taker.holder, now) }));
  const blocked = states.findIndex(({ state }) => state === 'held');
  const blocking = states[blocked];
  if (blocking !== undefined) {
    const beyond = view.locks.slice(blocked + 1).map(({ name }) => objectOf(view.states.get(name)));
    const lease = objectOf(view.states.get(blocking.lock.name));
    const other = otherTarget(blocking.lock, lease);
    return {
      ...(other === undefined ? {} : { other }),
      kind: 'blocked',
      lock: blocking.lock,
      holder: textAt(lease, 'spec', 'holderIdentity') ?? '',
      release: beyond.filter((held) => held !== undefined).filter((held) => isToGoBack(held, view, taker, now)),
    };
  }
  const create = states.filter(({ state }) => state === 'free').map(({ lock }) => lock);
  const replace = states.flatMap(({ lock, state }) => {
    const lease = objectOf(view.states.get(lock.name));
    return lease !== undefined && (state === 'expired' || state === 'fading') ? [{ lock, lease }] : [];
  });
  return create.length + replace.length === 0 ? { kind: 'held' } : { kind: 'take', create, replace };
}

/**
 * What this call has taken, and what an earlier one has left behind that could not give it back (it died, or its time was over):
 * kept, it would be waited for by whoever is waited for. Calls of one process go in turn, those of another end within the window.
 */
function isToGoBack(lease: JsonObject, { acquired }: LockView, { holder, server, lateWindow }: Taker, now: number): boolean {
  if (textAt(lease, 'spec', 'holderIdentity') !== holder) return false;
  if (acquired.has(textAt(lease, 'metadata', 'name') ?? '') || isWrittenBy(server, lease)) return true;
  return ageOf(lease, now) > lateWindow + resolution;
}

function stateOf(state: LockState | undefined, holder: string, now: number): LeaseState {
  return leaseState(objectOf(state), holder, now);
}

function objectOf(state: LockState | undefined): JsonObject | undefined {
  return state?.kind === 'present' ? state.object : undefined;
}

/** The first lock whose state could not be learned. */
export function lockTrouble(view: LockView): Extract<LockState, { kind: 'trouble' }> | undefined {
  return [...view.states.values()].find((state) => state.kind === 'trouble');
}
