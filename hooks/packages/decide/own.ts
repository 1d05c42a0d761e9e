// What is due for a Package that makes its own package transactions: one for its present generation, one for a revision that a user
// makes Active, and one Delete when the Package is being deleted. At most one of them runs: one of an earlier generation ends first.
// So generations that pass meanwhile get none.
import type { Write } from '../../objects/cluster.ts';
import { isTerminating } from '../../objects/content/ownership.ts';
import { at, type JsonObject, textAt } from '../../objects/json.ts';
import { cut } from '../../objects/words.ts';
import { ownersIn } from '../checks/conflicts.ts';
import { type Installed, readLock } from '../model/lock.ts';
import { isRevisionOf, sourceOfPackage, sourceOfRevision } from '../model/names.ts';
import { type OwnCondition, ownName, packageUidLabel } from '../model/own.ts';
import { isActive, isManual } from '../model/package.ts';
import { readSnapshot, type Wanted } from '../model/package-transaction.ts';
import { isDigest } from '../model/reference.ts';
import { conditionOf, isTerminal, millisecondsOf } from '../model/status.ts';
import type { OwnObservation } from '../observe/observation.ts';
import { hasSettings } from '../writes/changes.ts';
import { endWrite, ownDelete, ownInstall } from '../writes/own.ts';
import { nameLabel } from '../writes/resources.ts';

export interface OwnStep {
  readonly because: string;
  /** If absent, the revisions alone give the condition Installed. */
  readonly condition?: OwnCondition;
  readonly write?: Write;
  /** Seconds until the next call. 0: a change of the Package, or of a related object, causes the call. */
  readonly wait: number;
  readonly finalized: boolean;
}

export function decideOwn(observation: OwnObservation): OwnStep {
  const { pkg, isFinalizing, isOwn } = observation;
  if (isTerminating(pkg)) return isOwn ? remove(observation) : letGo('it makes no package transactions');
  if (isFinalizing) return letGo('its controller does not select it any more');
  return isOwn ? install(observation) : rest('it makes no package transactions');
}

function rest(because: string, condition?: OwnCondition, wait = 0): OwnStep {
  return { because, wait, finalized: false, ...(condition === undefined ? {} : { condition }) };
}

function letGo(because: string): OwnStep {
  return { because, wait: 0, finalized: true };
}

const notInstalled = letGo('nothing of it is installed');

/** Seconds after which a call comes although no watch causes it. */
const safetyWait = 10;
/** Nothing that Metacontroller watches shows the end of another package transaction. */
const wait = 3;
const longestWait = 30;

/** Another package transaction may install a hundred Packages, each of which waits for its end. The longer it runs, the rarer the calls. */
function waitFor(writer: JsonObject, now: number): number {
  const since = millisecondsOf(textAt(writer, 'metadata', 'creationTimestamp'));
  return Math.min(longestWait, Math.max(wait, Math.ceil((now - since) / 10_000)));
}

function install(observation: OwnObservation): OwnStep {
  const { kind, pkg, made, revisions } = observation;
  const wanted = readSnapshot(pkg, '');
  const names = new Set([ownName(kind, pkg), ...revisions.map((one) => ownName(kind, pkg, uidOf(one)))]);
  const earlier = made.find((one) => isRunning(one) && !names.has(nameOf(one) ?? ''));
  if (earlier !== undefined) return end(observation, earlier, 'an earlier generation');
  if (typeof wanted === 'string')
    return rest('its spec is not valid', { status: 'False', reason: 'InvalidPackage', message: wanted });
  const current = made.find((one) => nameOf(one) === ownName(kind, pkg));
  if (current !== undefined && !hasSucceeded(current)) return follow(current);
  const unlocked = isManual(wanted.spec) ? unlockedRevisions(observation) : [];
  const waiting = unlocked.find((one) => isOfGeneration(observation, one));
  const other = unlocked.find(isActive);
  if (waiting !== undefined) return activate(observation, waiting, other);
  return installPresent(observation, wanted, { current, other });
}

interface Found {
  /** The package transaction of the present generation, which has succeeded. */
  readonly current: JsonObject | undefined;
  /** An Active revision that no package transaction has installed. */
  readonly other: JsonObject | undefined;
}

function installPresent(observation: OwnObservation, wanted: Wanted, { current, other }: Found): OwnStep {
  const { writer, now, revisions } = observation;
  if (current !== undefined && revisions.length === 0) return again(observation, current);
  if (current === undefined && writer !== undefined && isRunning(writer)) return follow(writer, waitFor(writer, now));
  if (current === undefined && !isAsWanted(observation, wanted)) return create(observation, ownInstall(observation), pending);
  if (other !== undefined) return ignored(observation, other);
  return current === undefined ? rest('it is installed as its spec says') : follow(current);
}

/** Somebody has deleted the revision. The package transaction that has made it is made again, and makes the revision again. */
function again(observation: OwnObservation, ptx: JsonObject): OwnStep {
  const message = `The revision is gone: package transaction ${nameOf(ptx)} is made again`;
  return ending(rest(message, { ...pending, message }, wait), ptx, observation);
}

const pending = { status: 'Unknown', reason: 'InstallationPending' } as const;

/** Revisions of the Package that the Lock does not have. Empty if the Lock cannot be read. */
function unlockedRevisions({ revisions, lock }: OwnObservation): readonly JsonObject[] {
  const entries = readLock(lock ?? {});
  if (typeof entries === 'string') return [];
  const locked = new Set(entries.map(({ name }) => name));
  return revisions.filter((one) => !isTerminating(one) && !locked.has(nameOf(one) ?? ''));
}

/** Whether a package transaction for the present generation of this very Package wrote the revision last. */
function isOfGeneration({ kind, pkg }: OwnObservation, revision: JsonObject): boolean {
  const names = [ownName(kind, pkg), ownName(kind, pkg, uidOf(revision))];
  return isOwnedBy(pkg, revision) && names.includes(textAt(revision, 'metadata', 'labels', nameLabel) ?? '');
}

/** A package transaction hands control to the revision, once for each time that a user makes it Active. */
function activate(observation: OwnObservation, revision: JsonObject, other: JsonObject | undefined): OwnStep {
  const { kind, pkg, made, writer, now } = observation;
  const ptx = made.find((one) => nameOf(one) === ownName(kind, pkg, uidOf(revision)));
  if (!isActive(revision)) return leaveInactive(observation, ptx, other);
  if (ptx !== undefined) return hasSucceeded(ptx) ? ignored(observation, revision) : follow(ptx);
  if (writer !== undefined && isRunning(writer)) return follow(writer, waitFor(writer, now));
  return create({ ...observation, namesake: undefined }, ownInstall(observation, uidOf(revision)), pending);
}

/** A user who makes the revision Active again gets another package transaction. */
function leaveInactive(observation: OwnObservation, ptx: JsonObject | undefined, other: JsonObject | undefined): OwnStep {
  const step = other === undefined ? rest('its revision is Inactive') : ignored(observation, other);
  return ptx === undefined ? step : ending(step, ptx, observation);
}

/** A package transaction would install another revision. */
function ignored({ kind }: OwnObservation, revision: JsonObject): OwnStep {
  const message = `${kind}Revision ${nameOf(revision)} is Active, and spec.package names another version: write its version to spec.package, or make it Inactive`;
  return rest(message, { reason: 'OtherRevisionActive', message });
}

/** Its progress, or why it failed. Once it has succeeded, the revisions say all. */
function follow(ptx: JsonObject, seconds = isRunning(ptx) ? safetyWait : 0): OwnStep {
  const installed = conditionOf(ptx, 'Installed');
  if (textAt(installed, 'status') === 'True') return rest('its package transaction has installed it', undefined, seconds);
  const shown = textAt(conditionOf(ptx, 'Validated'), 'status') === 'True' ? installed : conditionOf(ptx, 'Validated');
  const because = 'its package transaction has not installed it';
  if (isRunning(ptx) || isTerminating(ptx) || textAt(shown, 'status') === 'False') {
    const status = textAt(shown, 'status') === 'False' ? 'False' : 'Unknown';
    return rest(because, { status, ...saidBy(ptx, shown, endOf(ptx)) }, seconds);
  }
  // A registry's failure is no verdict on the packages, so Validated is Unknown. But no further try follows.
  const reason = textAt(ptx, 'status', 'outcome', 'reason') ?? 'InstallationFailed';
  return rest(because, { ...saidBy(ptx, shown, endOf(ptx)), status: 'False', reason }, seconds);
}

function endOf(ptx: JsonObject): string {
  if (isRunning(ptx)) return '';
  if (isTerminating(ptx)) return '; it is being deleted, and is made again once it is gone';
  return '; it is not tried again: change the Package, or delete the package transaction, which then is made again';
}

const longestMessage = 8_000;

/** `more`: what follows the message of the condition. */
function saidBy(ptx: JsonObject, shown: JsonObject | undefined, more: string): Omit<OwnCondition, 'status'> {
  const progress = isRunning(ptx) ? textAt(ptx, 'status', 'progress') : undefined;
  const stages = progress === undefined ? '' : ` (${progress} stages)`;
  const message = `Package transaction ${nameOf(ptx)}: ${textAt(shown, 'message') ?? 'it has not begun'}`;
  return {
    reason: textAt(shown, 'reason') ?? 'InstallationPending',
    message: `${cut(message, longestMessage - stages.length - more.length)}${stages}${more}`,
  };
}

/** The hook deletes a running package transaction: it ends before its next stage, and is rolled back. */
function end(observation: OwnObservation, ptx: JsonObject, whose: string): OwnStep {
  const message = `Package transaction ${nameOf(ptx)} of ${whose} ends first`;
  const step = rest(message, { status: 'Unknown', reason: 'WaitingForTransaction', message }, wait);
  return ending(step, ptx, observation);
}

/** The step also deletes the package transaction, unless it is being deleted already. */
function ending(step: OwnStep, ptx: JsonObject, { namespace }: OwnObservation): OwnStep {
  return isTerminating(ptx) ? step : { ...step, write: endWrite(ptx, namespace) };
}

/** `namesake`: a Package that was deleted had the same name, and has made it. */
function create(observation: OwnObservation, write: Write, condition: Omit<OwnCondition, 'message'>): OwnStep {
  const { namesake } = observation;
  const message = `Package transaction ${write.location.name}: it has not begun`;
  if (namesake === undefined) return { ...rest('it is made', { ...condition, message }, safetyWait), write };
  if (textAt(namesake, 'metadata', 'labels', packageUidLabel) !== undefined)
    return end(observation, namesake, 'a former Package of this name');
  const taken = `Package transaction ${nameOf(namesake)} was not made by this Package, which needs its name: delete it`;
  return rest(taken, { ...condition, reason: 'WaitingForTransaction', message: taken }, safetyWait);
}

/**
 * Whether the Lock has the package in this version, and the Active revision of this very Package has its settings. Then a package
 * transaction would change nothing.
 */
function isAsWanted({ kind, pkg, revisions, lock, isBeside }: OwnObservation, { reference, spec }: Wanted): boolean {
  const entries = readLock(lock ?? {});
  const entry = typeof entries === 'string' ? undefined : entries.find(({ source }) => source === reference.source);
  const revision = revisions.find((one) => nameOf(one) === entry?.name);
  if (entry === undefined || revision === undefined) return false;
  const isMade = textAt(revision, 'metadata', 'labels', nameLabel) !== undefined;
  const isVersion = isDigest(reference.version)
    ? entry.digest === reference.version || textAt(revision, 'spec', 'image')?.endsWith(`@${reference.version}`) === true
    : entry.tag === reference.version;
  const isRight = isActive(revision) || isManual(spec);
  return isMade && isOwnedBy(pkg, revision) && isVersion && isRight && hasSettings(kind, pkg, revision, isBeside);
}

/** In ms. A Delete that failed for good is made again. Until then it tries by itself (`mostTries` in writes/own.ts, ending.ts). */
const pauseAfterFailure = 300_000;

/**
 * The Package stays until its Delete has nothing else left to delete. If nothing of the package is installed, the Package needs no
 * Delete.
 */
function remove(observation: OwnObservation): OwnStep {
  const { made, revisions } = observation;
  const running = made.find((one) => isRunning(one) && !isDelete(one));
  if (running !== undefined) return end(observation, running, 'the Package that is being deleted');
  const removals = made.filter(isDelete);
  const removal = removals.find(isRunning) ?? removals.at(-1);
  if (removal === undefined) return begin(observation);
  const isLast = textAt(removal, 'status', 'deletionTime') !== undefined && revisions.length === 0;
  if (isLast || hasSucceeded(removal)) return letGo('nothing else of it is left');
  return isRunning(removal) ? goOn(observation, removal) : tryAgain(observation, removal);
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
  const left = millisecondsOf(textAt(removal, 'status', 'completionTime')) + pauseAfterFailure - observation.now;
  if (isTerminating(removal) || left > 0) return goOn(observation, removal, Math.max(wait, left / 1000));
  return { ...goOn(observation, removal), write: endWrite(removal, observation.namespace) };
}

function nameOf(object: JsonObject): string | undefined {
  return textAt(object, 'metadata', 'name');
}

function uidOf(object: JsonObject): string {
  return textAt(object, 'metadata', 'uid') ?? '';
}

function isOwnedBy(pkg: JsonObject, revision: JsonObject): boolean {
  return ownersIn(revision).some((owner) => textAt(owner, 'uid') === uidOf(pkg));
}

function isRunning(ptx: JsonObject): boolean {
  return !isTerminal(textAt(ptx, 'status', 'phase'));
}

function hasSucceeded(ptx: JsonObject): boolean {
  return textAt(ptx, 'status', 'phase') === 'Succeeded';
}

function isDelete(ptx: JsonObject): boolean {
  return at(ptx, 'spec', 'change') === 'Delete';
}
