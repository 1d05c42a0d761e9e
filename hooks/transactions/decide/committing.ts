// Prepared and Committing: the announced change is applied, recognised as applied, or found to be impossible.

import type { Precondition } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import { describe, kindOf } from '../../objects/reference.ts';
import { type ApplyEvidence, type ApplyVerdict, evaluateApply } from '../attribution/apply.ts';
import { withDrift } from '../attribution/drift.ts';
import { effectOf } from '../attribution/effect.ts';
import { asKept } from '../attribution/kept-scale.ts';
import { evaluateRestore, type Restoring } from '../attribution/restore.ts';
import { driftRoom } from '../checks/room.ts';
import { howToAllow, joined, missingOwners, noted, unlistedKindsNote } from '../hazards/messages.ts';
import { evaluateHazards, takenByRollback } from '../hazards/table.ts';
import { hasTurn, isSettled } from '../in-flight/in-flight.ts';
import { madeOf } from '../model/change.ts';
import { isSealed, type SnapshotEntry } from '../model/entry.ts';
import { isCreatingHalf, isDeletingHalf } from '../model/halves.ts';
import { keptNote } from '../model/scale-note.ts';
import { managersOfChange, mayBreak } from '../model/transaction.ts';
import type { ItemView, Observation } from '../observe/observation.ts';
import { preconditionOf } from '../writes/resources.ts';
import { type Clear, firstLease, guard, lockLost, stepIfBlocked, unreadable } from './guards.ts';
import { unlessFinal } from './refusals.ts';
import type { Step } from './step.ts';
import { applied } from './transitions.ts';
import { undoing } from './undo-transitions.ts';
import { unlistableAtDelete } from './unlistable-kinds.ts';
import { patience, setStatus, waitOut } from './waiting.ts';
import { windowEnd } from './window.ts';

export function decideApply(observation: Observation, view: ItemView): Step {
  const { status, now } = observation;
  const guarded = guard(observation, view);
  return guarded.kind === 'clear'
    ? (takeTurn(observation, view) ?? decideChange(observation, view, guarded))
    : stepIfBlocked(observation, view, guarded, {
        lost: (cause) => undoing(status, cause, now),
        lockLost: ({ index }) => lockLost(observation, index),
      });
}

// W1: a change is sent under a name that no answer has called settled.
function takeTurn(observation: Observation, view: ItemView): Step | undefined {
  const { status, ownWrites } = observation;
  const first = firstLease(status, view.leases);
  if (first === undefined) return lockLost(observation, 0);
  const traces = { status, first, ownWrites };
  if (hasTurn(traces)) return undefined;
  return {
    kind: 'sign',
    lease: first,
    isSettled: isSettled(traces),
    because: 'this process signs the first Lease before it writes',
  };
}

function decideChange(observation: Observation, view: ItemView, { entry, drift }: Clear): Step {
  const { status, transaction } = observation;
  if (view.live.kind === 'trouble') return failedRead(observation, entry, view.live.failure);
  const live = view.live.kind === 'present' ? view.live.object : undefined;
  const evidence: ApplyEvidence = {
    entry: asKept(entry, live),
    live,
    change: madeOf(view.change, entry),
    uid: transaction.uid,
    managers: managersOfChange(transaction, view.change),
    drift,
    recorded: false,
    isSealed: isSealed(entry, transaction),
    driftRoom: driftRoom(status, transaction.size),
  };
  const { verdict, restoring } = verdictOn(evidence, view);
  if (isToBeRead(view, verdict))
    return { kind: 'readMore', entry, because: `${describe(entry.target)} must be read before the Transaction` };
  return verdict.kind === 'send'
    ? send(observation, view, evidence, { precondition: verdict.precondition, restoring })
    : stepForVerdict(observation, evidence, verdict);
}

// What a rollback brings back or changes is written as an undo is.
function verdictOn(
  evidence: ApplyEvidence,
  { hazards }: ItemView,
): { readonly verdict: ApplyVerdict; readonly restoring?: Restoring } {
  if (evidence.entry.restores !== true || evidence.entry.type === 'Delete') return { verdict: evaluateApply(evidence) };
  const verdict = evaluateRestore({ ...evidence, hazards });
  if (verdict.kind !== 'restore') return { verdict };
  return { verdict: { kind: 'send', precondition: preconditionOf(evidence.live) }, restoring: verdict.how };
}

interface Sent {
  readonly precondition: Precondition | undefined;
  readonly restoring: Restoring | undefined;
}

// W5: the write names a version that the engine read before it read the Transaction, or no version.
function isToBeRead({ liveFrom }: ItemView, verdict: ApplyVerdict): boolean {
  const isSent = verdict.kind === 'send';
  return liveFrom === 'assumed' ? !isSent : liveFrom === 'now' && isSent && verdict.precondition !== undefined;
}

// A Delete also deletes objects that were created after the checks: the engine lists them in the call that sends the Delete.
function send(
  observation: Observation,
  view: ItemView,
  { entry, live, change, drift, isSealed }: ApplyEvidence,
  { precondition, restoring }: Sent,
): Step {
  const { status, now } = observation;
  const name = describe(entry.target);
  if (view.hazards.trouble !== undefined)
    return unlessFinal(
      observation,
      { status, what: `listing what would be deleted with ${name}`, failure: view.hazards.trouble },
      (cause) => setStatus(undoing(status, cause, now, entry.index), cause.message),
    );
  const irreversible = entry.type === 'Delete' ? irreversibleStep(observation, view, entry, undefined) : undefined;
  if (irreversible !== undefined) return irreversible;
  const unlistable = unlistableAtDelete(observation, view, entry);
  if (unlistable !== undefined) return unlistable;
  const untimely = byTrial(observation, view, entry);
  if (untimely !== undefined) return untimely;
  const kept = keptNote(entry, change, live ?? entry.prior, isSealed);
  const how = howToRestore(view, restoring);
  const note = joined(unlistedKindsNote({ ...view.hazards, failingKinds: [] }), kept, how.restoring?.note);
  const apply = {
    kind: 'apply',
    index: entry.index,
    change,
    entry,
    // What an Update keeps, it keeps of the former object, as that was when it was deleted.
    live: isCreatingHalf(entry) ? withDrift(entry, drift).prior : live,
    precondition,
    ...how,
    because: `${entry.type} ${name}`,
  } as const;
  return note === undefined ? apply : { ...apply, note };
}

function howToRestore({ hazards }: ItemView, restoring: Restoring | undefined): { readonly restoring?: Restoring } {
  return restoring === undefined ? {} : { restoring, ...{ goneOwners: missingOwners(hazards) } };
}

// A deferred dry run counts only now, whatever pre-flight took for likely. Its result could not be known before.
function byTrial(observation: Observation, view: ItemView, entry: SnapshotEntry): Step | undefined {
  const { index, type, target } = entry;
  const { tried } = view;
  if (tried === undefined) {
    const because = `the dry run of ${describe(target)} is due`;
    return entry.deferred === true ? { kind: 'readMore', entry, because } : undefined;
  }
  if (tried.kind === 'failed')
    return { kind: 'refused', index, entry, failure: tried.failure, because: `${type} ${describe(target)}: its dry run failed` };
  if (view.irreversible !== undefined) return notUndoable(observation, entry, view.irreversible);
  return type === 'Delete' ? undefined : irreversibleStep(observation, view, entry, tried.object);
}

/** The end of a change by which others would lose something: it makes `after` of the object. */
function irreversibleStep(
  observation: Observation,
  { live, hazards }: ItemView,
  entry: SnapshotEntry,
  after: JsonObject | undefined,
): Step | undefined {
  const { target, resource, prior } = entry;
  const undo = entry.restores === true && after === undefined ? { undo: takenByRollback } : {};
  const evaluate = (before: JsonObject | undefined) =>
    evaluateHazards({ kind: kindOf(resource), target, before, after, ...undo }, hazards);
  // An earlier change may have made a part of it, such as a default of a CRD. It counts from the state before the Transaction, too.
  const found = mayBreak(observation.transaction)
    ? undefined
    : (evaluate(live.kind === 'present' ? live.object : undefined) ?? evaluate(prior));
  return found === undefined ? undefined : notUndoable(observation, entry, found.message);
}

function notUndoable({ status, now }: Observation, { index, type, target }: SnapshotEntry, why: string): Step {
  const message = `${type} of ${describe(target)} cannot be undone: ${why}; ${howToAllow}`;
  return setStatus(undoing(status, { reason: 'Irreversible', message }, now, index), message);
}

function stepForVerdict(
  observation: Observation,
  { entry, live, managers, change, isSealed }: ApplyEvidence,
  verdict: Exclude<ApplyVerdict, { kind: 'send' }>,
): Step {
  const { status, transaction, pace, now } = observation;
  const { index } = entry;
  switch (verdict.kind) {
    case 'done': {
      const effect = {
        index,
        facts: {
          ...effectOf(entry, { before: entry.prior, after: live, forward: managers.forward }),
          ...noted(keptNote(entry, change, live, isSealed)),
        },
        gating: transaction,
        end: windowEnd(transaction, index + 1, pace, status.items),
        isFirstHalf: isDeletingHalf(entry),
      };
      return setStatus(applied(status, effect, now), `${entry.type} ${describe(entry.target)} was already applied`);
    }
    case 'recordDrift': {
      const because = `${describe(entry.target)} changed since its snapshot: what the change would overwrite is recorded before`;
      return { kind: 'recordDrift', index: entry.index, entry, drift: verdict.drift, because };
    }
    case 'wait':
      return setStatus({ ...status, message: verdict.message }, verdict.message, patience);
    case 'conflict':
      return setStatus(undoing(status, verdict, now, entry.index), verdict.message);
  }
}

function failedRead({ status, transaction, now }: Observation, entry: SnapshotEntry, failure: Failure): Step {
  if (failure.kind === 'transient') return waitOut(status, `reading ${describe(entry.target)}`, failure);
  const cause = unreadable(failure, entry, transaction);
  return setStatus(undoing(status, cause, now, entry.index), cause.message);
}
