// After a try: the Lock is released, and that is its end, or another try follows. What is left is deleted later.
//
// A stage is deleted no earlier than `late` after it was created. A create names no version, so one whose answer was lost, or whose process
// was stopped before it was sent, can land whenever the name is free, and the engine would make that stage again. While a stage is there,
// such a create gets 409, whoever sends it: so any number of processes may create the same stage, and nobody waits for another. `late` is
// enough, because who creates a stage has found none in the same call: that call began before the stage was created, and sends nothing
// `late` after it began. A process can stop for longer between its look at the clock and the request: usually stages stay for `keptFor`.
// Contents may come late: nobody reads them without a stage, and they go with the package transaction, or as those of one that is gone.
import type { Resource } from '../../objects/cluster.ts';
import { at, type JsonObject, textAt } from '../../objects/json.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { advanced, millisecondsOf, timeOf } from '../model/status.ts';
import { releaseLock } from '../plan/lock.ts';
import { accountIn, preconditionOf } from '../plan/resources.ts';
import { finished, type Moment, pauseAfter } from './ends.ts';
import type { Deed, Move } from './move.ts';
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
    return { because: 'the Lock is released', deeds, status: finished(status, status.outcome, now), wait: 1 };
  const pause = Math.max(pauseAfter(status.failures), status.outcome?.retryAfterSeconds ?? 0);
  const next = advanced(status, { phase: 'Waiting', retryTime: retryTimeOf(now, pause), tryTime: undefined });
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
  /** Stages and contents of all its tries; none if they must stay. */
  readonly leftovers: readonly Leftover[];
  /** Finished package transactions beyond the limit of the history, and what one that was removed by force left. */
  readonly history: readonly Leftover[];
}

const mostDeletes = 100;

/** ms for which stages and their contents stay: longer than any process is believed to stop, so also those of one that is gone. */
export const keptFor = 600_000;

/** Whether it was created so many ms ago. */
export function isOlder({ object }: Leftover, age: number, now: number): boolean {
  return now - createdAt(object) >= age;
}

function createdAt(object: JsonObject): number {
  return millisecondsOf(textAt(object, 'metadata', 'creationTimestamp'));
}

/** Of one that is finished; being deleted, it goes once nothing is left. */
export function clean({ ptx, now, late, namespace, leftovers, history }: Cleaning): Move {
  const { status, isDeleting } = ptx;
  const kept = isDeleting ? late : keptFor;
  // Whether former ones can be deleted is no matter of this one.
  const ofHistory = deletions(history, namespace).map((deed) => ({ ...deed, mayBeRefused: true as const }));
  if (leftovers.length === 0) return swept(ptx, ofHistory);
  const due = leftovers.filter((one) => isOlder(one, kept, now));
  const deeds = [...deletions(due, namespace), ...ofHistory];
  // A stage goes once its finalizer is removed, and that wakes us.
  if (due.length > 0) return { because: 'stages and contents are deleted', deeds, status, wait: 1 };
  const next = Math.min(...leftovers.map(({ object }) => createdAt(object))) + kept;
  const later = isDeleting ? status : advanced(status, { sweepTime: timeOf(next) });
  return { because: 'a request that creates a stage again may be late', deeds, status: later, wait: (next - now) / 1000 };
}

function swept({ status, isDeleting }: PackageTransaction, deeds: readonly Deed[]): Move {
  const next = status.sweepTime === undefined ? status : advanced(status, { sweepTime: undefined });
  const finalized = isDeleting ? { finalized: true } : {};
  return { because: 'nothing is left to do', deeds, status: next, wait: 0, ...finalized };
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
