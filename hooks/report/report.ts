// One call as data, for the log line, the counters and the Events.
import type { StepReport } from '../call.ts';
import type { Step } from '../decide/step.ts';
import type { Status } from '../model/status.ts';
import type { Observation } from '../observe/observation.ts';
import type { Outcome } from '../plan/mutation.ts';
import { auditOf, locksOf } from './audit.ts';
import { storedOf } from './counts.ts';
import { eventsOf } from './story.ts';

export interface Answered {
  readonly observation: Observation;
  readonly step: Step;
  readonly outcome: Outcome;
}

export function reportOf({ observation, step, outcome }: Answered, after: Status): StepReport {
  const { transaction, status, agenda, now } = observation;
  const item = 'index' in agenda ? agenda.index : undefined;
  const failed = outcome.at(-1)?.answer;
  return {
    namespace: transaction.namespace,
    name: transaction.name,
    uid: transaction.uid,
    step: step.kind === 'become' ? agenda.due : step.kind,
    because: step.because,
    fromPhase: status.version === 0 ? '' : status.phase,
    toPhase: after.phase,
    ...(item === undefined ? {} : { item }),
    outcome: failed?.kind === 'failed' ? failed.failure.reason : 'done',
    at: now,
    foundVersion: status.version,
    version: after.version,
    stored: storedOf(status, after, now),
    locks: locksOf(outcome),
    audit: auditOf(outcome, item),
    events: eventsOf(status, after, transaction),
  };
}
