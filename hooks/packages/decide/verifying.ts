// Everything is made: it is looked at once more, then the Lock is written.
import type { JsonObject } from '../../objects/json.ts';
import { cut } from '../../objects/words.ts';
import { holderOf } from '../model/holder.ts';
import { withoutDigest } from '../model/lock.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { advanced, type Outcome, type Status, timeOf } from '../model/status.ts';
import { fenceLock, writePackages } from '../plan/lock.ts';
import { abandoned, ended, lostLock, type Moment } from './ends.ts';
import { going, type Move, staying } from './move.ts';
import { isAsResolved } from './preparing.ts';
import { holds, longestMessage } from './validating.ts';

interface Verifying extends Moment {
  readonly ptx: PackageTransaction;
  readonly namespace: string;
  readonly lock: JsonObject | undefined;
  /** What is not as it was made, in words. */
  readonly faults: readonly string[] | 'unfinished';
}

export function verify(scene: Verifying): Move {
  const { ptx, namespace, lock, faults } = scene;
  const { status } = ptx;
  const proposed = status.proposed ?? [];
  const done = advanced(status, { phase: 'Releasing', outcome: success(proposed) });
  // The Lock was written and the answer was lost: from then on it is done, also where it is being deleted.
  if (holds(ptx, lock) && holderOf(lock)?.hasWritten === true) return going(done, 'the Lock is written');
  if (!isAsResolved(ptx, lock)) return going(lostLock(status), 'the Lock is not as it was');
  if (ptx.isDeleting) return givingUp(scene, lock, abandoned(status), 'it is being deleted');
  const outcome = failureIn(scene);
  if (outcome !== undefined) return givingUp(scene, lock, ended(status, outcome), outcome.message ?? '');
  if (faults === 'unfinished') return staying(status, 'the time of the call is over', 0.2);
  return {
    because: 'everything is there',
    deeds: [{ write: writePackages(lock, proposed, namespace) }],
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
function failureIn({ ptx, faults }: Verifying): Outcome | undefined {
  const isFaulty = faults !== 'unfinished' && faults.length > 0;
  return ptx.status.outcome ?? (isFaulty ? failure(faults.slice(0, 10).join('; ')) : undefined);
}

function failure(message: string): Outcome {
  return { kind: 'Failed', step: 'Installation', reason: 'InstallationFailed', message: cut(message, longestMessage) };
}

/** The answer to a write of the Lock may be lost, and the write late: it must not land on what is rolled back. */
function givingUp({ namespace, now }: Verifying, lock: JsonObject, status: Status, because: string): Move {
  const deeds = [{ write: fenceLock(lock, timeOf(now), namespace) }];
  // Who refuses every write of the Lock refuses a late one too.
  return { because, deeds, status, wait: 1, refused: () => status };
}
