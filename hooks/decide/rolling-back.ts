// RollingBack: one change after the other, the last one first, is taken back or given up with its reason.
import { describeFailure } from '../checks/failures.ts';
import type { Failure } from '../model/failure.ts';
import { textAt } from '../model/json.ts';
import { describe } from '../model/reference.ts';
import { isSealed, type SnapshotEntry } from '../model/snapshot.ts';
import { formatDuration, parseTime } from '../model/timeouts.ts';
import { fieldManagers } from '../model/transaction.ts';
import type { Observation } from '../observe/observation.ts';
import { isSignedBy, lockOf } from '../writes/lease.ts';
import { type Backward, judgeBackward } from './backward.ts';
import { renew } from './committing.ts';
import { amended, driftOf } from './drift.ts';
import { type Guarded, guard, type ItemView } from './guards.ts';
import { judgeLocks } from './locks.ts';
import type { Step } from './step.ts';
import { takerOf } from './taking.ts';
import { concluded, left, restored } from './transitions.ts';
import { become, lockPatience, waitFor, waitOut } from './waiting.ts';

export function decideRestore(observation: Observation, view: ItemView, index: number): Step {
  const guarded = guard(observation, view, index);
  if (guarded.kind !== 'clear') return heldUp(observation, view, guarded, index);
  return awaitLateWrite(observation, view, guarded) ?? decideUndo(observation, view, guarded.entry);
}

function heldUp(observation: Observation, view: ItemView, guarded: Exclude<Guarded, { kind: 'clear' }>, index: number): Step {
  const { status, now } = observation;
  switch (guarded.kind) {
    case 'trouble':
      return waitOut(status, guarded.what, guarded.failure);
    case 'lost':
      return become(concluded(status, now, guarded), guarded.message);
    case 'lease':
      return guarded.state === 'fading' ? renew(view) : takeAgain(observation, view, index);
  }
}

// A lock that was lost while rolling back is taken again: what we changed must be taken back all the same.
function takeAgain(observation: Observation, view: ItemView, index: number): Step {
  const { status, now } = observation;
  const entry = view.snapshot.kind === 'stored' ? view.snapshot.entries[index] : undefined;
  if (entry === undefined) return waitFor(status, 'the snapshot has no entry for a lock');
  const lock = lockOf(entry.target);
  const locking = judgeLocks(
    { locks: [lock], states: new Map([[lock.name, view.lease]]), acquired: new Set() },
    takerOf(observation),
    now,
  );
  if (locking.kind === 'take') return { ...locking, kind: 'take', because: `the lock on ${describe(entry.target)} was lost` };
  return waitFor(status, `waiting to undo: ${describe(entry.target)} is locked by another Transaction`, lockPatience);
}

/**
 * A write whose fate is unknown, be it of this process or of another, may still land: the announced change is judged only when
 * it cannot any more. So is every Create: one whose answer was lost has been tried again, and the first try would land once the
 * object is gone. All others name the version that they replace.
 */
function awaitLateWrite(
  observation: Observation,
  view: ItemView,
  { entry: { index, type }, lease }: Extract<Guarded, { kind: 'clear' }>,
): Step | undefined {
  const { status, recollection, lateWindow, server } = observation;
  const isAnnounced = status.items[index]?.progress.kind === 'announced';
  const isSafe = !isAnnounced && (type !== 'Create' || isLongThere(observation, view));
  const isSettled = recollection.isSettled && isSignedBy(server, lease);
  if (isSafe || isSettled || recollection.isUndoOld) return undefined;
  return waitFor(
    status,
    `waiting up to ${formatDuration(lateWindow)}: a write of spec.changes[${index}] may still be on its way`,
  );
}

// What was created long ago was recorded long ago, and nobody has sent it since.
function isLongThere({ now, lateWindow }: Observation, { live }: ItemView): boolean {
  const created = live.kind === 'present' ? parseTime(textAt(live.object, 'metadata', 'creationTimestamp')) : undefined;
  return created !== undefined && now > created + 2 * lateWindow;
}

function decideUndo(observation: Observation, view: ItemView, entry: SnapshotEntry): Step {
  const { status, transaction, now } = observation;
  const trouble = view.live.kind === 'trouble' ? view.live.failure : view.contentsTrouble;
  if (trouble !== undefined) return failedRead(observation, entry, trouble);
  const item = status.items[entry.index];
  const drift = driftOf(item, observation, entry);
  const known = amended(entry, drift);
  const judged = judgeBackward({
    entry: known,
    live: view.live.kind === 'present' ? view.live.object : undefined,
    managers: fieldManagers(transaction),
    drift,
    recorded: item?.progress.kind === 'applied',
    uid: transaction.uid,
    createdUid: item?.uid,
    contents: view.contents,
    goneOwners: view.goneOwners,
  });
  return byJudgement({ observation, entry: known, goneOwners: view.goneOwners }, judged, now);
}

interface Judging {
  readonly observation: Observation;
  readonly entry: SnapshotEntry;
  readonly goneOwners: readonly string[];
}

function byJudgement({ observation, entry, goneOwners }: Judging, judged: Backward, now: number): Step {
  const { status } = observation;
  const { index } = entry;
  switch (judged.kind) {
    case 'restored':
      return become(
        restored(status, index, now, judged.note),
        judged.note ?? `nothing of ours is left of ${describe(entry.target)}`,
      );
    case 'wait':
      return waitFor(status, judged.message);
    case 'conflict':
      return become(left(status, index, now, judged), judged.message);
    default:
      return { kind: 'compensate', index, entry, judged, goneOwners, because: `undo ${entry.type} of ${describe(entry.target)}` };
  }
}

function failedRead({ status, transaction, now }: Observation, entry: SnapshotEntry, failure: Failure): Step {
  if (failure.kind === 'transient') return waitOut(status, `reading ${describe(entry.target)}`, failure);
  const message = `${describe(entry.target)} cannot be read: ${describeFailure(failure, isSealed(entry.target, transaction.namespace))}`;
  return become(left(status, entry.index, now, { reason: failure.reason, message }), message);
}
