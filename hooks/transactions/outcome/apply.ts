// The result of applying one change: it took effect, the engine reads or tries again, or it undoes all changes. It first tries a refused
// write again if the write may lag behind the change before it (lagging.ts).

import type { Failure } from '../../objects/failure.ts';
import { describe } from '../../objects/reference.ts';
import { describeRefusal, shownWarnings, withWords } from '../checks/refusal.ts';
import type { Step } from '../decide/step.ts';
import { applied, withRecordedDrift } from '../decide/transitions.ts';
import { undoing } from '../decide/undo-transitions.ts';
import { windowEnd } from '../decide/window.ts';
import { shortened } from '../decide/wording.ts';
import { isDeletingHalf } from '../model/halves.ts';
import { reasonOfFailure } from '../model/reason.ts';
import { driftOf, storedDrift } from '../snapshots/drift.ts';
import { again, answer, driftContext, type PerformedStep, type Result, waitForRecovery } from './answer.ts';
import { factsOf } from './facts.ts';
import { heardLater, triedAgain } from './lagging.ts';
import { placesTaken } from './places.ts';
import { isFinal, refusedOnce } from './refused.ts';

export function afterApply(step: Extract<Step, { kind: 'apply' }>, done: PerformedStep): Result {
  const { observation, outcome } = done;
  const last = outcome.at(-1)?.answer;
  if (last === undefined) return again(done);
  if (last.kind === 'ok') {
    const context = driftContext(done);
    const earlier = driftOf(observation.status, step.entry, context);
    const facts = factsOf(step.entry, step.live, last.object, { ...context, earlier: earlier === 'broken' ? [] : earlier });
    const { status, transaction, pace, now } = observation;
    const warned = { ...facts, ...shownWarnings(last, step.entry, transaction) };
    const noted = step.note === undefined ? warned : { ...warned, note: shortened(step.note) };
    const { index } = step;
    const end = windowEnd(transaction, index + 1, pace, status.items);
    const effect = { index, facts: noted, gating: transaction, end, isFirstHalf: isDeletingHalf(step.entry) };
    // A gate opens once the write is made, which may have taken long.
    return answer(applied(status, effect, Math.max(now, last.serverTime)));
  }
  return afterFailure(step, done, last.failure);
}

export function afterRecordDrift(step: Extract<Step, { kind: 'recordDrift' }>, done: PerformedStep): Result {
  const { observation } = done;
  const drift = storedDrift(step.drift, step.entry, driftContext(done));
  return answer(drift === undefined ? observation.status : withRecordedDrift(observation.status, step.index, drift));
}

// Like the result of the change itself, except that the engine has not counted the tries.
export function afterTrial(step: Extract<Step, { kind: 'refused' }>, done: PerformedStep): Result {
  const { failure, index } = step;
  return afterFailure(step, done, isFinal(done.carry.refused, index) ? { ...failure, kind: 'refused' } : failure);
}

// An absent object is evaluated again; a Create can only miss its Namespace or its kind.
function afterFailure(step: Extract<Step, { kind: 'apply' | 'refused' }>, done: PerformedStep, failure: Failure): Result {
  const { observation } = done;
  const isToEvaluateAgain =
    failure.kind === 'stale' || failure.kind === 'exists' || (failure.kind === 'absent' && step.entry.type !== 'Create');
  if (isToEvaluateAgain) return again(done, { ...refusedOnce(done, step.index, failure), reads: step.entry });
  const { entry } = step;
  if (failure.kind === 'transient')
    return waitForRecovery(
      done,
      `${entry.type} of ${describe(entry.target)}`,
      withWords(failure, entry, observation.transaction),
    );
  const later = triedAgain(done, step.index, failure) ?? heardLater(done, step.entry, failure);
  if (later !== undefined) return later;
  const detail = describeRefusal(failure, step.entry, observation.transaction);
  const name = `${step.entry.type} of ${describe(step.entry.target)}`;
  const message = `${name} was refused: ${detail}${placesTaken(step, failure, observation)}`;
  return answer(undoing(observation.status, { reason: reasonOfFailure(failure), message }, observation.now, step.index));
}
