// Prepared and Committing: the announced change is applied, recognised as applied, or found to be impossible.

import { howToAllow, oneWay, takesAlong, unlistedNote } from '../checks/one-way.ts';
import { describeRefusal } from '../checks/refusal.ts';
import { driftRoom } from '../checks/room.ts';
import type { Precondition } from '../cluster.ts';
import { definitionState } from '../content/definition.ts';
import type { Failure } from '../model/failure.ts';
import { reasonOfFailure } from '../model/reason.ts';
import { describe } from '../model/reference.ts';
import { isSealed, type SnapshotEntry } from '../model/snapshot.ts';
import { fieldManagers, mayBreak } from '../model/transaction.ts';
import type { Observation } from '../observe/observation.ts';
import { writerOf } from '../writes/lease.ts';
import { driftOf } from './drift.ts';
import { effectOf } from './effect.ts';
import { type Forward, type ForwardEvidence, judgeForward } from './forward.ts';
import { firstLease, type Guarded, guard, type ItemView } from './guards.ts';
import { isSettled } from './in-flight.ts';
import type { Step } from './step.ts';
import { applied } from './transitions.ts';
import { undoing } from './undo-transitions.ts';
import { unseenAtDelete } from './unseen.ts';
import { become, waitFor, waitOut } from './waiting.ts';
import { windowEnd } from './window.ts';

export function decideApply(observation: Observation, view: ItemView, index: number): Step {
  const guarded = guard(observation, view, index);
  if (guarded.kind !== 'clear') return heldUp(observation, view, guarded, index);
  return takeTurn(observation, view) ?? decideChange(observation, view, guarded.entry);
}

// W1: a change is sent under a name that no answer has called settled.
function takeTurn(observation: Observation, view: ItemView): Step | undefined {
  const { status, recollection } = observation;
  const first = firstLease(status, view.leases);
  if (first === undefined) return lockLost(observation, 0);
  const writer = writerOf(first);
  if (recollection.isOpen && writer === recollection.writer && writer !== status.settledWriter) return undefined;
  const because = 'this process takes its turn';
  return { kind: 'sign', lease: first, isSettled: isSettled({ status, first, recollection }), because };
}

function heldUp(observation: Observation, view: ItemView, guarded: Exclude<Guarded, { kind: 'clear' }>, index: number): Step {
  const { status, now } = observation;
  switch (guarded.kind) {
    case 'trouble':
      return waitOut(status, guarded.what, guarded.failure);
    case 'lost':
      return become(undoing(status, guarded, now), guarded.message);
    case 'lease':
      return guarded.state === 'fading' ? renew(view) : lockLost(observation, index);
  }
}

/** All our Leases are renewed together. */
export function renew(view: ItemView): Step {
  return { kind: 'renew', leases: view.leases, because: 'less than half of the life of a lock is left' };
}

function lockLost({ status, now }: Observation, index: number): Step {
  const message = `the lock of spec.changes[${index}] was taken by another Transaction or deleted: spec.lockTimeout is too short, or the engine was away`;
  return become(undoing(status, { reason: 'LockLost', message }, now), message);
}

function decideChange(observation: Observation, view: ItemView, entry: SnapshotEntry): Step {
  const { status, transaction } = observation;
  const change = transaction.changes[entry.index];
  if (view.live.kind === 'trouble') return failedRead(observation, entry, view.live.failure);
  const unserved = awaitDefinition(observation, view, entry);
  if (unserved !== undefined || change === undefined) return unserved ?? waitFor(status, 'the change is not in the spec');
  const live = view.live.kind === 'present' ? view.live.object : undefined;
  const evidence: ForwardEvidence = {
    entry,
    live,
    change,
    uid: transaction.uid,
    managers: fieldManagers(transaction),
    drift: driftOf(status.items[entry.index], observation, entry),
    recorded: false,
    isSealed: isSealed(entry.target, transaction.namespace),
    driftRoom: driftRoom(status, transaction.size),
  };
  const judged = judgeForward(evidence);
  if (isToBeRead(view, judged))
    return { kind: 'look', entry, because: `${describe(entry.target)} must be read before the Transaction` };
  return judged.kind === 'send'
    ? send(observation, view, evidence, judged.precondition)
    : byJudgement(observation, evidence, judged);
}

// W5: what is sent names a version that was read before this look at the Transaction, or none.
function isToBeRead({ liveFrom }: ItemView, judged: Forward): boolean {
  const isSent = judged.kind === 'send';
  return liveFrom === 'assumed' ? !isSent : liveFrom === 'now' && isSent && judged.precondition !== undefined;
}

// What has come since the checks would go with it: it is looked for in the call that sends the Delete.
function send(
  observation: Observation,
  view: ItemView,
  { entry, live }: ForwardEvidence,
  precondition: Precondition | undefined,
): Step {
  const { status, now } = observation;
  const name = describe(entry.target);
  if (view.contentsTrouble !== undefined) return waitOut(status, `looking for what would go with ${name}`, view.contentsTrouble);
  const why = takesAlong(view.contents);
  if (why !== undefined) {
    const message = `${entry.type} of ${name} cannot be undone: ${why}; ${howToAllow}`;
    return become(undoing(status, { reason: 'Irreversible', message }, now, entry.index), message);
  }
  const unseen = unseenAtDelete(observation, view, entry);
  if (unseen !== undefined) return unseen;
  const untimely = byTrial(observation, view, entry);
  if (untimely !== undefined) return untimely;
  const note = unlistedNote(view.unlisted);
  const apply = { kind: 'apply', index: entry.index, entry, live, precondition, because: `${entry.type} ${name}` } as const;
  return note === undefined ? apply : { ...apply, note };
}

// A deferred dry run counts only now, whatever pre-flight took for likely; what it says could not be known before.
function byTrial({ status, transaction, now }: Observation, { tried }: ItemView, entry: SnapshotEntry): Step | undefined {
  const { index, type, target } = entry;
  if (tried === undefined) {
    const because = `the dry run of ${describe(target)} is due`;
    return entry.deferred === true ? { kind: 'look', entry, because } : undefined;
  }
  if (tried.kind === 'failed')
    return { kind: 'refused', index, entry, failure: tried.failure, because: `${type} ${describe(target)}: its dry run failed` };
  const why = mayBreak(transaction) ? undefined : oneWay(entry.prior, tried.object);
  if (why === undefined) return undefined;
  const message = `${type} of ${describe(target)} cannot be undone: ${why}; ${howToAllow}`;
  return become(undoing(status, { reason: 'Irreversible', message }, now, index), message);
}

function byJudgement(
  observation: Observation,
  { entry, live }: ForwardEvidence,
  judged: Exclude<Forward, { kind: 'send' }>,
): Step {
  const { status, transaction, pace, now } = observation;
  const { index } = entry;
  switch (judged.kind) {
    case 'done': {
      const effect = {
        index,
        facts: effectOf(entry.type, entry.prior, live),
        end: windowEnd(transaction.changes, index + 1, pace),
      };
      return become(applied(status, effect, now), `${entry.type} ${describe(entry.target)} had taken effect already`);
    }
    case 'amend': {
      const because = `annotations of ${describe(entry.target)} have changed since its snapshot: they are stored before it is deleted`;
      return { kind: 'amend', index: entry.index, entry, drift: judged.drift, because };
    }
    case 'conflict':
      return become(undoing(status, judged, now, entry.index), judged.message);
  }
}

function failedRead({ status, transaction, now }: Observation, entry: SnapshotEntry, failure: Failure): Step {
  if (failure.kind === 'transient') return waitOut(status, `reading ${describe(entry.target)}`, failure);
  const message = `${describe(entry.target)} cannot be read: ${describeRefusal(failure, entry, transaction)}`;
  return become(undoing(status, { reason: reasonOfFailure(failure), message }, now, entry.index), message);
}

/** ms that a CustomResourceDefinition may take until its kind is served. */
export const definitionPatience = 30_000;

function awaitDefinition({ status, now }: Observation, view: ItemView, entry: SnapshotEntry): Step | undefined {
  const state = view.definition === undefined ? undefined : definitionState(view.definition);
  if (state === undefined || state.isEstablished || now > state.created + definitionPatience) return undefined;
  return waitFor(status, `waiting until the API server serves ${entry.target.kind}`, 0.2);
}
