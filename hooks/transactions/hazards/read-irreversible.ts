// Refuses Deletes that would take other objects with them, before anything is changed.

import { textAt } from '../../objects/json.ts';
import { describe } from '../../objects/reference.ts';
import { type Fault, fault } from '../checks/fault.ts';
import type { Resolved } from '../checks/targets.ts';
import { isLostForGood } from '../checks/validity.ts';
import { mayBreak } from '../model/transaction.ts';
import type { Prepared } from '../observe/observation.ts';
import { howToAllow, unlistedKindsNote, whyCascade, whyIrreversible } from './one-way.ts';
import type { ReadContext } from './read-context.ts';
import { cascadeNames, lookerOf } from './read-deleted.ts';
import { type Around, type ListedCandidates, listCandidates, noCandidates } from './read-dependents.ts';

/** Around those of them that are deleted, be it to create them again. */
export async function listCandidatesOfDeletes(
  { reader, looks, transaction }: ReadContext,
  resolved: readonly Resolved[],
  isDeleted: (one: Resolved) => boolean = ({ change }) => change.type === 'Delete',
): Promise<ReadonlyMap<number, ListedCandidates>> {
  const deleted = mayBreak(transaction) ? [] : resolved.filter(isDeleted);
  const looker = lookerOf({ reader, looks }, transaction);
  const looked = await Promise.all(deleted.map((one) => listCandidates(looker, one)));
  return new Map(deleted.map(({ index }, at) => [index, looked[at] ?? noCandidates]));
}

export function withNote(prepared: Prepared, around: Around | undefined): Prepared {
  const note = unlistedKindsNote(around?.unlisted ?? [], [], around?.away);
  const seen = note === undefined ? prepared : { ...prepared, note };
  return around === undefined || around.failing.length === 0 ? seen : { ...seen, failing: around.failing };
}

type AroundOf = (prepared: Prepared) => Around | undefined;

export function irreversibleFaults(targets: readonly Prepared[], aroundOf: AroundOf): readonly Fault[] {
  return targets.flatMap((target) => {
    const { index, change, target: reference } = target.resolved;
    const isDeleted = change.type === 'Delete' || target.recreates === true;
    const why = isDeleted
      ? (neverRecreated(target) ?? whyCascade(companions(target, targets, aroundOf)) ?? target.othersLose)
      : (target.othersLose ?? whyIrreversible(target.prior, target.expected, target.movesBack));
    const what = `spec.changes[${index}]: ${change.type} of ${describe(reference)} cannot be undone: ${why}`;
    return why === undefined ? [] : [fault('Irreversible', `${what}; ${howToAllow}`, index)];
  });
}

// A Delete of these was refused before.
function neverRecreated({ resolved: { target }, recreates }: Prepared): string | undefined {
  return recreates === true && isLostForGood(target) ? 'it would be deleted and created again' : undefined;
}

// Objects that an earlier change of the Transaction deletes do not count: their own undo recreates them.
function companions(prepared: Prepared, targets: readonly Prepared[], aroundOf: AroundOf): readonly string[] {
  const { resolved, prior } = prepared;
  const around = aroundOf(prepared);
  if (around === undefined || prior === undefined) return [];
  const before = targets.filter((one) => one.resolved.change.type === 'Delete' && one.resolved.index < resolved.index);
  return cascadeNames(around, { ...resolved, object: prior }, new Set(before.map((one) => textAt(one.prior, 'metadata', 'uid'))));
}
