// What a step and its outcome come to: look again within this call, or answer with a status.

import { describeFaults } from '../checks/fault.ts';
import { describeRefusal } from '../checks/refusal.ts';
import type { Answer } from '../cluster.ts';
import type { Ended } from '../decide/backward.ts';
import { amending } from '../decide/drift.ts';
import { uidOf } from '../decide/judge.ts';
import { unsettledAtRelease } from '../decide/settled.ts';
import type { Step } from '../decide/step.ts';
import { applied, prepared, released } from '../decide/transitions.ts';
import { left, restored, undoing } from '../decide/undo-transitions.ts';
import { undoLater, undoOut } from '../decide/waiting.ts';
import { windowEnd } from '../decide/window.ts';
import { shortened } from '../decide/wording.ts';
import type { Failure } from '../model/failure.ts';
import { textAt } from '../model/json.ts';
import { reasonOfFailure } from '../model/reason.ts';
import { describe } from '../model/reference.ts';
import type { Status } from '../model/status.ts';
import type { Observation } from '../observe/observation.ts';
import { refOf } from '../plan/snapshot.ts';
import { again, answer, type Done, failuresOf, held, type Result, stoppedBy, taken, transientOf } from './answer.ts';
import { afterDisown, afterExpiry, afterSettle } from './ends.ts';
import { factsOf, storedDrift } from './facts.ts';
import { triedAgain } from './lagging.ts';
import { takenLocks } from './locks.ts';
import { placesTaken, snapshotRefused } from './places.ts';
import { isFinal, refusedOnce } from './refused.ts';

export function resultOf(step: Step, done: Done): Result {
  if (done.plan.kind === 'refused')
    return answer(stoppedBy(done.observation, describeFaults(done.plan.faults), done.plan.faults[0]?.reason));
  switch (step.kind) {
    case 'become':
    case 'yield':
      return answer(step.status, step.resyncAfterSeconds);
    case 'look':
      return { kind: 'again', carry: { ...done.carry, ...('others' in step ? { others: step.others } : { reads: step.entry }) } };
    case 'take':
      return takenLocks(done);
    case 'renew':
      return againUnlessHeld(done, 'renewing locks');
    case 'sign':
      return againUnlessHeld(done, 'signing a lock');
    case 'store':
      return afterStore(step, done);
    case 'discard':
      return againUnlessHeld(done, 'discarding an incomplete snapshot');
    case 'apply':
      return afterApply(step, done);
    case 'refused':
      return afterTrial(step, done);
    case 'amend':
      return afterAmend(step, done);
    case 'compensate':
      return afterCompensation(step, done);
    case 'release':
      return transientOf(done.outcome) === undefined
        ? answer(released(done.observation.status, unsettledAtRelease(done.observation)))
        : held(done, 'giving locks back');
    case 'disown':
      return afterDisown(step, done);
    case 'expire':
      return afterExpiry(done);
    case 'settle':
      return afterSettle(done);
  }
}

function againUnlessHeld(done: Done, what: string): Result {
  return transientOf(done.outcome) === undefined ? again(done) : held(done, what);
}

function afterStore(step: Extract<Step, { kind: 'store' }>, done: Done): Result {
  const { observation, outcome, plan, carry } = done;
  const [failure] = failuresOf(outcome);
  if (failure === undefined) {
    const writes = plan.kind === 'sequence' ? plan.writes : [];
    const { status, transaction, pace } = observation;
    return answer(noted(prepared(status, refOf(step.name, writes), windowEnd(transaction.changes, 0, pace)), step));
  }
  if (failure.kind === 'transient') return held(done, 'storing the snapshot');
  if (failure.kind === 'exists')
    return { kind: 'again', carry: { ...carry, snapshotTaken: outcome.at(-1)?.write.location.name ?? step.name } };
  const { message, reason } = snapshotRefused(failure, done);
  return answer(stoppedBy(observation, message, reason));
}

function noted(status: Status, { targets }: Extract<Step, { kind: 'store' }>): Status {
  const items = status.items.map((item, index) => {
    const note = targets[index]?.note;
    return note === undefined ? item : { ...item, note: shortened(note) };
  });
  return { ...status, items };
}

function afterApply(step: Extract<Step, { kind: 'apply' }>, done: Done): Result {
  const { observation, outcome, context } = done;
  const last = outcome.at(-1)?.answer;
  if (last === undefined) return again(done);
  if (last.kind === 'ok') {
    const facts = factsOf(step.entry, step.live, last.object, context);
    const noted = step.note === undefined ? facts : { ...facts, note: shortened(step.note) };
    const { status, transaction, pace, now } = observation;
    const { index } = step;
    return answer(applied(status, { index, facts: noted, end: windowEnd(transaction.changes, index + 1, pace) }, now));
  }
  return afterFailure(step, done, last.failure);
}

function afterAmend(step: Extract<Step, { kind: 'amend' }>, { observation, context }: Done): Result {
  const drift = storedDrift(step.drift, step.entry, context);
  return answer(drift === undefined ? observation.status : amending(observation.status, step.index, drift));
}

// The same as for the change itself, but that nobody has counted how often.
function afterTrial(step: Extract<Step, { kind: 'refused' }>, done: Done): Result {
  const { failure, index } = step;
  return afterFailure(step, done, isFinal(done.carry.refused, index) ? { ...failure, kind: 'refused' } : failure);
}

// An absent object is judged again; a Create can only miss its Namespace or its kind.
function afterFailure(step: Extract<Step, { kind: 'apply' | 'refused' }>, done: Done, failure: Failure): Result {
  const { observation } = done;
  const isToBeJudged =
    failure.kind === 'stale' || failure.kind === 'exists' || (failure.kind === 'absent' && step.entry.type !== 'Create');
  if (isToBeJudged) return { kind: 'again', carry: { ...refusedOnce(done, step.index, failure), reads: step.entry } };
  if (failure.kind === 'transient') return held(done, `${step.entry.type} of ${describe(step.entry.target)}`);
  if (failure.kind === 'absent' && isYoungDefinition(observation)) {
    return answer({ ...observation.status, message: `waiting until the API server serves ${step.entry.target.kind}` }, 0.2);
  }
  const later = triedAgain(done, step.index, failure);
  if (later !== undefined) return later;
  const detail = describeRefusal(failure, step.entry, observation.transaction);
  const name = `${step.entry.type} of ${describe(step.entry.target)}`;
  const message = `${name} was refused: ${detail}${placesTaken(step, failure, observation)}`;
  return answer(undoing(observation.status, { reason: reasonOfFailure(failure), message }, observation.now, step.index));
}

/** ms for which an instance of a kind that was just made may meet 404. */
const servingPatience = 30_000;

function isYoungDefinition({ view, now }: Observation): boolean {
  const created = view.kind === 'item' ? textAt(view.definition, 'metadata', 'creationTimestamp') : undefined;
  return created !== undefined && now <= Date.parse(created) + servingPatience;
}

function afterCompensation(step: Extract<Step, { kind: 'compensate' }>, done: Done): Result {
  const { observation, outcome } = done;
  const last = outcome.at(-1)?.answer;
  if (last?.kind === 'failed') return afterUndoFailure(step, done, last.failure);
  if (step.judged.kind === 'fence') return afterFence(step, step.judged.end, done);
  const note = 'note' in step.judged ? step.judged.note : undefined;
  if (step.judged.kind === 'delete' && last !== undefined && !isGone(last)) {
    const message = `${describe(step.entry.target)} is being deleted; waiting until it is gone`;
    return taken(undoLater(observation.status, step.index, message, 0.2));
  }
  const isNew = step.judged.kind === 'recreate' || step.judged.kind === 'complete';
  const uid = isNew && last?.kind === 'ok' ? uidOf(last.object) : undefined;
  return answer(restored(observation.status, step.index, observation.now, { note, uid }));
}

function afterFence({ index }: Extract<Step, { kind: 'compensate' }>, end: Ended, { observation }: Done): Result {
  const { status, now } = observation;
  return answer(end.kind === 'restored' ? restored(status, index, now, { note: end.note }) : left(status, index, now, end));
}

// The answer to a DELETE is a Status when the object is gone, the object itself while something keeps it.
function isGone(last: Answer): boolean {
  return last.kind === 'ok' && textAt(last.object, 'kind') === 'Status' && textAt(last.object, 'apiVersion') === 'v1';
}

function afterUndoFailure(step: Extract<Step, { kind: 'compensate' }>, done: Done, failure: Failure): Result {
  const { observation } = done;
  const { index } = step;
  if (failure.kind === 'transient')
    return taken(undoOut(observation.status, index, `undoing ${step.entry.type} of ${describe(step.entry.target)}`, failure));
  const mayVanish = failure.kind === 'absent' && step.judged.kind !== 'recreate';
  if (failure.kind === 'stale' || failure.kind === 'exists' || mayVanish)
    return { kind: 'again', carry: refusedOnce(done, index, failure) };
  // Who may not write the object waits until nothing can land any more.
  if (step.judged.kind === 'fence')
    return taken(
      undoLater(observation.status, index, `waiting: a write of ${describe(step.entry.target)} may still be on its way`),
    );
  const later = triedAgain(done, index, failure);
  if (later !== undefined) return later;
  const detail = describeRefusal(failure, step.entry, observation.transaction);
  const name = `${step.entry.type} of ${describe(step.entry.target)}`;
  const message = `undoing ${name} was refused: ${detail}${placesTaken(step, failure, observation)}`;
  return answer(left(observation.status, step.index, observation.now, { reason: reasonOfFailure(failure), message }));
}
