// The refusal of a read is final once it was seen twice, a second apart: rights that were just granted take a moment. It counts only
// from an API server that is ready (server/kubernetes/unready.ts). outcome/apply.ts decides about a refused write.
import type { Failure, Refusal } from '../../objects/failure.ts';
import { foreign } from '../../objects/words.ts';
import { reasonOfFailure } from '../model/reason.ts';
import type { Cause, Status } from '../model/status.ts';
import type { Observation } from '../observe/observation.ts';
import type { SetStatus, Step } from './step.ts';
import { waitFor, waitOut } from './waiting.ts';

/** Ms between the first of two refusals and the second. */
const apart = 1_000;

/** Characters of the API server's sentence: the user's next step must fit behind it. */
const longestSentence = 600;

export function isFinal({ refusedFor }: Pick<Observation, 'refusedFor'>): boolean {
  return refusedFor !== undefined && refusedFor >= apart;
}

/** What failed, and the status that waits for it. */
interface Trouble {
  readonly status: Status;
  readonly what: string;
  readonly failure: Failure;
  /** As of `waitOut`. */
  readonly isNews?: boolean;
}

/** Waits until the trouble passes. A final refusal ends the operation that is under way by `end`. */
export function unlessFinal<Ended extends Step>(
  observation: Pick<Observation, 'refusedFor'>,
  { status, what, failure, isNews }: Trouble,
  end: (cause: Cause) => Ended,
): Ended | SetStatus {
  if (failure.kind !== 'refused') return waitOut(status, what, failure, isNews);
  return isFinal(observation) ? end(causeOf(what, failure)) : waitOnce(status, what, failure, isNews);
}

/** For what must be done in any case, and so waits for the right. */
export function untilAllowed({ status, what, failure, isNews }: Trouble): SetStatus {
  if (failure.kind !== 'refused') return waitOut(status, what, failure, isNews);
  return waitFor(status, `waiting: ${causeOf(what, failure).message}`, { seconds: 5 }, isNews);
}

/** The first of two refusals. */
export function waitOnce(status: Status, what: string, { reason }: Refusal, isNews = false): SetStatus {
  return waitFor(status, `waiting: ${what} was refused (${reason}); trying once more`, 'refusal', isNews);
}

/** Why a final refusal ends the operation: the sentence of the API server, and the user's next step. */
export function causeOf(what: string, refusal: Refusal): Cause {
  const whom = refusal.toEngine === undefined ? '' : ' to the engine';
  const message = `${what} was refused${whom}: ${foreign(refusal.message, longestSentence)}; ${adviceFor(refusal)}`;
  return { reason: reasonOfFailure(refusal), message };
}

function adviceFor({ code, toEngine }: Refusal): string {
  if (toEngine !== undefined) return 'grant the engine that right (manifests/rbac.yaml), then try again';
  if (code === 403) return 'allow the ServiceAccount that request, then try again';
  return 'the API server refuses the same request each time: remove the reason that it names, then try again';
}
