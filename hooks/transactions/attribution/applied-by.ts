// A change under a field manager that others use as well, as the releases of one application do. The manager's entry in managedFields
// does not show which Transaction made the object. The annotation `applied-by` shows it, together with the values. Whoever may write the
// object can write both. So the annotation alone never proves that an object is our work. The manager has written again if the
// annotation names another writer. It has also written again if the annotation is gone while the manager still owns our values.
// Then the engine leaves the manager's work alone.

import { mayBecome } from '../../objects/content/defaulted.ts';
import { listKindsOf, partsOf, valueAt } from '../../objects/content/lists.ts';
import { hasManager, ownedBy } from '../../objects/content/ownership.ts';
import { type Path, pathSet } from '../../objects/content/path.ts';
import { equalJson, type JsonObject } from '../../objects/json.ts';
import { describe } from '../../objects/reference.ts';
import { foreign } from '../../objects/words.ts';
import { appliedBy, bearsOurWrite } from '../model/marks.ts';
import type { Others } from '../model/other-transactions.ts';
import type { Reason } from '../model/reason.ts';
import { annotations } from '../model/transaction.ts';
import { type Attributed, describeForeign, type Evidence, type ForeignPath, foreignPath, writtenState } from './attribute.ts';

interface Conflict {
  readonly kind: 'conflict';
  readonly reason: Reason;
  readonly message: string;
  readonly foreign?: readonly ForeignPath[];
}

/** The facts about other Transactions; undefined if the engine has not read them. */
interface Known {
  readonly others?: Others | undefined;
}

/**
 * Whether a Transaction of the same line of releases wrote the object last, and is gone: its name is free, or another Transaction
 * has the name. No other Transaction will undo its work under the shared manager, so that work counts as ours. A Transaction in a
 * namespace that the engine does not serve counts as existing. A user who forges the annotation gains nothing: it protects no value
 * from the undo.
 */
export function isLineGone({ managers, live, others }: Evidence & Known): boolean {
  if (managers.holder === undefined || appliedBy(live) === managers.holder || others === undefined) return false;
  return goneApplier(live, others) !== undefined;
}

/** `namespace/name` of the Transaction that has applied the object last, if it is gone. */
export function goneApplier(object: JsonObject | undefined, others: Others): string | undefined {
  const holder = appliedBy(object);
  const [namespace = ''] = (holder ?? '').split('/');
  const isServed = others.namespaces === undefined || others.namespaces.includes(namespace);
  return isServed && !others.changes.some((other) => other.holder === holder) ? nameIn(holder) : undefined;
}

/** Whether the object shows a write of this change, or of its undo. */
export function isMarked({ live, managers }: Evidence): boolean {
  return bearsOurWrite(live, managers) || hasManager(live, [managers.restore]);
}

/**
 * The values under the shared manager that differ from the values of our change: another writer has put our annotation on other
 * work. Empty if only this Transaction uses the manager.
 */
export function unlikeOurs(evidence: Evidence & Known): readonly ForeignPath[] {
  const { managers, live, entry } = evidence;
  if (managers.holder === undefined || isLineGone(evidence)) return [];
  const kinds = listKindsOf(entry.expected, live);
  const written = writtenState(evidence, kinds);
  const theirs = claimedBy(evidence).filter((path) => {
    const [ours, found] = [valueAt(written, path, kinds), valueAt(live, path, kinds)];
    if (found === undefined || partsOf(found, path, kinds) !== undefined) return false;
    return entry.approximate ? !mayBecome(ours, found) : !equalJson(ours, found);
  });
  return theirs.map((path) => foreignPath(live, path));
}

// The paths of the content that the shared manager owns. A controller may use this manager's name, too, and write the status.
function claimedBy({ managers, live, entry }: Evidence): readonly Path[] {
  const isStatus = (path: Path): boolean => entry.resource.statusSubresource && path[0] === 'f:status';
  return ownedBy(live, [managers.forward]).filter((path) => !isStatus(path));
}

/** Whether only our annotation is there, and not all values that our change writes with it: then it did not write any. */
export function isForged({ managers }: Evidence, { ours }: Attributed): boolean {
  return managers.holder !== undefined && ours.some(({ state, isOrder }) => state === 'untouched' && isOrder !== true);
}

/** The conflict with later work under the shared manager; `paths`: the paths of our change. Undefined if there is no conflict. */
export function appliedAgain(evidence: Evidence & Known, paths: readonly Path[], reason: Reason): Conflict | undefined {
  const { managers, live, entry, others } = evidence;
  if (managers.holder === undefined || isMarked(evidence) || isLineGone(evidence)) return undefined;
  const ours = pathSet(paths);
  const claimed = claimedBy(evidence).filter((path) => ours.covers(path) || ours.leadsTo(path));
  const [first] = claimed;
  if (first === undefined) return undefined;
  const name = describe(entry.target);
  const later = nameIn(appliedBy(live));
  const isUndone = others?.changes.some((other) => other.holder === appliedBy(live) && !other.stands) === true;
  if (!isUndone && later !== undefined && later !== nameIn(managers.holder)) {
    const message = `${name} was later applied by Transaction ${later}, on top of this change: roll back that Transaction first`;
    return { kind: 'conflict', reason: 'LaterTransaction', message };
  }
  const foreign = claimed.map((path) => ({ path, manager: managers.forward }));
  const where = describeForeign([{ path: first, manager: managers.forward }], evidence);
  const what = appliedBy(live) === undefined ? `lost its annotation ${annotations.appliedBy}, or was` : 'was';
  return {
    kind: 'conflict',
    reason,
    message: `${name} ${what} applied again by others under the same field manager: ${where}`,
    foreign,
  };
}

/** For the undo of a change that was made: the conflict if others have applied the object again; undefined otherwise. */
export function appliedOver(
  evidence: Evidence & Known & { readonly recorded: boolean },
  { ours }: Attributed,
): Conflict | undefined {
  const paths = ours.filter(({ state }) => state !== 'untouched').map(({ path }) => path);
  return evidence.recorded ? appliedAgain(evidence, paths, 'RollbackConflict') : undefined;
}

const longestName = 320;

/** `namespace/name` of a holder; undefined if the text is not such a name. */
function nameIn(holder: string | undefined): string | undefined {
  const [, name] = /^([^/\s]+\/[^/\s]+)\/[^/\s]+$/.exec(holder ?? '') ?? [];
  return name === undefined ? undefined : foreign(name, longestName);
}
