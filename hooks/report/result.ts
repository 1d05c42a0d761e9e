// What a step and its outcome come to: look again within this call, or answer with a status.

import { describeFailure } from '../checks/failures.ts';
import { describeFaults } from '../checks/fault.ts';
import type { Answer } from '../cluster.ts';
import { amending } from '../decide/drift.ts';
import type { Step } from '../decide/step.ts';
import { applied, left, prepared, released, restored, undoing } from '../decide/transitions.ts';
import type { Failure } from '../model/failure.ts';
import { textAt } from '../model/json.ts';
import { describe } from '../model/reference.ts';
import { isSealed } from '../model/snapshot.ts';
import type { Observation } from '../observe/observation.ts';
import { refOf } from '../plan/snapshot.ts';
import { again, answer, type Done, failuresOf, held, type Result, stoppedBy, transientOf } from './answer.ts';
import { afterDisown, afterExpiry, afterSettle } from './ends.ts';
import { factsOf, storedDrift } from './facts.ts';
import { takenLocks } from './locks.ts';

export function resultOf(step: Step, done: Done): Result {
  if (done.plan.kind === 'refused')
    return answer(stoppedBy(done.observation, describeFaults(done.plan.faults), done.plan.faults[0]?.reason));
  switch (step.kind) {
    case 'become':
    case 'yield':
      return answer(step.status, step.resyncAfterSeconds);
    case 'look':
      return { kind: 'again', carry: { ...done.carry, ...(step.at === 'leases' ? { renewing: true } : { readsTarget: true }) } };
    case 'take':
      return takenLocks(done);
    case 'renew':
      return afterRenew(done);
    case 'store':
      return afterStore(step, done);
    case 'discard':
      return transientOf(done.outcome) === undefined ? again(done) : held(done, 'discarding an incomplete snapshot');
    case 'apply':
      return afterApply(step, done);
    case 'amend':
      return afterAmend(step, done);
    case 'compensate':
      return afterCompensation(step, done);
    case 'release':
      return transientOf(done.outcome) === undefined
        ? answer(released(done.observation.status))
        : held(done, 'giving locks back');
    case 'disown':
      return afterDisown(step, done);
    case 'expire':
      return afterExpiry(done);
    case 'settle':
      return afterSettle(done);
  }
}

function afterRenew(done: Done): Result {
  return transientOf(done.outcome) === undefined
    ? { kind: 'again', carry: { ...done.carry, renewing: false } }
    : held(done, 'renewing locks');
}

function afterStore(step: Extract<Step, { kind: 'store' }>, done: Done): Result {
  const { observation, outcome, plan, carry } = done;
  const [failure] = failuresOf(outcome);
  if (failure === undefined) {
    const writes = plan.kind === 'sequence' ? plan.writes : [];
    return answer(prepared(observation.status, refOf(step.name, writes)));
  }
  if (failure.kind === 'transient') return held(done, 'storing the snapshot');
  const isSecondName = observation.view.kind === 'prepare' && carry.snapshotTaken && carry.snapshotName === 0;
  if (failure.kind === 'exists')
    return { kind: 'again', carry: { ...carry, snapshotTaken: true, snapshotName: isSecondName ? 1 : carry.snapshotName } };
  return answer(stoppedBy(observation, `the snapshot cannot be stored: ${failure.message}`, failure.reason));
}

function afterApply(step: Extract<Step, { kind: 'apply' }>, done: Done): Result {
  const { observation, outcome, context } = done;
  const last = outcome.at(-1)?.answer;
  if (last === undefined) return again(done);
  if (last.kind === 'ok') {
    const facts = factsOf(step.entry, step.live, last.object, context);
    return answer(applied(observation.status, step.index, facts, observation.now));
  }
  return afterFailure(step, done, last.failure);
}

function afterAmend(step: Extract<Step, { kind: 'amend' }>, { observation, context }: Done): Result {
  const drift = storedDrift(step.drift, step.entry, context);
  return answer(drift === undefined ? observation.status : amending(observation.status, step.index, drift));
}

// An absent object is judged again; a Create can only miss its Namespace or its kind.
function afterFailure(step: Extract<Step, { kind: 'apply' }>, done: Done, failure: Failure): Result {
  const { observation } = done;
  const isToBeJudged =
    failure.kind === 'stale' || failure.kind === 'exists' || (failure.kind === 'absent' && step.entry.type !== 'Create');
  if (isToBeJudged) return { kind: 'again', carry: { ...done.carry, readsTarget: true } };
  if (failure.kind === 'transient') return held(done, `${step.entry.type} of ${describe(step.entry.target)}`);
  if (failure.kind === 'absent' && isYoungDefinition(observation)) {
    return answer({ ...observation.status, message: `waiting until the API server serves ${step.entry.target.kind}` }, 0.2);
  }
  const detail = describeFailure(failure, isSealed(step.entry.target, observation.transaction.namespace));
  const message = `${step.entry.type} of ${describe(step.entry.target)} was refused: ${detail}`;
  // Refused for good, and nothing else was ever sent for it: there is nothing to take back.
  const isUntouched = done.isSettled && observation.recollection.isSettled;
  return answer(
    undoing(observation.status, { reason: failure.reason, message }, observation.now, { index: step.index, isUntouched }),
  );
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
  const note = step.judged.kind === 'recreate' ? step.judged.note : undefined;
  if (step.judged.kind === 'delete' && last !== undefined && !isGone(last)) {
    return answer(
      { ...observation.status, message: `${describe(step.entry.target)} is being deleted; waiting until it is gone` },
      0.2,
    );
  }
  return answer(restored(observation.status, step.index, observation.now, note));
}

// The answer to a DELETE is a Status when the object is gone, the object itself while something keeps it.
function isGone(last: Answer): boolean {
  return last.kind === 'ok' && textAt(last.object, 'kind') === 'Status' && textAt(last.object, 'apiVersion') === 'v1';
}

function afterUndoFailure(step: Extract<Step, { kind: 'compensate' }>, done: Done, failure: Failure): Result {
  const { observation } = done;
  if (failure.kind === 'transient') return held(done, `undoing ${step.entry.type} of ${describe(step.entry.target)}`);
  const mayVanish = failure.kind === 'absent' && step.judged.kind !== 'recreate';
  if (failure.kind === 'stale' || failure.kind === 'exists' || mayVanish) return again(done);
  const detail = describeFailure(failure, isSealed(step.entry.target, observation.transaction.namespace));
  const message = `undoing ${step.entry.type} of ${describe(step.entry.target)} was refused: ${detail}`;
  return answer(left(observation.status, step.index, observation.now, { reason: failure.reason, message }));
}
