// Owners that a change gives to an object. The garbage collector deletes what names only owners that are not there, and no undo could
// bring it back.
import { type Fault, fault } from '../checks/fault.ts';
import { isSealed } from '../model/entry.ts';
import type { Failure } from '../model/failure.ts';
import { type JsonObject, textAt } from '../model/json.ts';
import { describe } from '../model/reference.ts';
import type { Transaction } from '../model/transaction.ts';
import { foreign } from '../model/words.ts';
import { serviceAccountOf } from '../writes/resources.ts';
import type { LockContext } from './begin.ts';
import type { Prepared } from './observation.ts';
import { lookForOwners, ownersLackedBy } from './owners.ts';

type Wrong = { readonly kind: 'fault'; readonly fault: Fault } | { readonly kind: 'trouble'; readonly failure: Failure };

/** What speaks against the owners that the change gives to its object; undefined where nothing does. */
export async function wrongOwner(
  { reader, transaction }: Pick<LockContext, 'reader' | 'transaction'>,
  { prior, expected, resolved }: Prepared,
): Promise<Wrong | undefined> {
  const given = ownersLackedBy(prior, expected);
  const { index, target } = resolved;
  const { gone, hidden, trouble } = await lookForOwners(reader, serviceAccountOf(transaction), given, target.namespace);
  if (trouble !== undefined) return { kind: 'trouble', failure: trouble.failure };
  const [dead] = gone;
  const [unread] = hidden;
  const name = `spec.changes[${index}]: ${describe(target)}`;
  if (dead !== undefined)
    return { kind: 'fault', fault: fault('Invalid', `${name} ${deadOwner(dead, resolved, transaction)}`, index) };
  if (unread === undefined) return undefined;
  const why = `is given ${inWords(unread, resolved, transaction)} as owner, which ServiceAccount ${transaction.namespace}/${transaction.serviceAccountName} may not read: if it does not exist, Kubernetes deletes the object; allow the ServiceAccount to get it, or leave it out of metadata.ownerReferences`;
  return { kind: 'fault', fault: fault('Forbidden', `${name} ${why}`, index) };
}

/** Owners that an earlier change of the same Transaction deletes. */
export function deletedOwnerFaults(targets: readonly Prepared[], transaction: Transaction): readonly Fault[] {
  return targets.flatMap(({ prior, expected, resolved }) => {
    const before = targets.filter((one) => one.resolved.change.type === 'Delete' && one.resolved.index < resolved.index);
    const deleted = new Set(before.map((one) => textAt(one.prior, 'metadata', 'uid')));
    const dead = ownersLackedBy(prior, expected).find((owner) => deleted.has(textAt(owner, 'uid')));
    const { index, target } = resolved;
    const name = `spec.changes[${index}]: ${describe(target)}`;
    return dead === undefined ? [] : [fault('Invalid', `${name} ${deadOwner(dead, resolved, transaction)}`, index)];
  });
}

function deadOwner(owner: JsonObject, resolved: Prepared['resolved'], transaction: Transaction): string {
  return `is given ${inWords(owner, resolved, transaction)} as owner, which will not exist: Kubernetes would delete the object; remove that owner from metadata.ownerReferences, or name an existing one with its uid`;
}

const longest = 253;

function inWords(owner: JsonObject, { target }: Prepared['resolved'], { namespace }: Transaction): string {
  if (isSealed(target, namespace)) return 'an object';
  const text = (key: string): string => foreign(textAt(owner, key) ?? '', longest);
  return `${text('kind')} ${text('name')} (uid ${text('uid')})`;
}
