// Lists the Pods of an open gate every 10 s, to see containers that do not start. The result is best effort: if the engine cannot list
// Pods, the gate fails by its own rule or its timeout.
import { createLruCache } from '../../objects/lru-cache.ts';
import { believedTime } from '../../objects/time.ts';
import { podListing } from '../gates/interval.ts';
import { failingPods, hasPods } from '../gates/new-pods.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { Gate, GateState } from '../model/gate.ts';
import type { Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import type { PodsSeen, PodsView } from './awaited.ts';
import { listIn, type OwnedPods, type Owner, readBelow } from './pods.ts';

/** The lists that this process has made: no poll makes one again. */
export interface PodTurns {
  /** Whether the list that is due at `time` is still to be made. */
  take(gate: string, time: number): boolean;
}

const mostRemembered = 10_000;

export function createPodTurns(): PodTurns {
  const taken = createLruCache<number>({ most: mostRemembered });
  return {
    take(gate, time) {
      const isNew = taken.get(gate) !== time;
      taken.set(gate, time);
      return isNew;
    },
  };
}

interface Awaited {
  readonly transaction: Transaction;
  readonly status: Status;
  readonly now: number;
  readonly podTurns: PodTurns;
  readonly entry: SnapshotEntry;
  readonly gate: Gate;
  readonly before: GateState;
  readonly sealed: boolean;
  readonly owner: Owner;
  /** What the diagnosis has listed already. */
  readonly below: OwnedPods | undefined;
}

/** Undefined if the gate does not fail because of Pods. */
export async function viewPods(awaited: Awaited): Promise<PodsView | undefined> {
  const { transaction, now, entry, gate, before, owner, podTurns } = awaited;
  if (gate.failFast === undefined || entry.type === 'Delete' || !hasPods(entry.resource)) return undefined;
  const believed = (time: number): number => believedTime(time, transaction.createdAt, now);
  const failing = before.pod?.failing;
  const failingSince = failing === undefined ? undefined : believed(failing.since);
  const { due, left } = podListing({ since: believed(before.since), failingSince, now });
  const isDue = due !== undefined && podTurns.take(`${transaction.uid}/${entry.index}`, due);
  const below = awaited.below ?? (isDue ? await readBelow(listIn(owner), owner) : undefined);
  const seen = below === undefined ? undefined : seenOf(awaited, below);
  return { left, ...(seen === undefined ? {} : { seen }) };
}

function seenOf({ status, now, entry, sealed, owner }: Awaited, below: OwnedPods): PodsSeen | undefined {
  const { pods, replicaSet, unread, failure } = below;
  const made = { resource: entry.resource, object: owner.object, replicaSet, sealed, begun: status.startTime ?? now };
  if (pods !== undefined) return { kind: 'listed', failing: failingPods({ ...made, pods }) };
  // The next list may succeed.
  if (failure?.kind === 'transient') return undefined;
  const why = unread.map(({ what, reason }) => `${what} could not be read (${reason})`).join('; ');
  return { kind: 'unread', found: `${why}, so that the gate cannot fail before its timeout` };
}
