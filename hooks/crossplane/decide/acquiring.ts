// Before the hook takes the Lock: it is free, this package transaction holds it, another one holds it, or a holder that is gone.

import { type JsonObject, textAt } from '../../objects/json.ts';
import { faultOf } from '../due.ts';
import { requestRollback } from '../engine.ts';
import { digestOf } from '../model/digest.ts';
import { type Holder, holderOf, nextNumberOf, numberFault, released } from '../model/holder.ts';
import { advanced, isForward, millisecondsOf, type Status, timeOf } from '../model/status.ts';
import type { Context, ObservedTo } from '../observe/observation.ts';
import { type Note, type Step, safetyWaitSeconds, setStatus } from './step.ts';
import { awaitPackage, ended, finished, handOver, isOverdue, readingNote, releasing, tooSlow, unread } from './transitions.ts';
import { undoLast } from './undo.ts';

type Acquiring = ObservedTo<'acquire'>;

/**
 * The spec is not valid: final. The package transaction may hold the Lock, if a call took it and died. Earlier tries may have left
 * objects.
 */
export function refuse({ ptx, lock, now }: ObservedTo<'refuse'>): Step {
  const why = { step: 'Validation', reason: 'InvalidPackage', message: faultOf(ptx) ?? '' } as const;
  const status = { ...ptx.status, failures: ptx.status.failures + 1 };
  return releasing(ptx, lock, {
    because: 'the spec is no valid one',
    status: finished(status, { kind: 'Failed', ...why, isFinal: true }, now),
    wait: 1,
  });
}

export function wait({ ptx: { status }, now }: ObservedTo<'wait'>): Step {
  const seconds = (millisecondsOf(status.sweepTime ?? status.retryTime) - now) / 1000;
  return setStatus(status, 'what comes next has its time', Math.max(1, seconds));
}

export function acquire(observation: Acquiring): Step {
  const { ptx, lock, ofTries } = observation;
  if (ptx.isDeleting) return abandon(observation);
  // The stages of the next try have other names.
  if (ofTries.length > 0) return deleting(observation, ofTries, 'stages and contents of the try before are deleted');
  if (lock === undefined) return { kind: 'createLock', because: 'there is no Lock yet', status: ptx.status, wait: 0.2 };
  return acquireFrom(observation, lock);
}

function acquireFrom(observation: Acquiring, lock: JsonObject): Step {
  const { ptx, isHolderThere } = observation;
  const holder = holderOf(lock);
  if (holder?.uid === ptx.uid) return setStatus(validating(observation, holder.number), 'the Lock is held already');
  const message = numberFault(lock);
  if (message !== undefined)
    return setStatus(ptx.status, 'the number on the Lock cannot be read', safetyWaitSeconds, {
      reason: 'WaitingForLock',
      message,
    });
  if (holder !== undefined) return isHolderThere ? waitBehind(holder, observation) : adopt(observation, lock, holder);
  const status = validating(observation, nextNumberOf(released(lock)));
  return notRead(observation) ?? letPass(observation) ?? { kind: 'acquire', lock, because: 'the Lock is free', status, wait: 1 };
}

function letPass({ ptx, before }: Acquiring): Step | undefined {
  if (before === undefined) return undefined;
  const what = `package transaction ${before.first}, which takes the Lock first`;
  const [seconds, note] = [Math.min(before.count, safetyWaitSeconds), inQueue(what, before.count === 1)];
  return setStatus(ptx.status, 'another package transaction is before it in the queue', seconds, note);
}

/**
 * The next in the queue names what it waits for. Otherwise each of a hundred would write its status again whenever the Lock gets another
 * holder, and so would the Package of each.
 */
function inQueue(what: string, isNext: boolean): Note {
  return { reason: 'WaitingForLock', message: `Waiting for ${isNext ? what : 'the Lock'}` };
}

/** Undefined once the packages are read. */
function notRead(observation: Acquiring): Step | undefined {
  const { ptx, now, unread: reading } = observation;
  if (reading === undefined) return undefined;
  if (reading.kind === 'awaiting') return { kind: 'setStatus', ...awaitPackage(observation, reading) };
  const started = advanced(ptx.status, { startTime: ptx.status.startTime ?? timeOf(now), specDigest: ptx.specDigest });
  if (reading.kind === 'failed') return setStatus(ended(started, unread(reading.failure)), reading.failure.message);
  if (isOverdue(ptx.status, now)) return setStatus(ended(started, tooSlow), tooSlow.message);
  const status = ptx.status.tryTime === undefined ? advanced(started, { tryTime: timeOf(now) }) : ptx.status;
  return setStatus(status, 'the time of the call is over', 0.2, readingNote);
}

function deleting({ ptx }: Context, garbage: Acquiring['garbage'], because: string, note?: Note): Step {
  const noted = note === undefined ? {} : { note };
  return { kind: 'cleanUp', garbage, history: [], finalized: false, because, status: ptx.status, wait: 1, ...noted };
}

/** The hook deletes contents of earlier tries first. */
function abandon({ ptx, lock, now }: Acquiring): Step {
  const status = finished(ptx.status, { kind: 'Abandoned', message: 'it is being deleted' }, now);
  return releasing(ptx, lock, { because: 'it is being deleted before it has begun', status, wait: 1 });
}

function validating({ ptx: { status, specDigest }, now }: Context, number: number): Status {
  // What leaves is known until it is gone.
  const isKept = isForward(status);
  return advanced(status, {
    phase: 'Validating',
    number: status.number ?? number,
    startTime: status.startTime ?? timeOf(now),
    tryTime: status.tryTime ?? timeOf(now),
    specDigest,
    retryTime: undefined,
    outcome: undefined,
    handOverFault: undefined,
    handOverTime: undefined,
    stoppedTime: undefined,
    gapSeconds: isKept ? status.gapSeconds : undefined,
    settledTime: undefined,
    settledHolder: undefined,
    lockDigest: undefined,
    proposed: isKept ? status.proposed : undefined,
    replaced: isKept ? status.replaced : undefined,
    stages: [],
    made: 0,
    committed: 0,
  });
}

/** One that waits for a Package waits for that alone: a dry run would end. */
function waitBehind(holder: Holder, observation: Acquiring): Step {
  const { ptx, unread: reading } = observation;
  if (reading?.kind !== 'awaiting' || ptx.isDryRun) return waitFor(holder, observation);
  return { kind: 'setStatus', ...awaitPackage(observation, reading) };
}

/** The release of the Lock causes a call. Only the next in the queue has to notice soon that the holder is gone. */
const longestInQueueSeconds = 60;

function waitFor(holder: Holder, { ptx, unread: reading, before }: Acquiring): Step {
  // `settledHolder` names a holder before this one. If this holder were gone too, the hook would have to wait for the requests of
  // this holder. The time that other package transactions take does not count as time for reading.
  const { settledTime, tryTime } = ptx.status;
  const status =
    settledTime === undefined && tryTime === undefined
      ? ptx.status
      : advanced(ptx.status, { settledTime: undefined, settledHolder: undefined, tryTime: undefined });
  // A registry that fails meanwhile costs no try.
  const inTurn = Math.min(longestInQueueSeconds, safetyWaitSeconds * (1 + (before?.count ?? 0)));
  const seconds = reading?.kind === 'unfinished' ? 0.2 : inTurn;
  const note = inQueue(`package transaction ${holder.name}, which holds the Lock`, before === undefined);
  return setStatus(status, 'another package transaction holds the Lock', seconds, note);
}

// If a holder is gone, the hook first undoes the work that the holder had under way. If the holder had written the Lock, or deleted a
// part of what it replaces, the hook undoes nothing. Then the hook deletes the stages and contents of the holder, because no other process
// deletes them.
function adopt(observation: Acquiring, lock: JsonObject, holder: Holder): Step {
  const { ptx, now, lateWindow, garbage } = observation;
  if (ptx.isDryRun) return setStatus(ptx.status, 'a dry run undoes nothing', safetyWaitSeconds, noteOn(holder, notByDryRuns));
  const settled = millisecondsOf(ptx.status.settledTime);
  const settledHolder = digestOf({ name: holder.name, uid: holder.uid });
  // Another holder may have taken and released the Lock since the last call.
  if (settled === 0 || ptx.status.settledHolder !== settledHolder) {
    const status = advanced(ptx.status, { settledTime: timeOf(now + lateWindow), settledHolder });
    return setStatus(status, 'the holder of the Lock is gone', 1, noteOn(holder));
  }
  // A late request may be the write of the Lock.
  if (settled > now)
    return setStatus(ptx.status, 'a request of the former holder may be late', (settled - now) / 1000, noteOn(holder));
  const ending = holder.hasWritten || holder.isForward ? handingOver(observation, holder) : undoingOf(observation, holder);
  if (ending !== undefined) return ending;
  if (garbage.length > 0)
    return deleting(observation, garbage, 'stages and contents of the former holder are deleted', noteOn(holder));
  const status = advanced(ptx.status, { settledTime: undefined, settledHolder: undefined });
  return { kind: 'release', lock, because: 'nothing of the former holder of the Lock is left', status, wait: 0.2 };
}

const notByDryRuns = 'the next package transaction without spec.dryRun undoes what it had not finished';

function noteOn({ name }: Holder, next = 'what it had not finished is undone first'): Note {
  const message = `Package transaction ${name} held the Lock and is gone: ${next}`;
  return { reason: 'WaitingForLock', message };
}

/** Undefined once Crossplane has its revisions, or if the API server refuses: then the next package transaction tries it again. */
function handingOver({ ptx: { status }, paused = [] }: Acquiring, holder: Holder): Step | undefined {
  if (paused.length === 0 || status.handOverFault !== undefined) return undefined;
  return { ...handOver(paused, status), note: noteOn(holder) };
}

/** Undefined once all of its stages are undone. */
function undoingOf({ ptx, leftStages, paused = [] }: Acquiring, holder: Holder): Step | undefined {
  const because = 'what the former holder has installed is undone';
  if (paused.length > 0) return { kind: 'takeBack', paused, because, status: ptx.status, wait: 0.2, note: noteOn(holder) };
  const undone = undoLast(ptx, leftStages);
  if (undone.kind === 'all') return undefined;
  if (undone.kind === 'step') return { ...undone.step, note: noteOn(holder) };
  const name = textAt(undone.stage, 'metadata', 'name');
  const annotation = undone.kind === 'refused' ? `${requestRollback} and a new value` : 'tx.janus.io/retry-rollback';
  return setStatus(ptx.status, 'a stage of the former holder cannot be undone', safetyWaitSeconds, {
    reason: 'WaitingForLock',
    message: `Transaction ${name} of package transaction ${holder.name}, which is gone, could not be undone: fix what its status names, then annotate it with ${annotation}, or delete it`,
  });
}
