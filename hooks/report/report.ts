// One call as data, for the log line, the counters and the Events.
import type { StepReport } from '../call.ts';
import type { Answer } from '../cluster.ts';
import type { Step } from '../decide/step.ts';
import type { Status } from '../model/status.ts';
import { foreign } from '../model/words.ts';
import type { Observation } from '../observe/observation.ts';
import type { Outcome } from '../plan/mutation.ts';
import { auditOf, locksOf } from './audit.ts';
import { storedOf } from './counts.ts';
import { eventsOf, ignoredEvents } from './story.ts';

const longestBecause = 2_000;

export interface Answered {
  readonly observation: Observation;
  /** The status that the call began with. */
  readonly before: Status;
  readonly step: Step;
  readonly outcome: Outcome;
  /** What was thrown, where the step could not be taken. */
  readonly thrown?: unknown;
}

export function reportOf({ observation, before, step, outcome, thrown }: Answered, after: Status): StepReport {
  const { transaction, agenda, now } = observation;
  const item = 'index' in agenda ? agenda.index : undefined;
  const failed = outcome.at(-1)?.answer;
  return {
    namespace: transaction.namespace,
    name: transaction.name,
    uid: transaction.uid,
    step: step.kind === 'become' ? agenda.due : step.kind,
    because: foreign(step.because, longestBecause),
    fromPhase: before.version === 0 ? '' : before.phase,
    toPhase: after.phase,
    ...(item === undefined ? {} : { item }),
    outcome: thrown === undefined ? outcomeOf(failed) : 'EngineFault',
    ...(thrown === undefined ? {} : { thrown }),
    at: now,
    foundVersion: before.version,
    version: after.version,
    stored: storedOf(before, after, now),
    locks: locksOf(outcome),
    audit: auditOf(outcome),
    events: [...eventsOf(before, after, transaction), ...ignoredEvents(observation)],
  };
}

function outcomeOf(answer: Answer | undefined): string {
  return answer?.kind === 'failed' ? answer.failure.reason : 'done';
}
