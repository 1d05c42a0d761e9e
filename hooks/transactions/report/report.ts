// One call as data, for the log line, the counters and the Events.

import type { Answer } from '../../objects/cluster.ts';
import type { Outcome } from '../../objects/mutation.ts';
import { foreign } from '../../objects/words.ts';
import type { StepReport } from '../call.ts';
import type { Step } from '../decide/step.ts';
import type { Due } from '../due.ts';
import { InvariantError } from '../model/invariant.ts';
import type { Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { auditOf, locksOf } from './audit.ts';
import { eventsOf, faultEvents, ignoredEvents } from './events.ts';
import { storedOf } from './transition-metrics.ts';

const longestBecause = 2_000;

export interface Answered {
  readonly transaction: Transaction;
  readonly now: number;
  readonly due: Due;
  /** The status that the call began with. */
  readonly before: Status;
  readonly step: Step;
  readonly outcome: Outcome;
  /** The error, if the step could not be taken. */
  readonly thrown?: unknown;
}

export function reportOf(answered: Answered, after: Status): StepReport {
  const { transaction, due, now, before, step, outcome, thrown } = answered;
  const item = 'index' in due ? due.index : undefined;
  const failed = outcome.at(-1)?.answer;
  return {
    namespace: transaction.namespace,
    name: transaction.name,
    uid: transaction.uid,
    step: step.kind === 'setStatus' ? due.kind : step.kind,
    because: foreign(step.because, longestBecause),
    fromPhase: before.version === 0 ? '' : before.phase,
    toPhase: after.phase,
    ...(item === undefined ? {} : { item }),
    outcome: thrown === undefined ? outcomeOf(failed) : 'EngineFault',
    ...(thrown === undefined ? {} : { thrown }),
    ...(thrown instanceof InvariantError ? { invariant: thrown.message } : {}),
    at: now,
    foundVersion: before.version,
    version: after.version,
    stored: storedOf(before, after, now, transaction),
    locks: locksOf(outcome),
    audit: auditOf(outcome),
    events: [
      ...eventsOf(before, after, transaction),
      ...ignoredEvents(due, before, after),
      ...faultEvents(thrown, before, after),
    ],
  };
}

function outcomeOf(answer: Answer | undefined): string {
  return answer?.kind === 'failed' ? answer.failure.reason : 'done';
}
