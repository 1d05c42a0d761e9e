// What cannot be read for now, although a change or an undo depends on it: a kind whose objects Kubernetes may delete with another object
// (its conversion webhook is gone, its API server is away), an owner, a version that is not served. The engine waits for it, but not so
// long that everything else waits, too.

import type { UnlistableKind } from '../../objects/failure.ts';
import { describe } from '../../objects/reference.ts';
import type { UndoVerdict } from '../attribution/undo.ts';
import { type Fault, fault } from '../checks/fault.ts';
import { unlistedBy } from '../checks/undo-choices.ts';
import type { Hazards } from '../hazards/hazards.ts';
import { howToAllow } from '../hazards/messages.ts';
import { isSealed, type SnapshotEntry } from '../model/entry.ts';
import { type Reason, reasonOfFailure } from '../model/reason.ts';
import type { Status } from '../model/status.ts';
import { annotations, type Transaction } from '../model/transaction.ts';
import type { ItemView, Observation, Prepared } from '../observe/observation.ts';
import type { Step } from './step.ts';
import { notRestored, undoing } from './undo-transitions.ts';
import { setAside, setStatus, waitOut } from './waiting.ts';

/** ms since the beginning, of the Transaction or of its undo, for which a kind is waited for; at most half of spec.timeout. */
const listPatienceMs = 60_000;

/**
 * Attempts in a row that must have failed: a list that fails once after a long time may succeed at the next try. After half of
 * spec.timeout, two suffice: if a server never answers, each attempt takes as long as a request may.
 */
const attempts = { most: 6, least: 2 } as const;

function isLasting({ transaction, now, waits }: Observation, since: number): boolean {
  const half = since + transaction.timeout / 2;
  return now > Math.min(since + listPatienceMs, half) && waits >= (now > half ? attempts.least : attempts.most);
}

/**
 * As `isLasting`, for a requested undo that waits since then. Between two tries it may have given its locks back: then the process does
 * not count its tries.
 */
export function lastsForRequest(observation: Observation, since: number): boolean {
  const { transaction, now, waits, status } = observation;
  const isAgain = waits >= attempts.least || status.locksReturnedAt !== undefined;
  return isAgain && now > since + Math.min(listPatienceMs, transaction.timeout / 2);
}

/** A Delete among these whose dependents cannot all be listed: the engine waits, then refuses the Delete. */
export function unlistableAtChecks(observation: Observation, targets: readonly Prepared[]): Step | readonly Fault[] {
  const blind = targets.flatMap((one) =>
    (one.failingKinds ?? []).slice(0, 1).map((unlistable) => ({ unlistable, resolved: one.resolved })),
  );
  const [first] = blind;
  if (first === undefined) return [];
  if (!isLasting(observation, observation.status.startTime ?? observation.now))
    return waitOut(observation.status, lookingAt(first.unlistable, first.resolved), first.unlistable.failure);
  return blind.map(({ unlistable, resolved: { index, target } }) =>
    fault('Irreversible', `spec.changes[${index}]: ${blindDelete(unlistable, target)}`, index),
  );
}

/** Like the check before the first change, when the Delete is due: the engine then takes the earlier changes back. */
export function unlistableAtDelete(observation: Observation, view: ItemView, { index, target }: SnapshotEntry): Step | undefined {
  const { status, now } = observation;
  const [unlistable] = view.hazards.failingKinds;
  if (unlistable === undefined) return undefined;
  if (!isLasting(observation, status.startTime ?? now))
    return waitOut(status, lookingAt(unlistable, { target }), unlistable.failure);
  const message = blindDelete(unlistable, target);
  return setStatus(undoing(status, { reason: 'Irreversible', message }, now, index), message);
}

/** What the undo of a change must read, and cannot read for now. `isAway`: an APIService is not Available. */
export interface Unread extends Pick<UnlistableKind, 'failure' | 'isAway'> {
  /** The read, in words. */
  readonly what: string;
  readonly reason: Reason;
  /** Why the undo leaves the change, and what to do about it. */
  readonly message: string;
}

/**
 * The step of an undo that has begun: it undoes other changes meanwhile, and after it. `isOptional`: if the trouble lasts, the undo of the
 * change goes on without the read. Undefined then.
 */
export function unreadAtUndo(
  observation: Observation,
  { index }: Pick<SnapshotEntry, 'index'>,
  { what, failure, reason, message }: Unread,
  isOptional = false,
): Step | undefined {
  const { status, now } = observation;
  if (failure.kind === 'transient' && !isLasting(observation, undoBegan(status, now)))
    return setAside(status, index, what, failure);
  return isOptional ? undefined : setStatus(notRestored(status, index, now, { reason, message }), message);
}

/** What would be deleted with the object, or an owner that the object gets back. */
export function unreadBy(
  { kind }: UndoVerdict,
  hazards: Hazards,
  entry: SnapshotEntry,
  transaction: Transaction,
): Unread | undefined {
  if (kind === 'delete') return unreadDependents(hazards, entry, transaction);
  const givesOwners = kind === 'recreate' || kind === 'complete' || kind === 'content';
  return givesOwners ? unreadOwner(hazards, entry, transaction) : undefined;
}

function unreadDependents(hazards: Hazards, { target }: SnapshotEntry, transaction: Transaction): Unread | undefined {
  const unlistable = unseenKind(hazards, transaction);
  if (unlistable === undefined) return undefined;
  const message = `${describe(target)} was created by this Transaction, and ${unknownWith(unlistable)}; ${nextFor(unlistable, hazards)}`;
  return { ...unlistable, what: lookingAt(unlistable, { target }), reason: reasonOfFailure(unlistable.failure), message };
}

function unreadOwner({ unreadableOwner }: Hazards, entry: SnapshotEntry, transaction: Transaction): Unread | undefined {
  if (unreadableOwner === undefined) return undefined;
  const { kind, failure } = unreadableOwner;
  const name = describe(entry.target);
  const owner = isSealed(entry, transaction) ? 'an owner' : `an owner, ${kind},`;
  const message = `${name} has ${owner} that cannot be read (${failure.reason}): Kubernetes deletes objects whose owners do not exist; make sure that the ServiceAccount can read that kind`;
  return { failure, what: `reading ${owner} of ${name}`, reason: reasonOfFailure(failure), message };
}

/** The object, if its kind is not served in the version of the change. */
export function unservedObject({ live }: Pick<ItemView, 'live'>, { target, resource }: SnapshotEntry): Unread | undefined {
  if (live.kind !== 'trouble' || live.isUnserved !== true) return undefined;
  const { plural, group, version } = resource;
  const name = describe(target);
  const message = `${name} cannot be read: version ${version} of ${plural}.${group} is not served, and the object may exist in another one; serve that version again, then retry the rollback; if the kind was deleted, allow the ServiceAccount to get its CustomResourceDefinition before`;
  return { failure: live.failure, what: `reading ${name}`, reason: 'UnknownKind', message };
}

/** A kind that cannot be listed, and that the undo needs: one inside of the object, or one that the user has not excepted. */
function unseenKind(
  { unlistableContents, failingKinds }: Pick<Hazards, 'unlistableContents' | 'failingKinds'>,
  transaction: Transaction,
): UnlistableKind | undefined {
  const excepted = unlistedBy(transaction);
  return unlistableContents ?? failingKinds.find(({ kind }) => !excepted.has(kind));
}

/** Why the engine cannot know which objects would be deleted with an object, in words. */
export function unknownWith(unlistable: UnlistableKind): string {
  return `what would be deleted with it is unknown: ${whyUnlistable(unlistable)}`;
}

function whyUnlistable({ kind, failure, isAway }: UnlistableKind): string {
  return isAway === true ? `APIService ${kind} is not Available` : `listing ${kind} fails (${failure.reason})`;
}

/** What makes the kind listable again, or, unless it is one inside of the object, how to undo without it. */
function nextFor(unlistable: UnlistableKind, { unlistableContents }: Pick<Hazards, 'unlistableContents'>): string {
  const { kind } = unlistable;
  const without = `, or except the kind: ${annotations.undoUnlisted}=${kind} (janus undo --unlisted ${kind}; objects of the kind may be deleted unread)`;
  return `${repairOf(unlistable)}${unlistableContents === undefined ? without : ''}`;
}

function repairOf({ failure, isAway }: UnlistableKind): string {
  if (isAway === true) return 'make that APIService Available or delete it, then retry the rollback';
  const who =
    failure.kind === 'transient'
      ? 'make sure that the API server can list that kind'
      : 'allow the ServiceAccount to list that kind';
  return `${who}, then retry the rollback`;
}

function undoBegan({ rollbackStartedAt, rollbackObservedAt }: Status, now: number): number {
  return Math.max(rollbackStartedAt ?? now, rollbackObservedAt ?? 0);
}

function lookingAt({ kind }: UnlistableKind, { target }: Pick<SnapshotEntry, 'target'>): string {
  return `listing ${kind} to find what would be deleted with ${describe(target)}`;
}

function blindDelete(unlistable: UnlistableKind, target: SnapshotEntry['target']): string {
  const why = `what would be deleted with it is unknown, since ${whyUnlistable(unlistable)}`;
  return `Delete of ${describe(target)} cannot be undone: ${why}; fix that kind, or ${howToAllow}`;
}
