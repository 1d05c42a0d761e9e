// Everything is made: it is checked once more, then the Lock is written.
import type { JsonObject } from '../../objects/json.ts';
import { cut } from '../../objects/words.ts';
import { holderOf, holds, isAsResolved } from '../model/holder.ts';
import { withoutDigest } from '../model/lock.ts';
import { advanced, type Outcome, type Status } from '../model/status.ts';
import type { ObservedTo } from '../observe/observation.ts';
import { type Step, setStatus } from './step.ts';
import { abandoned, ended, installationFailure, longestMessage, lostLock } from './transitions.ts';

export function verify({ ptx, lock, faults }: ObservedTo<'verify'>): Step {
  const { status } = ptx;
  const proposed = status.proposed ?? [];
  const done = advanced(status, { phase: 'Releasing', outcome: success(proposed) });
  // The Lock was written and the answer was lost: from then on it is done, also if it is being deleted.
  if (holds(ptx, lock) && holderOf(lock)?.hasWritten === true) return setStatus(done, 'the Lock is written');
  if (!isAsResolved(ptx, lock)) return setStatus(lostLock(status), 'the Lock is not as it was');
  if (ptx.isDeleting) return giveUp(lock, abandoned(status), 'it is being deleted');
  const outcome = failureIn(status, faults);
  if (outcome !== undefined) return giveUp(lock, ended(status, outcome), outcome.message ?? '');
  if (faults === 'unfinished') return setStatus(status, 'the time of the call is over', 0.2);
  return {
    kind: 'writePackages',
    lock,
    packages: proposed,
    because: 'everything is there',
    status: done,
    wait: 1,
    // An earlier write of the Lock may still be late: the next call fences the Lock before anything is rolled back.
    refused: ({ message }) => advanced(status, { outcome: failure(`The packages of the Lock could not be written: ${message}`) }),
  };
}

function success(proposed: readonly JsonObject[]): Outcome {
  const message = withoutDigest(proposed);
  return { kind: 'Succeeded', ...(message === undefined ? {} : { message: cut(message, longestMessage) }) };
}

/** The Lock was refused before, or something is not as it was made. */
function failureIn({ outcome }: Status, faults: ObservedTo<'verify'>['faults']): Outcome | undefined {
  const isFaulty = faults !== 'unfinished' && faults.length > 0;
  return outcome ?? (isFaulty ? failure(faults.slice(0, 10).join('; ')) : undefined);
}

function failure(message: string): Outcome {
  return installationFailure(cut(message, longestMessage));
}

/** The answer to a write of the Lock may be lost, and the write late: it must not land on what is rolled back. */
function giveUp(lock: JsonObject, status: Status, because: string): Step {
  // Who refuses every write of the Lock refuses a late one too.
  return { kind: 'fence', lock, because, status, wait: 1, refused: () => status };
}
