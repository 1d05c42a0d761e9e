// Prepared and Committing: the announced change is applied, recognised as applied, or found to be impossible.

import { describeFailure } from '../checks/failures.ts';
import { definitionState } from '../content/definition.ts';
import type { Failure } from '../model/failure.ts';
import type { JsonObject } from '../model/json.ts';
import { describe } from '../model/reference.ts';
import { isSealed, type SnapshotEntry } from '../model/snapshot.ts';
import { fieldManagers } from '../model/transaction.ts';
import type { Observation } from '../observe/observation.ts';
import { isSignedBy } from '../writes/lease.ts';
import { driftOf } from './drift.ts';
import { type Forward, type ForwardEvidence, judgeForward } from './forward.ts';
import { type Guarded, guard, type ItemView } from './guards.ts';
import { uidOf } from './judge.ts';
import type { Step } from './step.ts';
import { applied, undoing } from './transitions.ts';
import { become, waitFor, waitOut } from './waiting.ts';

export function decideApply(observation: Observation, view: ItemView, index: number): Step {
  const guarded = guard(observation, view, index);
  if (guarded.kind !== 'clear') return heldUp(observation, view, guarded, index);
  return isSignedBy(observation.server, guarded.lease) ? decideChange(observation, view, guarded.entry) : sign(guarded.lease);
}

function sign(lease: JsonObject): Step {
  return { kind: 'renew', leases: [lease], because: 'another process has served this change before' };
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

/** All our Leases are renewed together; they are read first. */
export function renew(view: ItemView): Step {
  const because = 'less than half of the life of a lock is left';
  return view.leases.length === 0 ? { kind: 'look', at: 'leases', because } : { kind: 'renew', leases: view.leases, because };
}

function lockLost({ status, now }: Observation, index: number): Step {
  const message = `the lock of spec.changes[${index}] was taken by another Transaction or deleted: spec.lockTimeout is too short, or the engine was away`;
  return become(undoing(status, { reason: 'LockLost', message }, now), message);
}

function decideChange(observation: Observation, view: ItemView, entry: SnapshotEntry): Step {
  const { status, transaction, now } = observation;
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
  };
  const judged = judgeForward(evidence);
  if (view.isAssumed && judged.kind !== 'send')
    return { kind: 'look', at: 'target', because: `${describe(entry.target)} must be read to be judged` };
  return byJudgement(observation, evidence, judged, now);
}

function byJudgement(observation: Observation, { entry, live }: ForwardEvidence, judged: Forward, now: number): Step {
  const { status } = observation;
  switch (judged.kind) {
    case 'send':
      return {
        kind: 'apply',
        index: entry.index,
        entry,
        live,
        precondition: judged.precondition,
        because: `${entry.type} ${describe(entry.target)}`,
      };
    case 'done': {
      const uid = uidOf(live);
      const facts = entry.type === 'Create' && uid !== undefined ? { uid } : {};
      return become(applied(status, entry.index, facts, now), `${entry.type} ${describe(entry.target)} had taken effect already`);
    }
    case 'amend': {
      const because = `annotations of ${describe(entry.target)} have changed since its snapshot: they are stored before it is deleted`;
      return { kind: 'amend', index: entry.index, entry, drift: judged.drift, because };
    }
    case 'conflict':
      return become(undoing(status, judged, now, { index: entry.index, isUntouched: false }), judged.message);
  }
}

function failedRead({ status, transaction, now }: Observation, entry: SnapshotEntry, failure: Failure): Step {
  if (failure.kind === 'transient') return waitOut(status, `reading ${describe(entry.target)}`, failure);
  const message = `${describe(entry.target)} cannot be read: ${describeFailure(failure, isSealed(entry.target, transaction.namespace))}`;
  return become(undoing(status, { reason: failure.reason, message }, now, { index: entry.index, isUntouched: false }), message);
}

/** ms that a CustomResourceDefinition may take until its kind is served. */
export const definitionPatience = 30_000;

function awaitDefinition({ status, now }: Observation, view: ItemView, entry: SnapshotEntry): Step | undefined {
  const state = view.definition === undefined ? undefined : definitionState(view.definition);
  if (state === undefined || state.isEstablished || now > state.created + definitionPatience) return undefined;
  return waitFor(status, `waiting until the API server serves ${entry.target.kind}`, 0.2);
}
