// RollingBack: one change after the other, in the order of an undo (model/item.ts), is taken back or given up with its reason.

import { hasManager } from '../../objects/content/ownership.ts';
import type { FailureKind } from '../../objects/failure.ts';
import { textAt } from '../../objects/json.ts';
import { describe } from '../../objects/reference.ts';
import { formatTime, parseTime } from '../../objects/time.ts';
import { uidOf } from '../attribution/attribute.ts';
import { withDrift } from '../attribution/drift.ts';
import { asKept } from '../attribution/kept-scale.ts';
import { goneManagers } from '../attribution/other-transactions.ts';
import { evaluateUndo, type UndoEvidence, type UndoVerdict } from '../attribution/undo.ts';
import { missingOwners } from '../hazards/messages.ts';
import { fencedUntil, mayLandUntil } from '../in-flight/in-flight.ts';
import { lockOf } from '../locks/lease.ts';
import { isSealed, type SnapshotEntry } from '../model/entry.ts';
import { filledOf } from '../model/filled.ts';
import { gateOf } from '../model/gated.ts';
import { wasApplied } from '../model/item.ts';
import { isRequested, type Status } from '../model/status.ts';
import { managersOfChange, type Transaction } from '../model/transaction.ts';
import type { ItemView, Observation } from '../observe/observation.ts';
import { type Clear, firstLease, guard, type ReadTrouble, stepIfBlocked, troubleOf, unreadable } from './guards.ts';
import { acquirerOf, lockedBy, planAcquisition } from './locks.ts';
import { unlessNeeded } from './needed.ts';
import type { Step } from './step.ts';
import { concluded, notRestored, observed, restored } from './undo-transitions.ts';
import { unreadAtUndo, unreadBy, unservedObject } from './unlistable-kinds.ts';
import { lockPatience, setStatus, undoLater, undoOut } from './waiting.ts';

export function decideRestore(observation: Observation, view: ItemView): Step {
  const { status, now } = observation;
  const guarded = guard(observation, view);
  if (guarded.kind !== 'clear')
    return stepIfBlocked(observation, view, guarded, {
      lost: (cause) => concluded(status, now, cause),
      lockLost: (entry) => reacquire(observation, view, entry),
    });
  const { ownWrites, lateWindow } = observation;
  const until = mayLandUntil({ status, ownWrites, first: firstLease(status, view.leases) }, lateWindow);
  if (until === 'unobserved') return setStatus(observed(status, now), 'a write may still be in flight');
  const due = { ...guarded, until, fencedUntil: fencedUntil({ status, ownWrites }, lateWindow) };
  return awaitCreate(observation, view, due) ?? decideUndo(observation, view, due);
}

/** The change to undo. In ms, 0 for none: the ends of the late windows of changes (W4) and of fences (W6). */
interface Due extends Clear {
  readonly until: number;
  readonly fencedUntil: number;
}

// If a rollback has lost a lock, the engine takes the lock again: it must take our changes back in any case.
function reacquire(observation: Observation, view: ItemView, entry: SnapshotEntry): Step {
  const { status, now } = observation;
  const lock = lockOf(entry.target);
  const { lease, holders } = view;
  const locks = { locks: [lock], states: new Map([[lock.name, lease]]), acquired: new Set<string>(), holders };
  const acquisition = planAcquisition(locks, acquirerOf(observation), now);
  const because = `the lock on ${describe(entry.target)} was lost`;
  if (acquisition.kind === 'acquire') return { ...acquisition, isRegained: true, meanwhile: status, because };
  const why = acquisition.kind === 'blocked' ? lockedBy(acquisition) : because;
  return undoLater(status, view.index, `waiting to undo: ${why}`, lockPatience);
}

/**
 * (D6) A Create names no version (W5), so the engine waits for any of its writes that may still land. If an answer was lost, the engine
 * has perhaps tried the Create again. Then the first try would land after the object is gone.
 */
function awaitCreate(
  observation: Observation,
  view: ItemView,
  { entry: { index, type, target, recreates }, until }: Due,
): Step | undefined {
  // The undo of a change that recreates its object takes the name itself: a late write of its Create finds the former object there.
  const isOver = observation.now > until;
  if (isOver || type !== 'Create' || recreates === true || isLongThere(observation, view)) return undefined;
  const message = `waiting until ${formatTime(until)}: a write to ${describe(target)} may still be in flight`;
  return undoLater(observation.status, index, message);
}

// If an object was created long ago, the engine recorded it long ago, and no process has sent its Create since.
function isLongThere({ now, lateWindow }: Observation, { live }: ItemView): boolean {
  const created = live.kind === 'present' ? parseTime(textAt(live.object, 'metadata', 'creationTimestamp')) : undefined;
  return created !== undefined && now > created + 2 * lateWindow;
}

function decideUndo(observation: Observation, view: ItemView, due: Due): Step {
  const { entry } = due;
  const trouble = troubleOf(view, describe(entry.target));
  const unserved = unservedObject(view, entry);
  const step = unserved && unreadAtUndo(observation, entry, unserved);
  if (trouble !== undefined) return step ?? failedRead(observation, entry, trouble);
  const judged = judgeUndo(observation, view, due);
  const { evidence } = judged;
  const known = evidence.entry;
  const verdict = unlessNeeded(judged.verdict, observation, view, known);
  const unread = stepIfUnread(verdict, observation, view, evidence);
  if (unread !== undefined) return unread;
  const safe = isFenced(evidence, due) ? verdict : fenced(verdict, view, known, givesUpOn(observation, due));
  const lost = { goneOwners: missingOwners(view.hazards), goneManagers: goneManagers(evidence) };
  return stepForVerdict({ observation, entry: known, ...lost }, safe, observation.now);
}

type Seen = Pick<Observation, 'status' | 'transaction'>;
type Viewed = Pick<ItemView, 'item' | 'hazards' | 'others' | 'live' | 'change' | 'wasUnlocked'>;

interface Judged {
  readonly evidence: UndoEvidence;
  readonly verdict: UndoVerdict;
}

/** The verdict of the undo of one change, before the engine makes a write in flight miss. */
export function judgeUndo(observation: Seen, view: Viewed, clear: Pick<Clear, 'entry' | 'drift'>): Judged {
  const evidence = evidenceOf(observation, view, clear);
  return { evidence, verdict: evaluateUndo(evidence) };
}

/** Whether none of our writes can land any more, nor a write of another fence (W6). */
function isFenced({ live, managers, recorded }: UndoEvidence, { fencedUntil }: Due): boolean {
  // Who fenced it and died has left his mark: that is taken off again.
  return (fencedUntil === 0 || recorded) && !hasManager(live, [managers.restore]);
}

/** The failures of a fence with which the change ends as it would have ended with the fence (W6). */
function givesUpOn({ now, lateWindow }: Observation, { fencedUntil }: Due): readonly FailureKind[] {
  if (fencedUntil === 0 || now <= fencedUntil) return [];
  return now > fencedUntil + lateWindow ? ['refused', 'transient'] : ['refused'];
}

// Others rely on the objects that Kubernetes would delete with the object only if the Transaction was Committed, or if they are inside of it.
// Else the undo deletes the object unseen, and a note reports that.
function stepIfUnread(
  verdict: UndoVerdict,
  observation: Observation,
  { hazards }: ItemView,
  { entry, wasCommitted }: UndoEvidence,
): Step | undefined {
  const unread = unreadBy(verdict, hazards, entry, observation.transaction);
  const isOptional = verdict.kind === 'delete' && hazards.unlistableContents === undefined && !wasCommitted;
  return unread && unreadAtUndo(observation, entry, unread, isOptional);
}

function evidenceOf({ status, transaction }: Seen, view: Viewed, { entry, drift }: Pick<Clear, 'entry' | 'drift'>): UndoEvidence {
  const { item, hazards, others } = view;
  const live = view.live.kind === 'present' ? view.live.object : undefined;
  return {
    hazards,
    others,
    entry: asKept(withDrift(entry, drift), live),
    live,
    managers: managersOfChange(transaction, view.change),
    drift,
    recorded: item.progress.kind === 'applied',
    isSealed: isSealed(entry, transaction),
    uid: transaction.uid,
    filled: filledOf(transaction, view.change),
    createdUid: entry.type === 'Create' ? item.uid : undefined,
    wasCommitted: wasCommitted(transaction, status),
    version: item.resourceVersion,
    isRequested: isRequested(status),
    wasUnlocked: view.wasUnlocked,
    overwrites: item.overwrite === true,
    isUndone: item.undone === true,
  };
}

/** Whether all had been applied, and no gate was open then: what a gate has undone was never Committed. */
function wasCommitted(transaction: Transaction, { items }: Status): boolean {
  const isShut = (index: number): boolean => gateOf(transaction, index) !== undefined && items[index]?.gate?.passed !== true;
  return items.every((item, index) => wasApplied(item) && !isShut(index));
}

// W5: if the undo itself writes nothing to an existing object, the engine makes a write that may still land miss.
function fenced(
  verdict: UndoVerdict,
  { live }: ItemView,
  { prior }: SnapshotEntry,
  givesUpOn: readonly FailureKind[],
): UndoVerdict {
  if (verdict.kind !== 'restored' && verdict.kind !== 'conflict') return verdict;
  const isSame = live.kind === 'present' && prior !== undefined && uidOf(live.object) === uidOf(prior);
  return isSame ? { kind: 'fence', live: live.object, end: verdict, givesUpOn } : verdict;
}

interface VerdictContext {
  readonly observation: Observation;
  readonly entry: SnapshotEntry;
  readonly goneOwners: readonly string[];
  readonly goneManagers: readonly string[];
}

function stepForVerdict({ observation, entry, ...lost }: VerdictContext, verdict: UndoVerdict, now: number): Step {
  const { status } = observation;
  const { index } = entry;
  switch (verdict.kind) {
    case 'restored':
      return setStatus(
        restored(status, index, now, { note: verdict.note }),
        verdict.note ?? `${describe(entry.target)} needs no undo`,
      );
    case 'wait':
      return undoLater(status, index, verdict.message);
    case 'conflict':
      return setStatus(notRestored(status, index, now, verdict), verdict.message);
    case 'readMore':
      return {
        kind: 'readMore',
        others: verdict.others,
        because: `reading other Transactions that changed ${describe(entry.target)}`,
      };
    default:
      return { kind: 'compensate', index, entry, verdict, ...lost, because: `undo ${entry.type} of ${describe(entry.target)}` };
  }
}

function failedRead({ status, transaction, now }: Observation, entry: SnapshotEntry, { what, failure }: ReadTrouble): Step {
  if (failure.kind === 'transient') return undoOut(status, entry.index, what, failure);
  const cause = unreadable(failure, entry, transaction);
  return setStatus(notRestored(status, entry.index, now, cause), cause.message);
}
