// The engine may not read the ServiceAccount, or not impersonate it: without it no target can be read or written, in any phase. Which
// answers bar a call: perform/deadline.ts. When a refusal is final: refusals.ts.
import type { Cause } from '../model/status.ts';
import type { Observation } from '../observe/observation.ts';
import { causeOf, isFinal, waitOnce } from './refusals.ts';
import type { SetStatus, Step } from './step.ts';
import { begun, stopped } from './transitions.ts';
import { concluded, undoing } from './undo-transitions.ts';
import { setStatus } from './waiting.ts';

export const acting = 'acting for the ServiceAccount';

/**
 * The step of a call that met such a refusal: it waits once, then it ends. Before the first change, the end is Failed. If changes
 * are applied, it is a rollback. In a rollback, it is Failed with the changes that are left. Steps that need no ServiceAccount go
 * on.
 */
export function barredStep(observation: Observation): Step | undefined {
  const { barred, status, now } = observation;
  const end = endOf(observation);
  if (barred === undefined || end === undefined) return undefined;
  const running = status.phase === 'Pending' ? begun(status, now) : status;
  return isFinal(observation) ? end(causeOf(acting, barred)) : waitOnce(running, acting, barred, true);
}

/** How a final refusal ends the operation that is under way; undefined if it ends nothing. */
export function endOf({ status, now, due }: Observation): ((cause: Cause) => SetStatus) | undefined {
  switch (due.kind) {
    case 'begin':
    case 'prepare':
      return (cause) => setStatus(stopped(status, cause, now, new Map()), cause.message);
    case 'apply':
    case 'await':
      return (cause) => setStatus(undoing(status, cause, now), cause.message);
    case 'restore':
      return (cause) => setStatus(concluded(status, now, cause), cause.message);
    default:
      // A requested undo is decided as a whole: every change is blocked then.
      return undefined;
  }
}
