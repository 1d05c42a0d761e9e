// How a step can come out, and what the ways have in common.

import type { Failed, Packer } from '../../objects/cluster.ts';
import type { Failure, Passing } from '../../objects/failure.ts';
import type { Attempt, Outcome } from '../../objects/mutation.ts';
import { withOwnWords } from '../checks/refusal.ts';
import { driftRoom } from '../checks/room.ts';
import type { SetStatus } from '../decide/step.ts';
import { stopped } from '../decide/transitions.ts';
import { hungUpMessage, isHungUp, isTooLong, waitForWebhook, waitOut } from '../decide/waiting.ts';
import type { Due } from '../due.ts';
import { type Reason, reasonOfFailure } from '../model/reason.ts';
import type { Status } from '../model/status.ts';
import type { Wait } from '../model/wait.ts';
import type { Carry } from '../observe/carry.ts';
import type { Observation } from '../observe/observation.ts';
import type { Plan } from '../plan/plan.ts';
import type { DriftContext } from '../snapshots/drift.ts';

export type Result =
  /** `pause`: ms before. */
  | { readonly kind: 'again'; readonly carry: Carry; readonly pause?: number }
  | { readonly kind: 'answer'; readonly status: Status; readonly wait: Wait; readonly finalized: boolean };

export interface PerformedStep {
  readonly observation: Observation;
  readonly plan: Plan;
  readonly outcome: Outcome;
  readonly carry: Carry;
  readonly packer: Packer;
}

export function answer(status: Status, wait: Wait = 'none', finalized = false): Result {
  return { kind: 'answer', status, wait, finalized };
}

/** Another attempt in this call. `learned`: what it knows beyond what this attempt knew. `pause`: ms before it. */
export function again({ carry }: PerformedStep, learned: Partial<Carry> = {}, pause?: number): Result {
  return { kind: 'again', carry: { ...carry, ...learned }, ...(pause === undefined ? {} : { pause }) };
}

function isFailed(attempt: Attempt): attempt is Attempt & { readonly answer: Failed } {
  return attempt.answer.kind === 'failed';
}

export function failuresOf(outcome: Outcome): readonly Failure[] {
  return outcome.filter(isFailed).map((attempt) => attempt.answer.failure);
}

export function transientOf(outcome: Outcome): Passing | undefined {
  return failuresOf(outcome).find((failure): failure is Passing => failure.kind === 'transient');
}

/** Transient trouble: phase and items stay, the next call tries again. */
export function waitForRecovery({ observation, outcome }: PerformedStep, what: string, failure = transientOf(outcome)): Result {
  return failure === undefined
    ? answer(observation.status, { seconds: 1 })
    : answerWith(waitOut(observation.status, what, failure, observation.transaction.isBeingDeleted));
}

/**
 * A Lease or the snapshot could not be written: as `waitForRecovery`. If the API server cannot call a webhook, the wait names it, and
 * ends within a minute while nothing was changed. `status`: while the engine waits.
 */
export function waitForOwn({ observation }: PerformedStep, status: Status, what: string, failure: Passing): Result {
  const named = withOwnWords(failure);
  const isEarly = status.phase === 'Pending' || status.phase === 'Preparing';
  if (!isEarly || !isHungUp(failure)) return answerWith(waitOut(status, what, named, true));
  if (!isTooLong(observation)) return answerWith(waitForWebhook(status, what, named, observation));
  return answer(stoppedBy({ ...observation, status }, hungUpMessage(what, named), reasonOfFailure(failure)));
}

/** The result of a step that only changes the status. */
export function answerWith({ status, wait }: SetStatus): Result {
  return answer(status, wait);
}

export function stoppedBy({ status, now }: Observation, message: string, reason: Reason = 'Refused'): Status {
  return stopped(status, { reason, message }, now, new Map());
}

/** The fact about this attempt's writes that the next attempt needs: the change whose target was written to. */
export function touchedBy(
  { due, outcome }: { readonly due: Due; readonly outcome: Outcome },
  { touched }: Carry,
): Pick<Carry, 'touched'> {
  const isTouched = outcome.some(({ write, answer }) => write.identity.kind === 'serviceAccount' && answer.kind === 'ok');
  const index = isTouched && 'index' in due ? due.index : touched;
  return index === undefined ? {} : { touched: index };
}

/** The place to which a drift belongs, and the room for it. */
export function driftContext({ observation: { status, transaction }, packer }: PerformedStep): DriftContext {
  return { transaction, packer, driftRoom: driftRoom(status, transaction.size) };
}
