// After a try: the Lock is released, what is not needed any more is deleted, and what is left is rest or another try.
import type { Resource } from '../../cluster.ts';
import { at, type JsonObject, textAt } from '../../model/json.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { advanced, millisecondsOf, timeOf } from '../model/status.ts';
import { releaseLock } from '../plan/lock.ts';
import { accountIn, preconditionOf } from '../plan/resources.ts';
import { type Moment, pauseAfter } from './ends.ts';
import { type Deed, type Move, staying } from './move.ts';
import { holds, retryTimeOf } from './validating.ts';

interface Releasing extends Moment {
  readonly ptx: PackageTransaction;
  readonly namespace: string;
  readonly lock: JsonObject | undefined;
}

export function release({ ptx, now, namespace, lock }: Releasing): Move {
  const { status } = ptx;
  const deeds = holds(ptx, lock) ? [{ write: releaseLock(lock, namespace) }] : [];
  if (!isTriedAgain(ptx))
    return { because: 'the Lock is released', deeds, status: advanced(status, { phase: 'Cleaning' }), wait: 1 };
  const pause = Math.max(pauseAfter(status.failures), status.outcome?.retryAfterSeconds ?? 0);
  const next = advanced(status, { phase: 'Waiting', retryTime: retryTimeOf(now, pause), settledTime: undefined });
  return { because: 'the Lock is released until the next try', deeds, status: next, wait: pause };
}

function isTriedAgain({ status, retryLimit, isDeleting }: PackageTransaction): boolean {
  const { outcome, failures } = status;
  return outcome?.kind === 'Failed' && outcome.isFinal !== true && failures < retryLimit && !isDeleting;
}

/** An object that may go. */
export interface Leftover {
  readonly resource: Resource;
  readonly namespace?: string;
  readonly object: JsonObject;
}

interface Cleaning extends Moment {
  readonly ptx: PackageTransaction;
  readonly namespace: string;
  /** Stages and contents of all its tries; none where they must stay. */
  readonly leftovers: readonly Leftover[];
  /** Finished package transactions beyond the limit of the history, and what one that was removed by force left. */
  readonly history: readonly Leftover[];
}

const mostDeletes = 100;

export function clean({ ptx, now, late, namespace, leftovers, history }: Cleaning): Move {
  const { status } = ptx;
  const settled = settledTimeOf({ ptx, late });
  if (settled > now) return staying(status, 'a request of this try may be late', (settled - now) / 1000);
  // Whether former ones can be deleted is no matter of this one.
  const ofHistory = deletions(history, namespace).map((deed) => ({ ...deed, mayBeRefused: true as const }));
  const deeds = [...deletions(leftovers, namespace), ...ofHistory];
  // A stage goes once its finalizer is removed, and that wakes us.
  if (leftovers.length > 0) return { because: 'stages and contents are deleted', deeds, status, wait: 1 };
  const isDone = status.outcome?.kind === 'Succeeded';
  const settledNow = { settledTime: undefined, stagedTime: undefined, writer: undefined };
  const end = advanced(status, { phase: isDone ? 'Succeeded' : 'Failed', completionTime: timeOf(now), ...settledNow });
  const finalized = ptx.isDeleting ? { finalized: true } : {};
  return { because: 'nothing is left to do', deeds, status: end, wait: 0, ...finalized };
}

/** In ms: until then a request that creates a stage, or a content, may be late, and what has its name keeps it from landing. */
export function settledTimeOf({ ptx: { status }, late }: { readonly ptx: PackageTransaction; readonly late: number }): number {
  const staged = status.stagedTime === undefined ? 0 : millisecondsOf(status.stagedTime) + late;
  return Math.max(staged, millisecondsOf(status.settledTime));
}

/** Of those that nobody deletes already, the first ones. */
export function deletions(leftovers: readonly Leftover[], namespace: string): readonly Deed[] {
  const going = leftovers.filter(({ object }) => !isUnderDeletion(object)).slice(0, mostDeletes);
  return going.map((one) => deletion(one, namespace));
}

export function isUnderDeletion(object: JsonObject): boolean {
  return at(object, 'metadata', 'deletionTimestamp') !== undefined;
}

function deletion({ resource, namespace: place, object }: Leftover, namespace: string): Deed {
  const location = {
    resource,
    name: textAt(object, 'metadata', 'name') ?? '',
    ...(place === undefined ? {} : { namespace: place }),
  };
  const write = { verb: 'delete', identity: accountIn(namespace), location, precondition: preconditionOf(object) } as const;
  return { write, settledBy: 'absent' };
}

/** At rest: being deleted, it may go. */
export function rest(ptx: PackageTransaction): Move {
  const move = staying(ptx.status, 'nothing is left to do', 0);
  return ptx.isDeleting ? { ...move, finalized: true } : move;
}
