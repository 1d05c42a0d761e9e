import type { Write } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import { isFinal } from '../decide/refusals.ts';
import { withoutEffect } from '../decide/requested-undo.ts';
import type { Step } from '../decide/step.ts';
import { concluded } from '../decide/undo-transitions.ts';
import type { LockState } from '../observe/observation.ts';
import { again, answer, answerWith, type PerformedStep, type Result, stoppedBy, waitForOwn } from './answer.ts';

type Acquire = Extract<Step, { kind: 'acquire' }>;

/** The engine now knows the locks that it took. It must still read the holders of the other locks. Then it decides again. */
export function takenLocks(step: Acquire, done: PerformedStep): Result {
  const { outcome, carry, observation } = done;
  const locks = new Map<string, LockState>(carry.locks);
  const acquired = new Set(carry.acquired);
  const heldNames = new Set<string>();
  for (const { write, answer: answered } of outcome) {
    const { name } = write.location;
    if (answered.kind === 'ok') {
      locks.set(name, { kind: 'present', object: answered.object });
      acquired.add(name);
    } else if (answered.failure.kind === 'transient')
      return waitForOwn(done, step.meanwhile, 'acquiring locks', answered.failure);
    else if (isRefused(write, answered.failure)) {
      return refused(step, done, `the Lease ${observation.engineNamespace}/${name} was refused: ${answered.failure.message}`);
    } else heldNames.add(name);
  }
  return again(done, { checked: true, locks, acquired, heldNames });
}

// A create that finds nothing misses the namespace of the engine itself.
function isRefused({ verb }: Write, { kind }: Failure): boolean {
  return kind === 'refused' || (kind === 'absent' && verb === 'create');
}

// A lock that the engine may not take; before anything was applied the Transaction ends. It names all its Leases: those that were taken
// beside the refused one are released.
function refused({ meanwhile }: Acquire, { observation }: PerformedStep, message: string): Result {
  const { status, due, now } = observation;
  if (status.phase === 'Pending') return answer(stoppedBy({ ...observation, status: meanwhile }, message, 'LockRefused'));
  if (!isFinal(observation)) return answer({ ...meanwhile, message: `waiting: ${message}` }, 'refusal');
  return due.kind === 'reacquire'
    ? answerWith(withoutEffect(meanwhile, due.request, message))
    : answer(concluded(meanwhile, now, { reason: 'LockRefused', message }));
}
