// Conditions follow from the rest of the status, all at once, so that they cannot contradict each other or the phase.
//
// I15. Conditions agree with the phase and with each other; Finished is True only when the Leases are gone.

import { formatTime } from '../../objects/time.ts';
import { waitingSince } from '../decide/transitions.ts';
import { holdsLocks } from '../due.ts';
import { firstLeft } from '../model/item.ts';
import { isTerminal, type Phase } from '../model/phase.ts';
import type { ConditionReason } from '../model/reason.ts';
import type { Condition, Status } from '../model/status.ts';

interface Verdict {
  readonly status: Condition['status'];
  readonly reason: ConditionReason;
  readonly message: string;
}

function verdict(status: Condition['status'], reason: ConditionReason, message = ''): Verdict {
  return { status, reason, message };
}

function is(truth: boolean, reason: ConditionReason, message = ''): Verdict {
  return verdict(truth ? 'True' : 'False', reason, message);
}

/** Each condition's verdict; `Ready`, `Reconciling` and `Stalled` are those of kstatus. */
const verdicts: Readonly<Record<string, (status: Status) => Verdict>> = {
  Finished: (status) => is(isFinished(status), finishedReason(status)),
  Succeeded: succeeded,
  Prepared: (status) => is(status.rollbackRef !== undefined, status.rollbackRef === undefined ? 'NoSnapshot' : 'SnapshotStored'),
  Committed: (status) => is(status.phase === 'Committed', status.phase),
  RolledBack: (status) => is(status.phase === 'RolledBack', status.phase),
  Ready: (status) => is(status.phase === 'Committed' && isFinished(status), readyReason(status), gateMessage(status)),
  Reconciling: (status) => is(!isFinished(status), isGateOpen(status) ? 'WaitingForGate' : status.phase, gateMessage(status)),
  Stalled: (status) => stalled(status),
};

export const conditionTypes = Object.keys(verdicts);
export const undoRefused = 'UndoRefused';

/** It is there only while the last request was for an undo, and the engine has refused it. */
function refusedUndo({ undo }: Status): readonly (readonly [string, Verdict])[] {
  return undo === undefined || undo.reason === 'Planned' ? [] : [[undoRefused, verdict('True', undo.reason, undo.message)]];
}

function isFinished(status: Status): boolean {
  return isTerminal(status.phase) && !holdsLocks(status);
}

// A Transaction that has ended and holds locks releases them, or takes them again for a requested undo.
function finishedReason(status: Status): ConditionReason {
  if (isFinished(status) || !isTerminal(status.phase)) return status.phase;
  return waitingSince(status) === undefined ? 'ReleasingLocks' : 'WaitingForLocks';
}

/** Whether the engine waits for the gates of applied changes. */
function isGateOpen({ phase, items }: Status): boolean {
  const isOpen = items.some(({ progress, gate }) => progress.kind === 'applied' && gate !== undefined && gate.passed !== true);
  return phase === 'Committing' && isOpen;
}

function gateMessage(status: Status): string {
  return isGateOpen(status) ? status.message : '';
}

// In kstatus what still reconciles is not ready.
function readyReason(status: Status): ConditionReason {
  if (isGateOpen(status)) return 'WaitingForGate';
  return status.phase === 'Committed' ? finishedReason(status) : status.phase;
}

function succeeded(status: Status): Verdict {
  const { phase } = status;
  const cause = failureOf(status);
  if (phase === 'Committed') return verdict('True', 'Committed');
  const failing: readonly Phase[] = ['RollingBack', 'RolledBack', 'Failed'];
  return failing.includes(phase) ? verdict('False', cause?.reason ?? phase, cause?.message ?? '') : verdict('Unknown', phase);
}

// For a requested rollback that failed, the reason of the failure is shown.
function failureOf({ phase, cause, items, message }: Status): Status['cause'] {
  if (phase !== 'Failed' || cause?.reason !== 'RollbackRequested') return cause;
  const left = firstLeft(items);
  return left?.error === undefined ? cause : { reason: left.error.reason, message };
}

function stalled(status: Status): Verdict {
  const isStalled = isFinished(status) && status.phase !== 'Committed';
  return is(isStalled, isStalled ? (failureOf(status)?.reason ?? status.phase) : status.phase, isStalled ? status.message : '');
}

// Without one, a status from another writer would pass on a value that the CRD refuses.
function isTime(text: string): boolean {
  return /^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d(\.\d{1,9})?(Z|[+-][0-2]\d:[0-5]\d)$/.test(text);
}

/** The conditions of a status (I15); the time of a transition is kept if the condition's status did not change. */
export function conditionsOf(status: Status, before: readonly Condition[], now: number): readonly Condition[] {
  const found = Object.entries(verdicts).map(([type, verdictOf]) => [type, verdictOf(status)] as const);
  return [...found, ...refusedUndo(status)].map(([type, one]) => {
    const earlier = before.find((old) => old.type === type && old.status === one.status && isTime(old.lastTransitionTime));
    return { type, ...one, lastTransitionTime: earlier?.lastTransitionTime ?? formatTime(now) };
  });
}
