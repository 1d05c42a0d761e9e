// The package is Inactive: the hook deletes its objects, then its revisions, then the package, then its entry in the Lock. Until the
// first deletion everything can be undone. From then on the hook only goes forward: what is deleted and made again has another uid,
// and the garbage collector deletes what the former uid owned.
import type { Failure } from '../../objects/failure.ts';
import { isObject, type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { cut } from '../../objects/words.ts';
import { holderOf, holds, isAsResolved, packagesOf } from '../model/holder.ts';
import { entriesToWrite } from '../model/lock.ts';
import { deletionOf, type PackageTransaction, replacedBy } from '../model/package-transaction.ts';
import { describeReplaced } from '../model/replaced.ts';
import { packagesAfter } from '../model/replacement.ts';
import { advanced, isForward, type Outcome, type Status, timeOf } from '../model/status.ts';
import type { DeletionState, ObservedTo } from '../observe/observation.ts';
import type { Paused } from '../writes/beside.ts';
import { type Step, setStatus } from './step.ts';
import { abandoned, ended, isOverdue, longestMessage, lostLock, succeeded } from './transitions.ts';

export function deletePackage(observation: ObservedTo<'delete'>): Step {
  const { ptx, lock, state } = observation;
  const { status } = ptx;
  if (!holds(ptx, lock)) return setStatus(lost(status), 'the Lock is not held any more');
  if (holderOf(lock)?.hasWritten === true) return setStatus(endOf(ptx, lock), 'the Lock is written');
  if (!isForward(status)) return begin(observation, lock);
  // Another try deletes what is left. The new packages are installed, and the Lock must say so.
  if (status.outcome !== undefined) return writeLock(observation, lock);
  if (state === undefined) return setStatus(status, 'nothing was read', 1);
  const { held = [] } = state;
  if (held.length > 0) return release(held, ptx);
  return state.objects.length + state.kept.length === 0 ? afterLast(observation, lock, state) : deleteSome(ptx, state);
}

/** A paused revision keeps the finalizer of Crossplane, which only guards its entry in the Lock. */
function release(held: readonly Paused[], ptx: PackageTransaction): Step {
  const refused = ({ message }: Failure): Status => pending(ptx, `the API server refused to write a revision: ${message}`);
  const because = 'the revisions can be deleted';
  return { kind: 'takeBack', paused: held, because, status: ptx.status, wait: 0.1, refused };
}

/** The last moment at which the package may stay. A package that requires it since the check has an entry in the Lock. */
function begin({ ptx, now, state }: ObservedTo<'delete'>, lock: JsonObject): Step {
  const { status } = ptx;
  if (ptx.isDeleting) return giveUp(ptx, lock, abandoned(status), 'it is being deleted');
  if (!isAsResolved(ptx, lock)) return giveUp(ptx, lock, lostLock(status), 'the Lock is not as it was');
  if (state === undefined) return setStatus(status, 'nothing was read', 1);
  if (state.inUse.length > 0) return giveUp(ptx, lock, ended(status, used(state.inUse)), 'the package is in use');
  const next = advanced(status, { deletionTime: timeOf(now), leavingUids: state.uids });
  const because = 'from here on it only goes forward';
  return replacedBy(ptx) === undefined
    ? setStatus(next, because, 0.1)
    : { kind: 'goForward', lock, because, status: next, wait: 0.1 };
}

/** A late write may mark the Lock: a package transaction that goes forward is not undone once it is gone. */
function giveUp(ptx: PackageTransaction, lock: JsonObject, status: Status, because: string): Step {
  if (replacedBy(ptx) === undefined) return setStatus(status, because);
  return { kind: 'fence', lock, because, status, wait: 1, refused: () => status };
}

function deleteSome(ptx: PackageTransaction, { objects, kept, terminating }: DeletionState): Step {
  return {
    kind: 'delete',
    objects,
    kept,
    because: `${objects.length} objects are deleted, ${kept.length} are kept, ${terminating.length} are being deleted`,
    status: ptx.status,
    wait: 0.1,
    refused: ({ message }) => pending(ptx, `the API server refused to delete an object: ${message}`),
  };
}

function afterLast(observation: ObservedTo<'delete'>, lock: JsonObject, { inUse, terminating }: DeletionState): Step {
  const { ptx, now } = observation;
  const { status } = ptx;
  if (inUse.length > 0) return setStatus(pending(ptx, inUse.join('; ')), 'the rest of the package is in use');
  if (terminating.length > 0) {
    const message = `${terminating.slice(0, 10).join(', ')}: being deleted; finalizers keep what is left`;
    return isOverdue(status, now) ? setStatus(pending(ptx, message), message) : setStatus(status, message, 1);
  }
  return writeLock(observation, lock);
}

function writeLock({ ptx, isBeside }: ObservedTo<'delete'>, lock: JsonObject): Step {
  return {
    kind: 'writePackages',
    lock,
    packages: replacedBy(ptx) === undefined ? withoutSource(ptx, lock) : entriesToWrite(packagesAfter(ptx, lock), isBeside),
    because: ptx.status.outcome === undefined ? 'nothing of the package is left' : 'the new packages are installed',
    status: endOf(ptx, lock),
    wait: 1,
    refused: ({ message }) => left(ptx.status, `The packages of the Lock could not be written: ${message}`),
  };
}

function withoutSource(ptx: PackageTransaction, lock: JsonObject): readonly JsonObject[] {
  const source = deletionOf(ptx)?.source;
  return packagesOf(lock).filter((one): one is JsonObject => isObject(one) && textAt(one, 'source') !== source);
}

/** The end once the Lock is written. */
function endOf(ptx: PackageTransaction, lock: JsonObject): Status {
  const { status } = ptx;
  if (status.outcome !== undefined) return ended(status, status.outcome);
  const replaced = describeReplaced(status.replaced);
  const gap = status.gapSeconds === undefined ? '' : `; no provider has reconciled its resources for ${status.gapSeconds} s`;
  return succeeded(
    status,
    replaced === undefined ? unneeded(packagesOf(lock).filter(isObject), deletionOf(ptx)?.source) : `${replaced}${gap}`,
  );
}

function used(inUse: readonly string[]): Outcome {
  return { kind: 'Failed', step: 'Validation', reason: 'ResourcesInUse', message: cut(inUse.join('; '), longestMessage) };
}

/** A part of the package is left. The next try goes on. Of a Replace the Lock is written first. */
function pending(ptx: PackageTransaction, message: string): Status {
  return replacedBy(ptx) === undefined ? left(ptx.status, message) : advanced(ptx.status, { outcome: leftOver(message) });
}

function left(status: Status, message: string): Status {
  return ended(status, leftOver(message));
}

function lost(status: Status): Status {
  return isForward(status) ? left(status, 'the Lock was taken away') : lostLock(status);
}

/** The objects of a later install stay. */
export function installedAgain(revisions: readonly string[]): Outcome {
  const names = revisions.slice(0, 10).join(', ');
  const message = `${names}: installed again since the first deletion, so nothing more is deleted; to delete it, create another package transaction`;
  return { ...leftOver(message), isFinal: true };
}

function leftOver(message: string): Outcome {
  return { kind: 'Failed', step: 'Deletion', reason: 'CleanupPending', message: cut(message, longestMessage) };
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
