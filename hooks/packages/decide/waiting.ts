// Before the Lock: it is free, ours already, held by another one, or by one that is gone.
import { type JsonObject, textAt } from '../../objects/json.ts';
import { faultOf } from '../due.ts';
import { digestOf } from '../model/digest.ts';
import { type Holder, holderOf, nextNumberOf, numberFault, released } from '../model/holder.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { advanced, millisecondsOf, timeOf } from '../model/status.ts';
import { createLock, releaseLock, takeLock } from '../plan/lock.ts';
import type { RegistryFailure } from '../registry.ts';

import { deletions, type Leftover } from './ending.ts';
import { ended, finished, type Moment } from './ends.ts';
import { type Deed, going, type Move, type Note, safetyWait, staying } from './move.ts';
import { requestRollback, undoLast } from './undo.ts';
import { holds, isOverdue, readingNote, tooSlow, unread } from './validating.ts';

interface Waiting extends Moment {
  readonly ptx: PackageTransaction;
  readonly namespace: string;
  /** Undefined: there is none yet. */
  readonly lock: JsonObject | undefined;
  /** Whether the package transaction that holds the Lock exists. */
  readonly isHolderThere: boolean;
  /** Stages of a holder that is gone, the last one first. */
  readonly leftStages: readonly JsonObject[];
  /** The same stages, and all contents, of a holder that is gone. */
  readonly leftovers: readonly Leftover[];
  /** Stages and contents of its own tries before that are old enough to go. */
  readonly ofTries: readonly Leftover[];
  /** Why its packages are not read ahead; absent if they are. */
  readonly unread?: NotRead | undefined;
}

/** Packages are read before the Lock is taken: a registry may be slow, and others wait for whoever holds the Lock. */
export type NotRead =
  /** The time of the call is over. */
  { readonly kind: 'unfinished' } | { readonly kind: 'failed'; readonly failure: RegistryFailure };

interface Refusing {
  readonly ptx: PackageTransaction;
  readonly namespace: string;
  readonly lock: JsonObject | undefined;
  readonly now: number;
}

/** The spec is no valid one: final. It may hold the Lock, if a call took it and died; earlier tries may have left something. */
export function refuse({ ptx, namespace, lock, now }: Refusing): Move {
  const outcome = {
    kind: 'Failed',
    step: 'Validation',
    reason: 'InvalidPackage',
    message: faultOf(ptx) ?? '',
    isFinal: true,
  } as const;
  const status = finished({ ...ptx.status, failures: ptx.status.failures + 1 }, outcome, now);
  return { because: 'the spec is no valid one', deeds: releaseOwn(ptx, lock, namespace), status, wait: 1 };
}

function releaseOwn(ptx: PackageTransaction, lock: JsonObject | undefined, namespace: string): readonly Deed[] {
  return holds(ptx, lock) ? [{ write: releaseLock(lock, namespace) }] : [];
}

export function wait({ status }: PackageTransaction, now: number): Move {
  return staying(
    status,
    'what comes next has its time',
    Math.max(1, (millisecondsOf(status.sweepTime ?? status.retryTime) - now) / 1000),
  );
}

/** Whether nothing is to be done before the packages are read. */
export function isToRead({ ptx, lock, isHolderThere, ofTries }: Waiting): boolean {
  if (lock === undefined || ptx.isDeleting || ofTries.length > 0 || numberFault(lock) !== undefined) return false;
  const holder = holderOf(lock);
  return holder === undefined || (holder.uid !== ptx.uid && isHolderThere);
}

export function take(scene: Waiting): Move {
  if (scene.ptx.isDeleting) return leave(scene);
  return clearedTries(scene) ?? (scene.lock === undefined ? creating(scene) : before(scene, scene.lock));
}

function creating({ ptx, namespace }: Waiting): Move {
  const deeds = [{ write: createLock(namespace), settledBy: 'exists' }] as const;
  return { because: 'there is no Lock yet', deeds, status: ptx.status, wait: 0.2 };
}

function before(scene: Waiting, lock: JsonObject): Move {
  const { ptx, isHolderThere } = scene;
  const holder = holderOf(lock);
  if (holder?.uid === ptx.uid) return begun(scene, holder.number, 'the Lock is held already');
  const message = numberFault(lock);
  if (message !== undefined)
    return staying(ptx.status, 'the number on the Lock cannot be read', safetyWait, { reason: 'WaitingForLock', message });
  if (holder !== undefined && !isHolderThere) return takeOver(scene, lock, holder);
  return holder === undefined ? (notRead(scene) ?? taking(scene, lock)) : behind(scene, holder);
}

/** Undefined once the packages are read. */
function notRead({ ptx, now, unread: reading }: Waiting): Move | undefined {
  if (reading === undefined) return undefined;
  const begun = advanced(ptx.status, { startTime: ptx.status.startTime ?? timeOf(now), specDigest: ptx.specDigest });
  if (reading.kind === 'failed') return going(ended(begun, unread(reading.failure)), reading.failure.message);
  if (isOverdue(ptx.status, now)) return going(ended(begun, tooSlow), tooSlow.message);
  const status = ptx.status.tryTime === undefined ? advanced(begun, { tryTime: timeOf(now) }) : ptx.status;
  return staying(status, 'the time of the call is over', 0.2, readingNote);
}

/** The next try has stages of other names. */
function clearedTries({ ptx, ofTries, namespace }: Waiting): Move | undefined {
  if (ofTries.length === 0) return undefined;
  const deeds = deletions(ofTries, namespace);
  return { because: 'stages and contents of the try before are deleted', deeds, status: ptx.status, wait: 1 };
}

function leave({ ptx, lock, namespace, now }: Waiting): Move {
  const deeds = releaseOwn(ptx, lock, namespace);
  // Contents of earlier tries go first.
  const status = finished(ptx.status, { kind: 'Abandoned', message: 'it is being deleted' }, now);
  return { because: 'it is being deleted before it has begun', deeds, status, wait: 1 };
}

function taking(scene: Waiting, lock: JsonObject): Move {
  const { ptx, namespace } = scene;
  const move = begun(scene, nextNumberOf(released(lock)), 'the Lock is free');
  return { ...move, deeds: [{ write: takeLock(lock, ptx, namespace) }] };
}

function begun({ ptx, now }: Waiting, number: number, because: string): Move {
  const { status, specDigest } = ptx;
  const next = advanced(status, {
    phase: 'Validating',
    number: status.number ?? number,
    startTime: status.startTime ?? timeOf(now),
    tryTime: status.tryTime ?? timeOf(now),
    specDigest,
    retryTime: undefined,
    outcome: undefined,
    settledTime: undefined,
    settledHolder: undefined,
    lockDigest: undefined,
    proposed: undefined,
    stages: [],
    made: 0,
    committed: 0,
  });
  return { because, deeds: [], status: next, wait: 1 };
}

function behind({ ptx, unread }: Waiting, holder: Holder): Move {
  // Settled is a holder before this one: were this one gone too, its own requests would have to be waited for. The time that others take
  // does not count as time for reading.
  const { settledTime, tryTime } = ptx.status;
  const status =
    settledTime === undefined && tryTime === undefined
      ? ptx.status
      : advanced(ptx.status, { settledTime: undefined, settledHolder: undefined, tryTime: undefined });
  // A registry that fails meanwhile costs no try.
  const wait = unread?.kind === 'unfinished' ? 0.2 : safetyWait;
  return staying(status, 'another package transaction holds the Lock', wait, {
    reason: 'WaitingForLock',
    message: `Waiting for package transaction ${holder.name}, which holds the Lock`,
  });
}

// What a holder that is gone had under way is undone first, unless it had written the Lock: then it was done. Then its stages and contents
// are deleted: nobody else does it.
function takeOver(scene: Waiting, lock: JsonObject, holder: Holder): Move {
  const { ptx, now, late } = scene;
  const settled = millisecondsOf(ptx.status.settledTime);
  const settledHolder = digestOf({ name: holder.name, uid: holder.uid });
  // Another one may have come and gone since the last call.
  if (settled === 0 || ptx.status.settledHolder !== settledHolder) {
    const status = advanced(ptx.status, { settledTime: timeOf(now + late), settledHolder });
    return staying(status, 'the holder of the Lock is gone', 1, noteOn(holder));
  }
  // A late one may be that which writes the Lock.
  if (settled > now)
    return staying(ptx.status, 'a request of the former holder may be late', (settled - now) / 1000, noteOn(holder));
  const undoing = holder.hasWritten ? undefined : undoingOf(scene, holder);
  if (undoing !== undefined) return undoing;
  if (scene.leftovers.length > 0) return clearing(scene, holder);
  const because = 'the former holder of the Lock is gone, and nothing of it is left';
  const deeds = [{ write: releaseLock(lock, scene.namespace) }];
  return { because, deeds, status: advanced(ptx.status, { settledTime: undefined, settledHolder: undefined }), wait: 0.2 };
}

function noteOn({ name }: Holder): Note {
  const message = `Package transaction ${name} held the Lock and is gone: what it had not finished is undone first`;
  return { reason: 'WaitingForLock', message };
}

/** Undefined once all of its stages are undone. */
function undoingOf(scene: Waiting, holder: Holder): Move | undefined {
  const undone = undoLast(scene, scene.leftStages);
  if (undone.kind === 'all') return undefined;
  if (undone.kind === 'move') return { ...undone.move, note: noteOn(holder) };
  const name = textAt(undone.stage, 'metadata', 'name');
  const annotation = undone.kind === 'refused' ? `${requestRollback} and a new value` : 'tx.janus.io/retry-rollback';
  return staying(scene.ptx.status, 'a stage of the former holder cannot be undone', safetyWait, {
    reason: 'WaitingForLock',
    message: `Transaction ${name} of package transaction ${holder.name}, which is gone, could not be undone: mend what its status names and annotate it with ${annotation}, or delete it`,
  });
}

function clearing({ ptx, leftovers, namespace }: Waiting, holder: Holder): Move {
  const because = 'stages and contents of the former holder are deleted';
  return { because, deeds: deletions(leftovers, namespace), status: ptx.status, wait: 1, note: noteOn(holder) };
}
