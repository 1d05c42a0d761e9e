// The results of letting a Transaction go.

import type { Outcome } from '../../objects/mutation.ts';
import { isDeletionOverdue } from '../decide/settled.ts';
import type { Step } from '../decide/step.ts';
import { fieldsReleased } from '../decide/transitions.ts';
import type { Wait } from '../model/wait.ts';
import { configMaps } from '../writes/resources.ts';
import { again, answer, failuresOf, type PerformedStep, type Result, waitForRecovery } from './answer.ts';

export function afterReleaseFields(step: Extract<Step, { kind: 'releaseFields' }>, done: PerformedStep): Result {
  const [failure] = failuresOf(done.outcome);
  if (failure?.kind === 'transient' && !isDeletionOverdue(done.observation))
    return waitForRecovery(done, 'removing the field manager');
  return failure?.kind === 'stale' ? again(done) : answer(fieldsReleased(done.observation.status, step.index));
}

// The deletion wakes the next call. If the API server refused it (409: something moved, 403: no right), the engine tries it again
// later.
export function afterExpiry(done: PerformedStep): Result {
  const [failure] = failuresOf(done.outcome);
  if (failure === undefined || failure.kind === 'absent') return answer(done.observation.status);
  if (failure.kind === 'transient') return waitForRecovery(done, 'deleting the Transaction after spec.ttlSecondsAfterFinished');
  return failure.kind === 'stale' ? again(done) : answer(done.observation.status, expiryRetry);
}

const expiryRetry: Wait = { seconds: 60 };

export function afterCleanUp(done: PerformedStep): Result {
  const failures = failuresOf(whatHolds(done));
  if (failures.some(({ kind }) => kind === 'transient'))
    return waitForRecovery(done, 'deleting the Leases and snapshots of the Transaction');
  // The API server would refuse a refused delete again: garbage collection removes that object, and any object written after it.
  const isGoingOn = hasMore(done) && failuresOf(done.outcome).every(({ kind }) => kind === 'absent');
  const isMoved = failures.some(({ kind }) => kind === 'stale');
  return isGoingOn || isMoved ? again(done) : answer(done.observation.status, 'none', true);
}

// Others may write in the namespace of a Transaction, and move its snapshot whenever it is to go: then it is left to be swept. Leases are
// in that of the engine.
function whatHolds({ outcome, observation }: PerformedStep): Outcome {
  if (!isDeletionOverdue(observation)) return outcome;
  return outcome.filter(({ write }) => write.location.resource.plural !== configMaps.plural);
}

function hasMore({ observation: { due } }: PerformedStep): boolean {
  return due.kind === 'cleanUp' && due.hasMore;
}
