import type { Write } from '../cluster.ts';
import type { Failure } from '../model/failure.ts';
import type { LockState } from '../observe/observation.ts';
import { answer, type Done, type Result, stoppedBy, waitForRecovery } from './answer.ts';

/** Taken ones are known now; the names of others' are to be read: then it is decided again. */
export function takenLocks(done: Done): Result {
  const { outcome, carry, observation } = done;
  const locks = new Map<string, LockState>(carry.locks);
  const acquired = new Set(carry.acquired);
  const heldNames = new Set<string>();
  for (const { write, answer: answered } of outcome) {
    const { name } = write.location;
    if (answered.kind === 'ok') {
      locks.set(name, { kind: 'present', object: answered.object });
      acquired.add(name);
    } else if (answered.failure.kind === 'transient') return waitForRecovery(done, 'acquiring locks');
    else if (isRefused(write, answered.failure)) {
      return refused(done, `the Lease ${observation.engineNamespace}/${name} was refused: ${answered.failure.message}`);
    } else heldNames.add(name);
  }
  return { kind: 'again', carry: { ...carry, checked: true, locks, acquired, heldNames } };
}

// A create that finds nothing misses the namespace of the engine itself.
function isRefused({ verb }: Write, { kind }: Failure): boolean {
  return kind === 'refused' || (kind === 'absent' && verb === 'create');
}

// A lock that the engine may not take is the operator's to mend; before anything was applied the Transaction ends.
function refused({ observation }: Done, message: string): Result {
  if (observation.status.phase === 'Pending') return answer(stoppedBy(observation, message, 'LockRefused'));
  return answer({ ...observation.status, message: `waiting: ${message}` }, { seconds: 5 });
}
