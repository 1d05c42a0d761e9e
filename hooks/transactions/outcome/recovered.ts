// A step that threw: a fault of the engine that the content of a target, a snapshot or an answer triggered. The engine reports it
// with its stack, counts it, and still answers the call.

import { recover } from '../decide/recovery.ts';
import type { Step } from '../decide/step.ts';
import { type Due, dueOf, type Stored } from '../due.ts';
import type { Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import type { Result } from './answer.ts';

/** As of a step that was taken. */
interface RecoveredStep {
  readonly transaction: Transaction;
  readonly now: number;
  readonly due: Due;
  readonly step: Step;
  readonly outcome: readonly [];
  readonly before: Status;
  readonly result: Result;
  readonly thrown: unknown;
}

/** The result of the call after `thrown`. */
export function recovered(thrown: unknown, found: Stored): RecoveredStep {
  const { transaction, status, now } = found;
  const due = dueFor(found);
  const ending = recover({ status, due, now });
  const because = 'internal error of the engine';
  const step = { kind: 'setStatus', status: ending.status, because, wait: ending.wait } as const;
  return { transaction, now, due, step, outcome: [], before: status, result: { kind: 'answer', ...ending }, thrown };
}

// It may be what threw.
function dueFor(stored: Stored): Due {
  try {
    return dueOf(stored);
  } catch {
    return stored.transaction.isBeingDeleted ? { kind: 'cleanUp' } : { kind: 'rest', seconds: 0 };
  }
}
