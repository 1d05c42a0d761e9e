// Owners that a change gives to an object. The garbage collector deletes an object whose owners are all missing, and no undo could
// restore the object.

import type { Failure } from '../../objects/failure.ts';
import { textAt } from '../../objects/json.ts';
import type { Fault } from '../checks/fault.ts';
import type { Transaction } from '../model/transaction.ts';
import type { Prepared } from '../observe/observation.ts';
import { serviceAccountOf } from '../writes/resources.ts';
import type { ReadContext } from './read-context.ts';
import { deadOwnerFault, hiddenOwnerFault } from './read-given-owners.ts';
import { lookForOwners, ownersLackedBy } from './read-owners.ts';

type Wrong = { readonly kind: 'fault'; readonly fault: Fault } | { readonly kind: 'trouble'; readonly failure: Failure };

/** The fault of the owners that the change gives to its object; undefined if there is none. */
export async function wrongOwner(
  { reader, transaction }: Pick<ReadContext, 'reader' | 'transaction'>,
  { prior, expected, resolved }: Prepared,
): Promise<Wrong | undefined> {
  const given = ownersLackedBy(prior, expected);
  const { namespace } = resolved.target;
  const { gone, leaving, hidden, unserved, trouble } = await lookForOwners(
    reader,
    serviceAccountOf(transaction),
    given,
    namespace,
  );
  if (trouble !== undefined) return { kind: 'trouble', failure: trouble.failure };
  const [dead] = [...gone, ...leaving, ...unserved];
  const [unread] = hidden;
  if (dead !== undefined) return { kind: 'fault', fault: deadOwnerFault(dead, resolved, transaction) };
  return unread === undefined ? undefined : { kind: 'fault', fault: hiddenOwnerFault(unread, resolved, transaction) };
}

/** Faults of owners that an earlier change of the same Transaction deletes, be it to create them again. */
export function deletedOwnerFaults(targets: readonly Prepared[], transaction: Transaction): readonly Fault[] {
  return targets.flatMap(({ prior, expected, resolved }) => {
    const before = targets.filter((one) => isDeleting(one) && one.resolved.index < resolved.index);
    const deleted = new Set(before.map((one) => textAt(one.prior, 'metadata', 'uid')));
    const dead = ownersLackedBy(prior, expected).find((owner) => deleted.has(textAt(owner, 'uid')));
    return dead === undefined ? [] : [deadOwnerFault(dead, resolved, transaction)];
  });
}

function isDeleting({ resolved, recreates }: Prepared): boolean {
  return resolved.change.type === 'Delete' || recreates === true;
}
