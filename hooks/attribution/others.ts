// Other Transactions over the same object. A Transaction that came later and is not undone was built upon what we did: its undo returns what it
// found. So ours waits for that one's, wherever the two meet; and what an undo returns goes to nobody whose work is undone.
//
// An object that was deleted and created again by an undo has another uid, and is the same object: it carries our field manager,
// or the Transaction that brought it back says so.
import { managersOf } from '../content/fields.ts';
import type { OurPath } from '../content/merge.ts';
import { ownersAt } from '../content/owners.ts';
import { hasManager, newOwners, ownedBy } from '../content/ownership.ts';
import type { JsonObject } from '../model/json.ts';
import { isAfter, type OtherChange, type Others, type Wanted } from '../model/others.ts';
import type { Reason } from '../model/reason.ts';
import { describe } from '../model/reference.ts';
import { isOfTransaction } from '../model/transaction.ts';
import { type Attributed, type Evidence, type ForeignPath, uidOf } from './attribute.ts';

/** What other Transactions make of an undo: a conflict, or that they must be looked at first. */
type Hindrance =
  | { readonly kind: 'conflict'; readonly reason: Reason; readonly message: string }
  | { readonly kind: 'readMore'; readonly others: Wanted };

/** What is known of other Transactions when a change is taken back. */
export interface OthersEvidence extends Evidence {
  /** Undefined when they were not looked for. */
  readonly others: Others | undefined;
  /** Of the object as our change left it; undefined where it is not recorded. */
  readonly version: string | undefined;
  /** uid of the object that our Create made, where it was recorded. */
  readonly createdUid: string | undefined;
  /** Whether the undo was asked for, so that the locks may have been released before it: only then others came in between. */
  readonly isRequested: boolean;
}

/** Undefined once the Transactions are known whose field managers can be read from the object and its prior state. */
export function lookFirst(evidence: OthersEvidence): Hindrance | undefined {
  const wanted = [...new Set([...newcomers(evidence), ...returning(evidence)])];
  return evidence.others === undefined && wanted.length > 0 ? { kind: 'readMore', others: wanted } : undefined;
}

/** Undefined once every Transaction over the object is known. */
export function lookAtAll({ others }: OthersEvidence): Hindrance | undefined {
  return others?.areAll === true ? undefined : { kind: 'readMore', others: 'all' };
}

function namesIn(object: JsonObject | undefined): readonly string[] {
  return managersOf(object).map(({ name }) => name);
}

// Transactions that have written since our change. To a deleted object: to what is there in its place.
function newcomers({ entry, live, managers }: Evidence): readonly string[] {
  const known = new Set([...namesIn(entry.expected), managers.forward, managers.restore]);
  return namesIn(live).filter((name) => !known.has(name) && isOfTransaction(name));
}

// Transactions that lost fields to our change and have none now: our undo would make them owners again.
function returning({ entry, live }: Evidence): readonly string[] {
  const [now, kept] = [new Set(namesIn(live)), new Map(managersOf(entry.expected).map(({ name, fields }) => [name, fields]))];
  return managersOf(entry.prior)
    .filter(({ name, fields }) => isOfTransaction(name) && !now.has(name) && !fields.isSubsetOf(kept.get(name) ?? new Set()))
    .map(({ name }) => name);
}

/** The managers to whom nothing is returned: their Transactions are undone, or gone with their entry. */
export function goneManagers(evidence: OthersEvidence): readonly string[] {
  const operations = new Map(managersOf(evidence.entry.prior).map(({ name, operation }) => [name, operation]));
  return returning(evidence).filter((name) => {
    const own = changesOf(evidence).find(({ managers }) => managers.forward === name || managers.restore === name);
    // The entry of a Patch goes with its Transaction; that of a Create or an Update stays, as that of any client.
    return own === undefined ? operations.get(name) === 'Apply' : !own.stands;
  });
}

function changesOf({ others }: OthersEvidence): readonly OtherChange[] {
  return others?.changes ?? [];
}

/** The conflict with those that came after us and stand; undefined where there is none. */
export function laterThan(
  evidence: OthersEvidence,
  isInTheWay: (other: OtherChange) => boolean = () => true,
): Hindrance | undefined {
  const upon = changesOf(evidence).filter((other) => other.stands && isAfter(other, evidence.version) && isInTheWay(other));
  if (upon.length === 0) return undefined;
  const changes = upon
    .slice(0, 5)
    .map(({ type, transaction, managers }) => `${verbs[type]} by Transaction ${transaction} (${managers.forward})`);
  const name = describe(evidence.entry.target);
  const message = `${name} was later ${changes.join(', ')}, on top of this change: roll back that Transaction first`;
  return { kind: 'conflict', reason: 'LaterTransaction', message };
}

const verbs = { Create: 'created', Update: 'updated', Patch: 'patched', Delete: 'deleted' } as const;

/**
 * Whether the live object, of another uid than ours, is ours all the same: deleted by another Transaction and brought back. An
 * Update that only removed fields has left no entry: then the word of that other one must do. What was created always has one.
 */
export function isBroughtBack(evidence: OthersEvidence): boolean {
  const { live, managers, entry } = evidence;
  if (hasManager(live, [managers.forward, managers.restore])) return true;
  const restored = changesOf(evidence).filter(({ type, stands }) => type === 'Delete' && !stands);
  return entry.type !== 'Create' && restored.some(({ uid }) => uid !== undefined && uid === uidOf(live));
}

// Our object is not there any more. Where another Transaction has deleted it, and may bring it back, ours comes after that one.
export function deletedByOthers(evidence: OthersEvidence): Hindrance | undefined {
  if (!evidence.recorded) return undefined;
  return lookAtAll(evidence) ?? laterThan(evidence, ({ type }) => type === 'Delete');
}

// A later Update has said of every field what it shall be, and a later Patch of ours what it holds. Where a part of our change is
// gone and nothing shows who took it, every Transaction is looked at: what one of them took, its undo returns to us.
export function builtUpon(evidence: OthersEvidence, { ours }: Attributed): Hindrance | undefined {
  if (!evidence.recorded || ours.length === 0) return undefined;
  const values = ours.filter(({ isOrder }) => isOrder !== true);
  const owners = new Set(values.flatMap(({ path }) => ownersAt(evidence.live, path).map(({ name }) => name)));
  const isTaken = ours.some(({ state }) => state !== 'applied');
  const upon = laterThan(
    evidence,
    ({ type, managers, tookFieldsFrom }) =>
      type !== 'Patch' || owners.has(managers.forward) || (isTaken && tookFieldsFrom.includes(evidence.managers.forward)),
  );
  if (upon !== undefined) return upon;
  const isSilent = ({ path, state }: OurPath): boolean =>
    state === 'untouched' || (state === 'foreign' && ownersAt(evidence.live, path).length === 0);
  return ours.some(isSilent) ? lookAtAll(evidence) : undefined;
}

/** What others own of that which was ours, in a created object whose uid proves nothing any more. */
export function sharedFields({ live, entry, managers }: Evidence): readonly ForeignPath[] {
  const [ours, names] = [[managers.forward], [managers.forward, managers.restore]];
  const fields = [...ownedBy(entry.expected, ours), ...ownedBy(live, ours)];
  return newOwners({ prior: undefined, expected: entry.expected, live }, fields, names);
}
