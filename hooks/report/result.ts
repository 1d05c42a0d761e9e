// What a step and its outcome come to: look again within this call, or answer with a status.

import { describeFailure } from '../checks/failures.ts';
import { describeFaults } from '../checks/fault.ts';
import type { Answer, Failed } from '../cluster.ts';
import type { Step } from '../decide/step.ts';
import { applied, disowned, left, prepared, released, restored, stopped, undoing } from '../decide/transitions.ts';
import { waitOut } from '../decide/waiting.ts';
import type { Failure } from '../model/failure.ts';
import { textAt } from '../model/json.ts';
import { describe } from '../model/reference.ts';
import { isSealed } from '../model/snapshot.ts';
import type { Status } from '../model/status.ts';
import type { Carry } from '../observe/begin.ts';
import type { Observation } from '../observe/observation.ts';
import type { Attempt, Outcome, Plan } from '../plan/mutation.ts';
import { refOf } from '../plan/snapshot.ts';
import { type AppliedContext, factsOf } from './facts.ts';
import { takenLocks } from './locks.ts';

export type Result =
  | { readonly kind: 'again'; readonly carry: Carry }
  | { readonly kind: 'answer'; readonly status: Status; readonly resyncAfterSeconds: number; readonly finalized: boolean };

export interface Done {
  readonly observation: Observation;
  readonly plan: Plan;
  readonly outcome: Outcome;
  readonly carry: Carry;
  readonly context: AppliedContext;
  /** Every write of this call got a definitive answer. */
  readonly isSettled: boolean;
}

export function resultOf(step: Step, done: Done): Result {
  if (done.plan.kind === 'refused')
    return answer(stoppedBy(done.observation, describeFaults(done.plan.faults), done.plan.faults[0]?.reason));
  switch (step.kind) {
    case 'become':
    case 'yield':
      return answer(step.status, step.resyncAfterSeconds);
    case 'look':
      return { kind: 'again', carry: { ...done.carry, renewing: true } };
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
    case 'compensate':
      return afterCompensation(step, done);
    case 'release':
      return transientOf(done.outcome) === undefined
        ? answer(released(done.observation.status))
        : held(done, 'giving locks back');
    case 'disown':
      return afterDisown(step, done);
    case 'settle':
      return afterSettle(done);
  }
}

export function answer(status: Status, resyncAfterSeconds = 0, finalized = false): Result {
  return { kind: 'answer', status, resyncAfterSeconds, finalized };
}

export function again({ carry }: Done): Result {
  return { kind: 'again', carry };
}

function isFailed(attempt: Attempt): attempt is Attempt & { readonly answer: Failed } {
  return attempt.answer.kind === 'failed';
}

function failuresOf(outcome: Outcome): readonly Failure[] {
  return outcome.filter(isFailed).map((attempt) => attempt.answer.failure);
}

export function transientOf(outcome: Outcome): Failure | undefined {
  return failuresOf(outcome).find(({ kind }) => kind === 'transient');
}

/** Transient trouble: phase and items stay, the next call tries again. */
export function held({ observation, outcome }: Done, what: string): Result {
  const failure = transientOf(outcome);
  const step = failure === undefined ? undefined : waitOut(observation.status, what, failure);
  return step?.kind === 'become' ? answer(step.status, step.resyncAfterSeconds) : answer(observation.status, 1);
}

export function stoppedBy({ status, now }: Observation, message: string, reason = 'Refused'): Status {
  return stopped(status, { reason, message }, now, new Map());
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

// An absent object is judged again; a Create can only miss its Namespace or its kind.
function afterFailure(step: Extract<Step, { kind: 'apply' }>, done: Done, failure: Failure): Result {
  const { observation } = done;
  const isToBeJudged =
    failure.kind === 'stale' || failure.kind === 'exists' || (failure.kind === 'absent' && step.entry.type !== 'Create');
  if (isToBeJudged) return again(done);
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

function afterDisown(step: Extract<Step, { kind: 'disown' }>, done: Done): Result {
  const [failure] = failuresOf(done.outcome);
  if (failure?.kind === 'transient') return held(done, 'taking our field manager off');
  return failure?.kind === 'stale' ? again(done) : answer(disowned(done.observation.status, step.index));
}

function afterSettle(done: Done): Result {
  const failures = failuresOf(done.outcome);
  if (failures.some(({ kind }) => kind === 'transient')) return held(done, 'letting go of the Transaction');
  return failures.some(({ kind }) => kind === 'stale') ? again(done) : answer(done.observation.status, 0, true);
}
