// An undo that a user requests after the Transaction has ended. The engine takes the locks again and decides the undo as a whole
// (whole-undo.ts). Then the undo begins, or the engine refuses it. A plan makes this decision without locks.

import { type JsonObject, textAt } from '../../objects/json.ts';
import { formatTime, parseTime } from '../../objects/time.ts';
import { foreign } from '../../objects/words.ts';
import { keptWith } from '../checks/needs.ts';
import { type UndoChoices, undoChoicesOf, unlistedBy } from '../checks/undo-choices.ts';
import { returnedFor } from '../due.ts';
import { fencedUntil } from '../in-flight/in-flight.ts';
import { lockOf } from '../locks/lease.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { Status } from '../model/status.ts';
import { annotations } from '../model/transaction.ts';
import { amountOf, type Request, type UndoFinding, type UndoReason } from '../model/undo.ts';
import type { LockView, Observation, ObservedTo, RelockView } from '../observe/observation.ts';
import { acting } from './barred.ts';
import { forgedDrift } from './guards.ts';
import { acquireLocks } from './locks.ts';
import { locksOf } from './pending.ts';
import { isFinal, unlessFinal, waitOnce } from './refusals.ts';
import type { SetStatus, Step } from './step.ts';
import { answered, released, waitingForLocksSince, waitingSince, waitingToUndo, withLeases } from './transitions.ts';
import { undoingAgain } from './undo-transitions.ts';
import { lastsForRequest } from './unlistable-kinds.ts';
import { isTooLong, patience, refusalPause, setStatus } from './waiting.ts';
import { answerOf, decideWhole, type UndoDecision } from './whole-undo.ts';

/** Answers what an undo would do. */
export function decidePlanUndo(observation: Observation, view: ObservedTo<'planUndo'>): Step {
  const { status } = observation;
  const { request } = view;
  const stored = storedOf(observation, view);
  if ('kind' in stored) return stored;
  const faults = undoChoicesOf(observation.transaction, targetsOf(stored.entries)).faults;
  if (faults.length > 0) return withoutEffect(status, request, faults.join('; '));
  if (view.survey === undefined) return surveyFirst;
  const once = refusedOnce(observation, status, false);
  if (once !== undefined) return once;
  const idle = idleExceptions(observation, view.survey);
  if (idle.length > 0) return withoutEffect(status, request, idle.join('; '));
  const decision = decisionOf(observation, stored.entries, view.survey);
  const answer = answerOf(decision, request, 'Planned');
  return setStatus({ ...answered(status, request), undo: answer }, answer.message);
}

const surveyFirst: Step = { kind: 'readMore', survey: true, because: 'evaluating the undo of every change' };

export function decideReacquire(observation: Observation, view: ObservedTo<'reacquire'>): Step {
  const { status, now } = observation;
  const { request } = view;
  const stored = storedOf(observation, view);
  if ('kind' in stored) return stored;
  const leases = stored.entries.map(({ target }) => lockOf(target).name);
  const withLocks = withLeases(status, leases);
  return acquireLocks(observation, view.locks, {
    acquired: () => decideUndo(observation, { ...view, ...stored, withLocks, leases }),
    waiting: (message) => waitingToUndo(withLocks, now, message),
    waitedTooLong: (message) => withoutEffect(withLocks, request, `${message}; set another value to try again`),
    refused: ({ message }) => withoutEffect(withLocks, request, message),
    since: waitingForLocksSince(status),
  });
}

interface Stored {
  readonly entries: readonly SnapshotEntry[];
}

/** The snapshot that the undo rests on, or the step without it. */
function storedOf(observation: Observation, view: RelockView & { readonly request: Request }): Stored | Step {
  const { status } = observation;
  const { snapshot, brokenDrift, request } = view;
  if (snapshot.kind === 'trouble')
    return unlessFinal(observation, { status, what: 'reading the snapshot', failure: snapshot.failure }, ({ message }) =>
      withoutEffect(status, request, message),
    );
  if (snapshot.kind === 'broken') return withoutEffect(status, request, snapshot.message);
  const forged = brokenDrift.map(forgedDrift).at(0);
  return forged === undefined ? { entries: snapshot.entries } : withoutEffect(status, request, forged);
}

/** The request is answered and has no effect. */
export function withoutEffect(status: Status, request: Request, why: string): SetStatus {
  const message = `${request.annotation}="${request.value}" has no effect: ${why}`;
  return setStatus(answered(status, request, message), message);
}

interface Requested extends Stored {
  readonly request: Request;
  readonly locks: LockView;
  readonly survey?: readonly UndoFinding[];
  /** The status that names the locks. */
  readonly withLocks: Status;
  readonly leases: readonly string[];
}

function decideUndo(observation: Observation, view: Requested): Step {
  const { status, now, transaction } = observation;
  const { request, entries, survey, locks, leases, withLocks } = view;
  const choices = undoChoicesOf(transaction, targetsOf(entries));
  const early = voidChoices(observation, view, choices.faults) ?? lateWrite(observation, view);
  if (early !== undefined) return early;
  if (survey === undefined) return surveyFirst;
  const once = refusedOnce(observation, waitingToUndo(withLocks, now, ''), true);
  if (once !== undefined) return once;
  const decision = decisionOf(observation, entries, afterPatience(observation, survey));
  const stopped =
    voidChoices(observation, view, idleExceptions(observation, survey)) ?? notYet(observation, view, decision, choices);
  if (stopped !== undefined) return stopped;
  const begun = undoingAgain(status, request, now, { ...locksOf(locks, leases), ...decision });
  return setStatus(begun, 'a rollback was requested, every change can be undone, and all locks are acquired');
}

/** The first of two refusals of a read that the engine needs: with the second refusal, every change is blocked. */
function refusedOnce(observation: Observation, status: Status, isNews: boolean): Step | undefined {
  const { barred } = observation;
  return barred === undefined || isFinal(observation) ? undefined : waitOnce(status, acting, barred, isNews);
}

function voidChoices(observation: Observation, view: Requested, faults: readonly string[]): Step | undefined {
  if (faults.length === 0) return undefined;
  return refused(observation, view, withoutEffect(observation.status, view.request, faults.join('; ')).status);
}

/** Why exceptions are void: the kind can be listed, or is not known, or the undo need not list it. Not while more must be read first. */
function idleExceptions({ transaction }: Observation, survey: readonly UndoFinding[]): readonly string[] {
  const found = [...new Set(survey.flatMap(({ unlistable = [] }) => unlistable))];
  const idle = [...unlistedBy(transaction)].filter((kind) => !found.includes(kind));
  const isUnread = survey.some(({ verdict, isBlockedLater }) => verdict === 'Undecided' && isBlockedLater !== true);
  if (idle.length === 0 || isUnread) return [];
  const may = found.length === 0 ? 'this undo can list all kinds that it needs: leave it out' : `it may name ${found.join(', ')}`;
  const names = `${annotations.undoUnlisted} names ${foreign(idle.join(', '), longestKinds)}`;
  return [`${names}, which can be listed, is not served, or is not needed; ${may}`];
}

const longestKinds = 320;

/** A change that is Undecided for too long is Blocked: everything else does not wait for it. */
function afterPatience(observation: Observation, survey: readonly UndoFinding[]): readonly UndoFinding[] {
  if (!lastsForRequest(observation, waitingSince(observation.status) ?? observation.now)) return survey;
  return survey.map((finding) => (finding.isBlockedLater === true ? blockedNow(finding) : finding));
}

function blockedNow(finding: UndoFinding): UndoFinding {
  const { index, reason, message, state } = finding;
  return {
    ...{ index, verdict: 'Blocked', state },
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    // It may be packed.
    get object() {
      return finding.object;
    },
  };
}

// W4: a write that lands after the decision would make it untrue.
function lateWrite({ status, ownWrites, lateWindow, now }: Observation, { withLocks }: Requested): Step | undefined {
  const until = fencedUntil({ status, ownWrites }, lateWindow);
  if (now > until) return undefined;
  const message = `waiting until ${formatTime(until)}: a write may still be in flight`;
  return setStatus(waitingToUndo(withLocks, now, message), message, patience);
}

function notYet(observation: Observation, view: Requested, decision: UndoDecision, choices: UndoChoices): Step | undefined {
  // Nothing at all could be undone without the ServiceAccount.
  const isPartial = choices.isPartial && observation.barred === undefined;
  const isBlocked = amountOf(decision.counts, 'Blocked') > 0;
  const isUndecided = amountOf(decision.counts, 'Undecided') > 0;
  if (!isPartial && isUndecided && !isBlocked && !isOverdue(observation)) return waitForReads(observation, view, decision);
  if (!isPartial && (isBlocked || isUndecided)) return refusedUndo(observation, view, decision, 'UndoRefused');
  const isOther = choices.digest !== undefined && choices.digest !== decision.digest;
  return isOther ? refusedUndo(observation, view, decision, 'PlanChanged') : undefined;
}

function decisionOf(
  { status, transaction }: Observation,
  entries: readonly SnapshotEntry[],
  findings: readonly UndoFinding[],
): UndoDecision {
  const choices = undoChoicesOf(transaction, targetsOf(entries));
  const items = findings.map((finding) => ({
    index: finding.index,
    target: targetOf(entries, finding.index),
    // Unpacked each time: they are not all in memory at once.
    get object() {
      return finding.object;
    },
  }));
  const neededBy = { kept: keptWith(items, choices.keep), blocked: neededByBlocked(items, findings, choices) };
  return decideWhole({ status, transaction, findings, choices, neededBy });
}

/** A partial undo leaves what is blocked, and takes away nothing that this needs (needed.ts). */
function neededByBlocked(
  items: Parameters<typeof keptWith>[0],
  findings: readonly UndoFinding[],
  { isPartial }: UndoChoices,
): ReadonlyMap<number, number> {
  if (!isPartial) return new Map();
  const indexesOf = (...verdicts: readonly UndoFinding['verdict'][]): ReadonlySet<number> =>
    new Set(findings.filter(({ verdict }) => verdicts.includes(verdict)).map(({ index }) => index));
  const taken = indexesOf('Delete', 'Restore');
  return new Map([...keptWith(items, indexesOf('Blocked'))].filter(([index]) => taken.has(index)));
}

function targetsOf(entries: readonly SnapshotEntry[]) {
  return entries.map(({ target }) => target);
}

function targetOf(entries: readonly SnapshotEntry[], index: number) {
  const entry = entries.find((one) => one.index === index);
  if (entry === undefined) throw new Error(`the snapshot has no entry for spec.changes[${index}]`);
  return entry.target;
}

function isOverdue(observation: Observation): boolean {
  const { status, transaction, now } = observation;
  const waited = now - (waitingSince(status) ?? now);
  // While the undo takes its locks again, the process does not count on.
  const isReturned = status.locksReturnedAt !== undefined;
  return isTooLong(isReturned ? { refusedFor: waited } : observation) || waited > transaction.timeout;
}

/** ms for which a requested undo holds its locks while it waits for reads; the second number while its own lists take that long. */
const holding = { most: 10_000, listing: 60_000 } as const;

// At first the Transaction keeps the locks: the decisions about the other changes stay true. A longer wait must not hold up others: the
// undo gives the locks back, and takes them again before each later try.
function waitForReads(observation: Observation, { withLocks, locks }: Requested, { items }: UndoDecision): Step {
  const { status, now } = observation;
  const first = items.find(({ verdict }) => verdict === 'Undecided');
  const message = `waiting to undo: ${first?.target}: ${first?.message}`;
  const waiting = waitingToUndo(withLocks, now, message);
  const leases = heldOf(locks);
  const most = items.some(({ reason }) => reason === 'DeadlineExceeded') ? holding.listing : holding.most;
  const isShort = status.locksReturnedAt === undefined && now <= acquiredAt(leases, now) + most;
  if (isShort) return setStatus(waiting, message, refusalPause(observation));
  return {
    kind: 'releaseAndWait',
    leases,
    status: { ...waiting, locksReturnedAt: now },
    held: waiting,
    because: message,
    wait: { seconds: returnedFor, isRefusal: true },
  };
}

/** When the last of these locks was acquired, in ms. */
function acquiredAt(leases: readonly JsonObject[], now: number): number {
  return Math.max(...leases.map((lease) => parseTime(textAt(lease, 'spec', 'acquireTime')) ?? now), 0);
}

function heldOf({ states }: LockView): readonly JsonObject[] {
  return [...states.values()].flatMap((state) => (state.kind === 'present' ? [state.object] : []));
}

function refusedUndo(observation: Observation, view: Requested, decision: UndoDecision, reason: UndoReason): Step {
  const undo = answerOf(decision, view.request, reason);
  return refused(observation, view, { ...answered(observation.status, view.request), undo });
}

/** Nothing is undone. The locks are released at once: a status that names them would not be one of an end. */
function refused({ status }: Observation, { locks, leases }: Requested, answer: Status): Step {
  const message = answer.undo?.message ?? answer.message;
  return {
    kind: 'releaseAndWait',
    leases: heldOf(locks),
    status: released(answer, status.unsettledAt),
    held: withLeases(answer, leases),
    because: message,
    wait: 'none',
  };
}
