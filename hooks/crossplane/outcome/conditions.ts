// The conditions of a package transaction, computed from its status: Validated, Installed, Ready, Synced, Finished.
import { type JsonObject, textAt } from '../../objects/json.ts';
import { cut } from '../../objects/words.ts';
import type { Note } from '../decide/step.ts';
import { deletionOf, type PackageTransaction } from '../model/package-transaction.ts';
import type { Outcome, Status } from '../model/status.ts';

interface Condition {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

const condition = (status: Condition['status'], reason: string, message: string): Condition => ({ status, reason, message });

const valid = condition('True', 'AllValidationsPassed', 'Pre-flight validation completed successfully');
/** The condition Installed of a change, and Ready if it failed. */
const installation = {
  pending: condition('Unknown', 'InstallationPending', 'Installation pending validation completion'),
  inProgress: condition('Unknown', 'InstallationInProgress', 'Package installation in progress'),
  complete: condition('True', 'InstallationComplete', 'Package installation completed successfully'),
  failed: condition('False', 'InstallationFailed', 'Transaction installation failed'),
};
const deletion = {
  pending: condition('Unknown', 'DeletionPending', 'Deletion pending validation completion'),
  inProgress: condition('Unknown', 'DeletionInProgress', 'Package deletion in progress'),
  complete: condition('False', 'DeletionComplete', 'Package deletion completed successfully'),
  failed: condition('False', 'DeletionFailed', 'Transaction deletion failed'),
} satisfies typeof installation;
/** Nothing is changed, whatever the result is. */
const unchanged = condition('False', 'DryRun', 'Nothing is changed: spec.dryRun is true');
const dryRun: typeof installation = { pending: unchanged, inProgress: unchanged, complete: unchanged, failed: unchanged };
const executing = condition('Unknown', 'TransactionInProgress', 'Transaction is currently executing');
const ready = condition('True', 'TransactionComplete', 'Transaction completed successfully');
const unvalidated = condition('False', 'ValidationFailed', 'Transaction validation failed');

type Conditions = Readonly<Record<'Validated' | 'Installed' | 'Ready', Condition>>;

function installConditions(status: Status, note: Note | undefined, change: typeof installation): Conditions {
  const { phase, outcome } = status;
  if (phase === 'RollingBack') {
    const why = cut(`Rolling back: ${outcome?.message ?? ''}`, longest);
    return { Validated: valid, Installed: condition('Unknown', 'RollingBack', why), Ready: executing };
  }
  const passed = withMessage(valid, [status.lostValues]);
  // Before its next try, the condition names what the package transaction waits for. The end of the last try does not show what
  // somebody may have to repair.
  const waits = phase === 'Waiting' && isWaiting(note);
  if (outcome !== undefined && !waits) return endOf(status, outcome, change);
  if (phase === 'Waiting' || phase === 'Validating')
    return { Validated: openingOf(phase, note), Installed: change.pending, Ready: executing };
  return { Validated: passed, Installed: change.inProgress, Ready: executing };
}

function isWaiting(note: Note | undefined): boolean {
  return note?.reason === 'WaitingForLock' || note?.reason === 'WaitingForPackage' || isWithoutCrossplane(note);
}

/** Whatever its phase is, it makes no progress. */
function isWithoutCrossplane(note: Note | undefined): boolean {
  return note?.reason === 'WaitingForCrossplane';
}

function openingOf(phase: Status['phase'], note: Note | undefined): Condition {
  if (note !== undefined && note.reason !== 'ReconcileError') return condition('Unknown', note.reason, note.message);
  if (phase === 'Waiting') return condition('Unknown', 'WaitingForLock', 'Waiting for the Lock');
  return condition('Unknown', 'Resolving', 'Resolving the packages');
}

function endOf(status: Status, outcome: Outcome, change: typeof installation): Conditions {
  const { lockDigest } = status;
  const { kind, step, reason = change.failed.reason, message = '' } = outcome;
  if (kind === 'Succeeded') return succeeded(status, message, change.complete);
  if (kind === 'Abandoned') {
    // If the status has the digest of the Lock that the try was resolved against, the tree was found valid.
    const Validated = lockDigest === undefined ? condition('Unknown', 'Resolving', `Not resolved: ${message}`) : valid;
    return { Validated, Installed: { ...change.failed, message: `Nothing is changed: ${message}` }, Ready: change.failed };
  }
  if (step === 'Deletion') return cleanupPending(condition('False', reason, message), change);
  if (step !== 'Validation') return { Validated: valid, Installed: condition('False', reason, message), Ready: change.failed };
  // A fault of a registry is no verdict on the packages.
  const Validated = reason === 'Unavailable' ? condition('Unknown', 'Resolving', message) : condition('False', reason, message);
  return { Validated, Installed: change.pending, Ready: unvalidated };
}

/** Parts of the package are deleted, and parts are left. After a Replace the new packages are installed. */
function cleanupPending(left: Condition, change: typeof installation): Conditions {
  return { Validated: valid, Installed: change === deletion ? left : change.complete, Ready: left };
}

/** The Lock is written, and Crossplane has not got all revisions. */
function waitOf({ handOverFault }: Status): string | undefined {
  return handOverFault && `Crossplane does not run it yet, and the hook tries again: ${handOverFault}`;
}

function succeeded(status: Status, message: string, complete: Condition): Conditions {
  const Installed = withMessage(complete, [message, status.lostValues, waitOf(status)]);
  return { Validated: valid, Installed, Ready: status.phase === 'Succeeded' ? ready : executing };
}

function withMessage(one: Condition, more: readonly (string | undefined)[]): Condition {
  return { ...one, message: [one.message, ...more].filter(Boolean).join('; ') };
}

const longest = 8_000;

/** The reasons of faults of a registry. */
const troubles = ['Unavailable', 'FetchDenied'];

function synced({ outcome, handOverFault }: Status, note: Note | undefined): Condition {
  if (handOverFault !== undefined) return condition('False', 'ReconcileError', handOverFault);
  if (note?.reason === 'ReconcileError' || note?.reason === 'WaitingForCrossplane')
    return condition('False', note.reason, note.message);
  const isTrouble = troubles.includes(outcome?.reason ?? '') && !isWaiting(note);
  return isTrouble
    ? condition('False', 'ReconcileError', outcome?.message ?? '')
    : condition('True', 'ReconcileSuccess', 'The last call succeeded');
}

function finished({ phase }: Status): Condition {
  if (phase === 'Succeeded') return condition('True', 'TransactionComplete', 'It succeeded');
  if (phase === 'Failed') return condition('True', 'TransactionFailed', 'It failed and is not tried again');
  return condition('False', 'TransactionInProgress', 'It is under way, or will be tried again');
}

function changeOf(ptx: Changing): typeof installation {
  if (ptx.isDryRun) return dryRun;
  return deletionOf(ptx) === undefined ? installation : deletion;
}

type Changing = Pick<PackageTransaction, 'generation' | 'isDryRun' | 'wanted'>;

/** All conditions. A condition whose status stays keeps its time. */
export function conditionsOf(status: Status, note: Note | undefined, ptx: Changing, now: string): readonly JsonObject[] {
  const all = {
    ...installConditions(status, note, changeOf(ptx)),
    Synced: synced(status, note),
    Finished: finished(status),
  };
  return Object.entries(all).map(([type, one]) => {
    const before = status.conditions.find((other) => textAt(other, 'type') === type);
    const since = textAt(before, 'status') === one.status ? textAt(before, 'lastTransitionTime') : undefined;
    return {
      type,
      ...one,
      message: cut(one.message, longest),
      lastTransitionTime: since ?? now,
      observedGeneration: ptx.generation,
    };
  });
}
