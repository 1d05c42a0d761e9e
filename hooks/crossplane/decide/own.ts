// What is due for a Package that makes its own package transactions: one for its present generation, one for a revision that a user
// makes Active, and one Delete when the Package is being deleted. At most one of them runs: one of an earlier generation ends first.
// So generations that pass meanwhile get none.
import { isTerminating } from '../../objects/content/ownership.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { ownersIn } from '../checks/conflicts.ts';
import { readLock } from '../model/lock.ts';
import { type OwnCondition, ownName } from '../model/own.ts';
import { followsTag, isActive, isManual } from '../model/package.ts';
import { allowIrreversible, readSnapshot, type Wanted } from '../model/package-transaction.ts';
import { isDigest } from '../model/reference.ts';
import { conditionOf, millisecondsOf } from '../model/status.ts';
import type { OwnObservation } from '../observe/observation.ts';
import { hasSettings } from '../writes/changes.ts';
import { ownInstall } from '../writes/own.ts';
import { nameLabel } from '../writes/resources.ts';
import { madeAgain } from './own-again.ts';
import { remove } from './own-removal.ts';
import {
  create,
  end,
  ending,
  hasSucceeded,
  isRunning,
  letGo,
  nameOf,
  type OwnStep,
  pending,
  rest,
  safetyWaitSeconds,
  saidBy,
  uidOf,
  underWay,
  wait,
} from './own-step.ts';
import { rarely } from './step.ts';

export function decideOwn(observation: OwnObservation): OwnStep {
  const { pkg, isFinalizing, isOwn } = observation;
  if (isTerminating(pkg)) return isOwn ? remove(observation) : letGo('it makes no package transactions');
  if (isFinalizing) return letGo('its controller does not select it any more');
  return isOwn ? install(observation) : rest('it makes no package transactions');
}

/** In seconds. */
const lookAgainSeconds = 60;
/** In seconds, as in Crossplane. */
const readTagAgainSeconds = 60;

/** Another package transaction may install a hundred Packages, each of which waits for its end. */
function waitFor(writer: JsonObject, now: number): number {
  return rarely(now - millisecondsOf(textAt(writer, 'metadata', 'creationTimestamp')), wait);
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
  return (current && unfinished(observation, current)) ?? installWanted(observation, wanted, current);
}

/** Undefined if the package transaction of the present generation has succeeded. */
function unfinished(observation: OwnObservation, current: JsonObject): OwnStep | undefined {
  if (isAllowedSince(observation.pkg, current)) return allowed(observation, current);
  return hasSucceeded(current) ? undefined : follow(observation, current);
}

function installWanted(observation: OwnObservation, wanted: Wanted, current: JsonObject | undefined): OwnStep {
  const unlocked = isManual(wanted.spec) ? unlockedRevisions(observation) : [];
  const waiting = unlocked.find((one) => isOfGeneration(observation, one));
  const other = unlocked.find(isActive);
  if (waiting !== undefined) return activate(observation, waiting, other);
  const step = installPresent(observation, wanted, { current, other });
  return followsTag(wanted) && step.wait === 0 ? { ...step, wait: readTagAgainSeconds } : step;
}

/** Whether the user has allowed a change that cannot be undone, since the package transaction was made. */
function isAllowedSince(pkg: JsonObject, ptx: JsonObject): boolean {
  const [wanted, made] = [pkg, ptx].map((one) => textAt(one, 'metadata', 'annotations', allowIrreversible));
  const isIdle = ['Waiting', 'Failed'].includes(textAt(ptx, 'status', 'phase') ?? '');
  return wanted !== undefined && wanted !== made && isIdle;
}

function allowed(observation: OwnObservation, ptx: JsonObject): OwnStep {
  const message = `Package transaction ${nameOf(ptx)} is made again, since ${allowIrreversible} was changed`;
  return ending(rest(message, { ...pending(observation), message }, wait), ptx, observation);
}

interface Found {
  /** The package transaction of the present generation, which has succeeded. */
  readonly current: JsonObject | undefined;
  /** An Active revision that no package transaction has installed. */
  readonly other: JsonObject | undefined;
}

function installPresent(observation: OwnObservation, wanted: Wanted, { current, other }: Found): OwnStep {
  const { writer, now } = observation;
  if (current === undefined && writer !== undefined && isRunning(writer))
    return follow(observation, writer, waitFor(writer, now));
  const step = madeAgain(observation, wanted, current);
  if (step !== undefined) return step;
  if (current === undefined && !isAsWanted(observation, wanted))
    return create(observation, ownInstall(observation), pending(observation));
  if (other !== undefined) return ignored(observation, other);
  return current === undefined ? rest('it is installed as its spec says') : follow(observation, current);
}

/** Revisions of the Package that the Lock does not have. Empty if the Lock cannot be read. */
function unlockedRevisions({ revisions, lock }: OwnObservation): readonly JsonObject[] {
  const entries = readLock(lock ?? {});
  if (typeof entries === 'string') return [];
  const locked = new Set(entries.map(({ name }) => name));
  return revisions.filter((one) => !isTerminating(one) && !locked.has(nameOf(one) ?? ''));
}

/** Whether a package transaction for the present generation of this very Package wrote the revision last. */
function isOfGeneration({ kind, pkg, writer }: OwnObservation, revision: JsonObject): boolean {
  const byHand = writer !== undefined && hasInstalled(writer, pkg) ? [nameOf(writer)] : [];
  const names = [ownName(kind, pkg), ownName(kind, pkg, uidOf(revision)), ...byHand];
  return isOwnedBy(pkg, revision) && names.includes(textAt(revision, 'metadata', 'labels', nameLabel) ?? '');
}

/** Whether a package transaction that somebody else made has installed the package as the Package says now. */
function hasInstalled(writer: JsonObject, pkg: JsonObject): boolean {
  const installed = textAt(writer, 'spec', 'install', 'package', 'spec', 'package');
  return hasSucceeded(writer) && installed === textAt(pkg, 'spec', 'package');
}

/** A package transaction hands control to the revision, once for each time that a user makes it Active. */
function activate(observation: OwnObservation, revision: JsonObject, other: JsonObject | undefined): OwnStep {
  const { kind, pkg, made, writer, now } = observation;
  const ptx = made.find((one) => nameOf(one) === ownName(kind, pkg, uidOf(revision)));
  if (!isActive(revision)) return leaveInactive(observation, ptx, other);
  if (ptx !== undefined) return hasSucceeded(ptx) ? ignored(observation, revision) : follow(observation, ptx);
  if (writer !== undefined && isRunning(writer)) return follow(observation, writer, waitFor(writer, now));
  return create({ ...observation, namesake: undefined }, ownInstall(observation, uidOf(revision)), pending(observation));
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

/** A change of the package transaction causes a call. A hundred of them may wait for the Lock. */
function whileItRuns(ptx: JsonObject): number {
  if (!isRunning(ptx)) return 0;
  return textAt(ptx, 'status', 'phase') === 'Waiting' ? lookAgainSeconds : safetyWaitSeconds;
}

/** Its progress, or why it failed. Once it has succeeded, the revisions say all. */
function follow(observation: OwnObservation, ptx: JsonObject, seconds = whileItRuns(ptx)): OwnStep {
  const installed = conditionOf(ptx, 'Installed');
  if (textAt(installed, 'status') === 'True') return rest('its package transaction has installed it', lossOf(ptx), seconds);
  const shown = textAt(conditionOf(ptx, 'Validated'), 'status') === 'True' ? installed : conditionOf(ptx, 'Validated');
  const because = 'its package transaction has not installed it';
  if (isRunning(ptx) || isTerminating(ptx) || textAt(shown, 'status') === 'False') {
    const status = textAt(shown, 'status') === 'False' ? 'False' : underWay(observation);
    return rest(because, { status, ...saidBy(ptx, shown, endOf(ptx)) }, seconds);
  }
  // A registry's failure is no verdict on the packages, so Validated is Unknown. But no further try follows.
  const reason = textAt(ptx, 'status', 'outcome', 'reason') ?? 'InstallationFailed';
  return rest(because, { ...saidBy(ptx, shown, endOf(ptx)), status: 'False', reason }, seconds);
}

/** Which instances have lost values, as the user has allowed. */
function lossOf(ptx: JsonObject): OwnCondition | undefined {
  const message = textAt(ptx, 'status', 'lostValues');
  return message === undefined ? undefined : { reason: 'ActivePackageRevision', message };
}

function endOf(ptx: JsonObject): string {
  if (isRunning(ptx)) return '';
  if (isTerminating(ptx)) return '; it is being deleted, and is made again once it is gone';
  return '; it is not tried again: change the Package, or delete the package transaction, which then is made again';
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

function isOwnedBy(pkg: JsonObject, revision: JsonObject): boolean {
  return ownersIn(revision).some((owner) => textAt(owner, 'uid') === uidOf(pkg));
}
