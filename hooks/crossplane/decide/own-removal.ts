// A Package that is being deleted stays until nothing else is left of it: its Delete deletes the rest, or another package transaction that
// deletes or replaces the package.
//
// R1. The Package waits for no package transaction that waits for the Package. The holder of the Lock deletes the Package after its
//     revisions, so the Package goes once they are gone, also if a Delete of its own waits for the Lock. A holder that is rolled back
//     deletes the Package that it has made, and makes no revision any more.
// R2. No revision loses its Package while a package transaction still needs the revision: the garbage collector would delete it, its
//     CRDs, and every instance.
import { isTerminating } from '../../objects/content/ownership.ts';
import { at, type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { type Installed, readLock } from '../model/lock.ts';
import { isRevisionOf, sourceOfPackage, sourceOfRevision } from '../model/names.ts';
import { ownName } from '../model/own.ts';
import { conditionOf, millisecondsOf } from '../model/status.ts';
import type { OwnObservation } from '../observe/observation.ts';
import { endWrite, ownDelete } from '../writes/own.ts';
import { nameLabel } from '../writes/resources.ts';
import { create, end, hasSucceeded, isRunning, letGo, nameOf, type OwnStep, rest, saidBy, uidOf, wait } from './own-step.ts';

const notInstalled = letGo('nothing of it is installed');

/** In ms. A Delete that failed for good is made again. Until then it tries by itself (`mostTries` in writes/own.ts, ending.ts). */
const pauseAfterFailureMs = 300_000;

/**
 * The Package stays until its Delete has nothing else left to delete. If nothing of the package is installed, the Package needs no
 * Delete.
 */
export function remove(observation: OwnObservation): OwnStep {
  const running = observation.made.find((one) => isRunning(one) && !isDelete(one));
  if (running !== undefined) return end(observation, running, 'the Package that is being deleted');
  return byHolder(observation) ?? byDelete(observation);
}

/** Undefined if the holder of the Lock has nothing to do with the Package. */
function byHolder(observation: OwnObservation): OwnStep | undefined {
  const { holder, made, revisions } = observation;
  if (holder === undefined) return undefined;
  const isGoing = isLeavingBy(holder, observation) || (isWriter(holder, observation) && isRollingBack(holder));
  if (isGoing) return revisions.length === 0 ? noneLeft : waitFor(holder); // R1, R2
  return isWriter(holder, observation) && !made.some(isDelete) ? waitFor(holder) : undefined; // R2
}

const noneLeft = letGo('nothing else of it is left');

function byDelete(observation: OwnObservation): OwnStep {
  const removals = observation.made.filter(isDelete);
  const removal = removals.find(isRunning) ?? removals.at(-1);
  if (removal === undefined) return begin(observation);
  const isLast = textAt(removal, 'status', 'deletionTime') !== undefined && observation.revisions.length === 0;
  if (isLast || hasSucceeded(removal)) return noneLeft;
  return isRunning(removal) ? goOn(observation, removal) : tryAgain(observation, removal);
}

/** Whether the holder of the Lock has stored its first deletion, and deletes the Package. */
function isLeavingBy(holder: JsonObject, { pkg }: OwnObservation): boolean {
  return listAt(holder, 'status', 'leavingUids').includes(uidOf(pkg));
}

function isRollingBack(holder: JsonObject): boolean {
  return textAt(holder, 'status', 'phase') === 'RollingBack';
}

/** Whether the holder of the Lock has written the Package: it may be about to make a revision. */
function isWriter(holder: JsonObject, { pkg }: OwnObservation): boolean {
  return textAt(pkg, 'metadata', 'labels', nameLabel) === nameOf(holder);
}

function waitFor(holder: JsonObject): OwnStep {
  const message = `Package transaction ${nameOf(holder)} has the package under way, and ends first`;
  return rest(message, { reason: 'WaitingForTransaction', message }, wait);
}

function begin(observation: OwnObservation): OwnStep {
  const source = installedSource(observation);
  if (source === undefined) return notInstalled;
  return create(observation, ownDelete(observation, source), { reason: 'DeletionPending' });
}

/** The source of the package as it is installed. A user may have changed the Package since, or deleted its revision. */
function installedSource({ pkg, revisions, lock }: OwnObservation): string | undefined {
  const entries = readLock(lock ?? {});
  if (typeof entries !== 'string') {
    const isOfPackage = ({ name, source }: Installed): boolean =>
      source === sourceOfPackage(pkg) && isRevisionOf({ source, name: nameOf(pkg) ?? '' }, name, undefined);
    const isOwn = (entry: Installed): boolean => revisions.some((one) => nameOf(one) === entry.name) || isOfPackage(entry);
    return entries.find(isOwn)?.source;
  }
  // The Delete says what is wrong with the Lock.
  return revisions.map(sourceOfRevision).find((source) => source !== undefined);
}

function goOn(observation: OwnObservation, removal: JsonObject, seconds = wait): OwnStep {
  const validated = conditionOf(removal, 'Validated');
  const shown = textAt(validated, 'status') === 'True' ? conditionOf(removal, 'Installed') : validated;
  const isEdited = nameOf(removal) !== ownName(observation.kind, observation.pkg);
  const edited = isEdited ? '; the Package was changed since, which has no effect: apply it again once it is gone' : '';
  return rest('its Delete goes on', saidBy(removal, shown, edited), seconds);
}

function tryAgain(observation: OwnObservation, removal: JsonObject): OwnStep {
  if (installedSource(observation) === undefined) return notInstalled;
  const left = millisecondsOf(textAt(removal, 'status', 'completionTime')) + pauseAfterFailureMs - observation.now;
  if (isTerminating(removal) || left > 0) return goOn(observation, removal, Math.max(wait, left / 1000));
  return { ...goOn(observation, removal), write: endWrite(removal, observation.namespace) };
}

function isDelete(ptx: JsonObject): boolean {
  return at(ptx, 'spec', 'change') === 'Delete';
}
