// Other Transactions that changed the same object. A later Transaction that is not undone has built upon our change: its own undo
// restores the state that it found, with our change. So our undo waits for the undo of every later Transaction that touched the
// same fields. And our undo gives no fields back to a Transaction that is itself undone.
//
// A later Transaction that is not undone refuses our undo (`LaterTransaction`)
// - if our change created the object: when it changed the object at all (`laterThan`);
// - if our change updated the object: when it wrote all fields, recreated the object, owns our fields or took them (`builtUpon`);
// - if the object is gone: when it deleted the object (`deletedByOthers`);
// - if our change deleted the object: when it created the object, or deleted a successor and no object is there (`ofSuccessor`);
// - under a manager that releases share: when the object names it (applied-by.ts).
//
// Versions show which change is later. If one of the two changes is not recorded, its version is unknown: its answer was lost, and so was
// its lock. Then the snapshot of the other Transaction decides. If the state before its change shows our change (shown.ts), our change
// was made, recorded or not, and the other one is later. Otherwise our change was never made before it.
//
// An object that was deleted, and that an undo created again, has another uid but counts as the same object. It has our field
// manager, or the item of the Transaction that restored it names its new uid.
import { type Manager, managersOf, noFields } from '../../objects/content/fields.ts';
import type { OurPath } from '../../objects/content/merge.ts';
import { ownersAt } from '../../objects/content/owners.ts';
import { newOwners, ownedBy } from '../../objects/content/ownership.ts';
import { pathOf, pathText } from '../../objects/content/path.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { describe } from '../../objects/reference.ts';
import { doneBy, isApplied, mayMake } from '../model/change.ts';
import { isCreatingHalf, isDeletingHalf } from '../model/halves.ts';
import { appliedBy } from '../model/marks.ts';
import { isAfter, type OtherChange, type Others, type Wanted } from '../model/other-transactions.ts';
import type { Reason } from '../model/reason.ts';
import { annotations, isOfTransaction, managerOfHolder, ownManager } from '../model/transaction.ts';
import { appliedOver, isMarked } from './applied-by.ts';
import { type Attributed, type Evidence, type ForeignPath, uidOf } from './attribute.ts';
import { showsChange } from './shown.ts';
import { ownsUncounted } from './uncounted.ts';

/** What stops an undo because of other Transactions: a conflict, or the need to read them first. */
type Hindrance =
  | { readonly kind: 'conflict'; readonly reason: Reason; readonly message: string }
  | { readonly kind: 'readMore'; readonly others: Wanted };

/** What an undo knows of other Transactions. */
export interface OthersEvidence extends Evidence {
  /** Undefined if they were not read. */
  readonly others: Others | undefined;
  /** resourceVersion of the object as our change left it; undefined if it was not recorded. */
  readonly version: string | undefined;
  /** uid of the object that our Create made; undefined if it was not recorded. */
  readonly createdUid: string | undefined;
  /** Whether a user requested the undo: only then were the locks released before it, and others may have changed the object since. */
  readonly isRequested: boolean;
  /** Whether other Transactions may have held the lock since our change. */
  readonly wasUnlocked?: boolean | undefined;
  /** uid of the Transaction. */
  readonly uid: string;
}

/** Undefined after the engine knows the Transactions whose field managers are in the live object or in the prior state. */
export function readManagersFirst(evidence: OthersEvidence): Hindrance | undefined {
  const wanted = [...new Set([...newcomers(evidence), ...returning(evidence)])];
  return evidence.others === undefined && wanted.length > 0 ? { kind: 'readMore', others: wanted } : undefined;
}

/** Undefined once every Transaction that changes the object is known. */
export function readAllFirst({ others }: OthersEvidence): Hindrance | undefined {
  return others?.areAll === true ? undefined : { kind: 'readMore', others: 'all' };
}

/** Undefined once every Transaction that may have built upon an unrecorded change is known. */
export function readAllIfUnlocked(evidence: OthersEvidence): Hindrance | undefined {
  return evidence.wasUnlocked === true && !evidence.recorded ? readAllFirst(evidence) : undefined;
}

// Before the engine deletes the successor of a recreated object, it must know every Transaction in the way of the former object's
// return. This includes a Transaction whose write changed nothing.
export function readAllBeforeReturn(evidence: OthersEvidence): Hindrance | undefined {
  return isCreatingHalf(evidence.entry) && evidence.isRequested ? readAllFirst(evidence) : undefined;
}

function namesIn(object: JsonObject | undefined): readonly string[] {
  return managersOf(object).map(({ name }) => name);
}

// Transactions that have written since our change: by their managers, or under a shared one by the annotation. If we deleted the object,
// these are the writers of its successor.
function newcomers({ entry, live, managers }: Evidence): readonly string[] {
  const known = new Set([...namesIn(entry.expected), managers.forward, managers.restore, ownManager(managers)]);
  const applier = appliedBy(live) === appliedBy(entry.expected) ? undefined : managerOfHolder(appliedBy(live) ?? '');
  const names = [...namesIn(live), ...(applier === undefined ? [] : [applier])];
  return names.filter((name) => !known.has(name) && isOfTransaction(name));
}

// Transactions that lost fields to our change and own none now: our undo would make them owners again.
function returning({ entry, live }: Evidence): readonly string[] {
  const [now, kept] = [new Set(namesIn(live)), new Map(managersOf(entry.expected).map((manager) => [manager.name, manager]))];
  return managersOf(entry.prior)
    .filter((manager) => isOfTransaction(manager.name) && !now.has(manager.name) && !isKept(manager, kept.get(manager.name)))
    .map(({ name }) => name);
}

// Of the few that matter: the fields of a manager may be 90 000.
function isKept({ fields }: Manager, after: Manager | undefined): boolean {
  return fields.isSubsetOf(after?.fields ?? noFields);
}

/** The managers that get no fields back: their Transaction is undone, or is deleted and its entry belongs to a Patch. */
export function goneManagers(evidence: OthersEvidence): readonly string[] {
  const operations = new Map(managersOf(evidence.entry.prior).map(({ name, operation }) => [name, operation]));
  return returning(evidence).filter((name) => {
    const own = changesOf(evidence).find(({ managers }) => managers.forward === name || managers.restore === name);
    // The entry of a Patch goes away with its Transaction; that of a Create or an Update stays, like that of any client.
    return own === undefined ? operations.get(name) === 'Apply' : !own.stands;
  });
}

function changesOf({ others }: OthersEvidence): readonly OtherChange[] {
  return others?.changes ?? [];
}

/** The conflict with later changes that are not undone; undefined if there is no conflict. */
export function laterThan(
  evidence: OthersEvidence,
  isInTheWay: (other: OtherChange) => boolean = () => true,
): Hindrance | undefined {
  const upon = changesOf(evidence).filter((other) => isUpon(other, evidence) && isInTheWay(other));
  if (upon.length === 0) return undefined;
  const changes = upon
    .slice(0, 5)
    .map(({ type, transaction, managers }) => `${doneBy(type)} by Transaction ${transaction} (${managers.forward})`);
  const name = describe(evidence.entry.target);
  const message = `${name} was later ${changes.join(', ')}, on top of this change: roll back that Transaction first`;
  return { kind: 'conflict', reason: 'LaterTransaction', message };
}

function isUpon(other: OtherChange, evidence: OthersEvidence): boolean {
  const { stands, before } = other;
  if (before === undefined) return stands && isAfter(other, evidence.version);
  return stands && before.kind === 'known' && !isInPrior(other, evidence) && showsChange(evidence, before.prior);
}

// Our prior state shows the other change: that one was earlier, whatever it found. Its Create found no object, as after our Delete.
function isInPrior({ managers, holder }: OtherChange, { entry: { prior } }: Evidence): boolean {
  const isOwn = managerOfHolder(holder) === managers.forward;
  const createdBy = textAt(prior, 'metadata', 'annotations', annotations.createdBy);
  const isMarkedBy = appliedBy(prior) === holder || (createdBy !== undefined && holder.endsWith(`/${createdBy}`));
  return isMarkedBy || (isOwn && namesIn(prior).includes(managers.forward));
}

/** Whether a later change that stands shows that our change was made, although no answer recorded it. */
export function isShown(evidence: OthersEvidence): boolean {
  return changesOf(evidence).some((other) => other.before !== undefined && isUpon(other, evidence));
}

/** The conflict with a change that may be later: the state before it cannot be read, and the engine does not guess it. */
export function unknownOrder(evidence: OthersEvidence): Hindrance | undefined {
  const unclear = changesOf(evidence).flatMap(({ stands, before, transaction }) =>
    stands && before?.kind === 'unknown' ? [{ transaction, why: before.why }] : [],
  );
  const [first] = unclear;
  if (first === undefined) return undefined;
  const name = describe(evidence.entry.target);
  const message = `whether Transaction ${first.transaction} changed ${name} on top of this change is unknown (${first.why}): roll back or delete that Transaction first`;
  return { kind: 'conflict', reason: 'SnapshotBroken', message };
}

/** The end of an announced Delete if another Transaction deleted the object, and found it there: then our Delete was never made. */
export function deletedInstead(evidence: OthersEvidence): { readonly kind: 'restored'; readonly note: string } | undefined {
  if (evidence.recorded) return undefined;
  const deleter = changesOf(evidence).find(
    (other) => other.stands && isDeletion(other) && other.before?.kind === 'known' && !showsChange(evidence, other.before.prior),
  );
  if (deleter === undefined) return undefined;
  const note = `${describe(evidence.entry.target)} was deleted by Transaction ${deleter.transaction}; it was not recreated`;
  return { kind: 'restored', note };
}

/** Whether it may have created the object, or created it again. */
export function isCreation({ type, recreates }: OtherChange): boolean {
  return mayMake(type) || recreates;
}

// A later Transaction created the object again, and a still later one deleted it: their undos come first. They could do so only if they
// may have held the lock.
export function deletedAgain(evidence: OthersEvidence): Hindrance | undefined {
  if (!evidence.isRequested && evidence.wasUnlocked !== true) return undefined;
  return readAllFirst(evidence) ?? laterThan(evidence, isDeletingHalf(evidence.entry) ? undefined : ofSuccessor(evidence));
}

// The changes that made the successor of a deleted object, and those that deleted a successor that is gone. A Delete that found our version
// is no later one: both changes count one deletion as theirs. Versions of two objects of one name show which object is the successor.
function ofSuccessor({ live, entry, version }: OthersEvidence): (other: OtherChange) => boolean {
  const isOfLater = ({ before, resourceVersion }: OtherChange): boolean =>
    before?.kind === 'known'
      ? isAfter({ type: 'Update', resourceVersion: versionOf(before.prior) }, versionOf(entry.prior))
      : resourceVersion !== version;
  return (other) => isCreation(other) || (live === undefined && isDeletion(other) && isOfLater(other));
}

function versionOf(object: JsonObject | undefined): string | undefined {
  return textAt(object, 'metadata', 'resourceVersion');
}

function isDeletion({ type, recreates }: OtherChange): boolean {
  return type === 'Delete' || recreates;
}

/**
 * Whether the live object counts as ours although its uid is another: another Transaction deleted it, and its undo created it again.
 * An Update that only removed fields leaves no entry: then the item of that other Transaction must name the new uid. A Create always
 * leaves an entry.
 */
export function isBroughtBack(evidence: OthersEvidence): boolean {
  const { live, entry } = evidence;
  if (isMarked(evidence)) return true;
  const restored = changesOf(evidence).filter((other) => (isDeletion(other) && !other.stands) || other.type === 'Restore');
  return entry.type !== 'Create' && restored.some(({ uid }) => uid !== undefined && uid === uidOf(live));
}

// Our object is gone. If another Transaction deleted it, that Transaction may restore it: our undo comes after that one's.
export function deletedByOthers(evidence: OthersEvidence): Hindrance | undefined {
  if (!evidence.recorded) return undefined;
  return readAllFirst(evidence) ?? laterThan(evidence, isDeletion);
}

/**
 * The later work that depends on our change: other Transactions' work, or work under a shared manager. It names a known
 * Transaction.
 */
export function laterWork(evidence: OthersEvidence, attributed: Attributed): Hindrance | undefined {
  const again = appliedOver(evidence, attributed);
  return again?.reason === 'LaterTransaction'
    ? (undoneByRollback(evidence) ?? again)
    : (builtUpon(evidence, attributed) ?? again);
}

// The object that a rollback has restored names the Transaction that stayed, which is older than ours.
function undoneByRollback(evidence: OthersEvidence): Hindrance | undefined {
  return readAllFirst(evidence) ?? laterThan(evidence, ({ undoes }) => undoes?.has(evidence.uid) === true);
}

// A later Update set every field, and a later Patch may own our fields. A part of our change may be gone while managedFields do not
// show who took it. Then the engine reads all Transactions: one Transaction may have taken that part, and its undo returns it.
function builtUpon(evidence: OthersEvidence, { ours }: Attributed): Hindrance | undefined {
  if (!evidence.recorded) return undefined;
  const takers = takersOfClaims(evidence);
  if (ours.length === 0 && takers.size === 0) return undefined;
  const values = ours.filter(({ isOrder }) => isOrder !== true);
  const owners = new Set(values.flatMap(({ path }) => ownersAt(evidence.live, path).map(({ name }) => name)));
  const isTaken = ours.some(({ state }) => state !== 'applied');
  const upon = laterThan(
    evidence,
    ({ type, recreates, managers, tookFieldsFrom }) =>
      !isApplied(type) ||
      recreates ||
      owners.has(managers.forward) ||
      takers.has(managers.forward) ||
      (isTaken && tookFieldsFrom.includes(evidence.managers.forward)),
  );
  if (upon !== undefined) return upon;
  const isSilent = ({ path, state }: OurPath): boolean =>
    state === 'untouched' || (state === 'foreign' && ownersAt(evidence.live, path).length === 0);
  return ours.some(isSilent) ? readAllFirst(evidence) : undefined;
}

// Who owns now what our change has made the shared manager own, values that were there before among it. The undo of such a
// Transaction makes that manager own it again, and could not know then that our change is undone. An own manager names us: goneManagers.
function takersOfClaims({ managers, entry, live }: Evidence): ReadonlySet<string> {
  if (managers.holder === undefined) return new Set();
  const claims = (object: JsonObject | undefined): ReadonlySet<string> =>
    new Set(ownedBy(object, [managers.forward]).map(pathText));
  const lost = claims(entry.expected).difference(claims(entry.prior)).difference(claims(live));
  return new Set([...lost].flatMap((text) => ownersAt(live, pathOf(text)).map(({ name }) => name)));
}

/** Our fields that other managers now own, in a created object whose uid does not prove that the object is ours. */
export function sharedFields({ live, entry, managers }: Evidence): readonly ForeignPath[] {
  const [ours, names] = [[managers.forward], [managers.forward, managers.restore, ownManager(managers)]];
  const fields = [...ownedBy(entry.expected, ours), ...ownedBy(live, ours)];
  return newOwners(
    { prior: undefined, expected: entry.expected, live, ownsUncounted: ownsUncounted(entry, live) },
    fields,
    names,
  );
}
