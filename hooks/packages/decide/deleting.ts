// The package is Inactive: the hook deletes its objects, then its revisions, then the package, then its entry in the Lock. Until the
// first deletion everything can be undone. From then on the hook only goes forward: what is deleted and made again has another uid,
// and the garbage collector deletes what the former uid owned.
import type { Failure } from '../../objects/failure.ts';
import { isObject, type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { cut } from '../../objects/words.ts';
import { holderOf, holds, isAsResolved, packagesOf } from '../model/holder.ts';
import { deletionOf } from '../model/package-transaction.ts';
import { advanced, type Outcome, type Status, timeOf } from '../model/status.ts';
import type { DeletionState, ObservedTo } from '../observe/observation.ts';
import type { Paused } from '../writes/beside.ts';
import { type Step, setStatus } from './step.ts';
import { abandoned, ended, isOverdue, longestMessage, lostLock, succeeded } from './transitions.ts';

export function deletePackage(observation: ObservedTo<'delete'>): Step {
  const { ptx, lock, state } = observation;
  const { status } = ptx;
  if (!holds(ptx, lock)) return setStatus(pending(status, 'the Lock was taken away'), 'the Lock is not held any more');
  if (holderOf(lock)?.hasWritten === true) return setStatus(succeeded(status, undefined), 'the Lock is written');
  if (status.deletionTime === undefined) return begin(observation, lock);
  if (state === undefined) return setStatus(status, 'nothing was read', 1);
  const { held = [] } = state;
  if (held.length > 0) return release(held, status);
  return state.objects.length + state.kept.length === 0 ? afterLast(observation, lock, state) : deleteSome(status, state);
}

/** A paused revision keeps the finalizer of Crossplane, which only guards its entry in the Lock. */
function release(held: readonly Paused[], status: Status): Step {
  const refused = ({ message }: Failure): Status => pending(status, `the API server refused to write a revision: ${message}`);
  return { kind: 'takeBack', paused: held, because: 'the revisions can be deleted', status, wait: 0.1, refused };
}

/** The last moment at which the package may stay. A package that requires it since the check has an entry in the Lock. */
function begin({ ptx, now, state }: ObservedTo<'delete'>, lock: JsonObject): Step {
  const { status } = ptx;
  if (ptx.isDeleting) return setStatus(abandoned(status), 'it is being deleted');
  if (!isAsResolved(ptx, lock)) return setStatus(lostLock(status), 'the Lock is not as it was');
  if (state === undefined) return setStatus(status, 'nothing was read', 1);
  if (state.inUse.length > 0) return setStatus(ended(status, used(state.inUse)), 'the package is in use');
  return setStatus(advanced(status, { deletionTime: timeOf(now) }), 'from here on it only goes forward', 0.1);
}

function deleteSome(status: Status, { objects, kept, terminating }: DeletionState): Step {
  return {
    kind: 'delete',
    objects,
    kept,
    because: `${objects.length} objects are deleted, ${kept.length} are kept, ${terminating.length} are being deleted`,
    status,
    wait: 0.1,
    refused: ({ message }) => pending(status, `the API server refused to delete an object: ${message}`),
  };
}

function afterLast({ ptx, now }: ObservedTo<'delete'>, lock: JsonObject, { inUse, terminating }: DeletionState): Step {
  const { status } = ptx;
  if (inUse.length > 0) return setStatus(pending(status, inUse.join('; ')), 'the rest of the package is in use');
  if (terminating.length > 0) {
    const message = `${terminating.slice(0, 10).join(', ')}: being deleted; finalizers keep what is left`;
    return isOverdue(status, now) ? setStatus(pending(status, message), message) : setStatus(status, message, 1);
  }
  const source = deletionOf(ptx)?.source;
  const packages = packagesOf(lock).filter(isObject);
  return {
    kind: 'writePackages',
    lock,
    packages: packages.filter((one) => textAt(one, 'source') !== source),
    because: 'nothing of the package is left',
    status: succeeded(status, unneeded(packages, source)),
    wait: 1,
    refused: ({ message }) => pending(status, `The packages of the Lock could not be written: ${message}`),
  };
}

function used(inUse: readonly string[]): Outcome {
  return { kind: 'Failed', step: 'Validation', reason: 'ResourcesInUse', message: cut(inUse.join('; '), longestMessage) };
}

/** A part of the package is left. The next try goes on. */
function pending(status: Status, message: string): Status {
  return ended(status, { kind: 'Failed', step: 'Deletion', reason: 'CleanupPending', message: cut(message, longestMessage) });
}

/** Names the dependencies that no package needs any more, in words. They stay. */
export function unneeded(packages: readonly JsonObject[], source: string | undefined): string | undefined {
  const requiredBy = (one: JsonObject): readonly string[] =>
    listAt(one, 'dependencies').map((dependency) => textAt(dependency, 'package') ?? '');
  const own = packages.filter((one) => textAt(one, 'source') === source).flatMap(requiredBy);
  const others = packages.filter((one) => textAt(one, 'source') !== source);
  const needed = new Set(others.flatMap(requiredBy));
  const left = own.filter((name) => !needed.has(name) && others.some((one) => textAt(one, 'source') === name));
  return left.length === 0 ? undefined : `no package requires ${left.join(', ')} any more`;
}
