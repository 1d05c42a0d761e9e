// Refuses Deletes that would take other objects with them, before anything is changed.

import { textAt } from '../../objects/json.ts';
import { describe } from '../../objects/reference.ts';
import { type Fault, fault } from '../checks/fault.ts';
import { howToAllow, takesAlong, unlistedNote, whyIrreversible } from '../checks/one-way.ts';
import type { Resolved } from '../checks/targets.ts';
import { isLostForGood } from '../checks/validity.ts';
import { mayBreak } from '../model/transaction.ts';
import { type Around, type LookedAround, lookAround, nothingAround } from './along.ts';
import type { LockContext } from './begin.ts';
import { alongIn, lookerOf } from './contents.ts';
import type { Prepared } from './observation.ts';

/** Around those of them that are deleted, be it to create them again. */
export async function lookAroundDeleted(
  { reader, looks, transaction }: LockContext,
  resolved: readonly Resolved[],
  isDeleted: (one: Resolved) => boolean = ({ change }) => change.type === 'Delete',
): Promise<ReadonlyMap<number, LookedAround>> {
  const deleted = mayBreak(transaction) ? [] : resolved.filter(isDeleted);
  const looker = lookerOf({ reader, looks }, transaction);
  const looked = await Promise.all(deleted.map((one) => lookAround(looker, one)));
  return new Map(deleted.map(({ index }, at) => [index, looked[at] ?? nothingAround]));
}

export function withNote(prepared: Prepared, around: Around | undefined): Prepared {
  const note = unlistedNote(around?.unlisted ?? [], [], around?.away);
  const seen = note === undefined ? prepared : { ...prepared, note };
  return around === undefined || around.failing.length === 0 ? seen : { ...seen, failing: around.failing };
}

type AroundOf = (prepared: Prepared) => Around | undefined;

export function irreversibleFaults(targets: readonly Prepared[], aroundOf: AroundOf): readonly Fault[] {
  return targets.flatMap((target) => {
    const { index, change, target: reference } = target.resolved;
    const isDeleted = change.type === 'Delete' || target.recreates === true;
    const why = isDeleted
      ? (neverRecreated(target) ?? takesAlong(companions(target, targets, aroundOf)) ?? target.othersLose)
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
  return alongIn(around, { ...resolved, object: prior }, new Set(before.map((one) => textAt(one.prior, 'metadata', 'uid'))));
}
