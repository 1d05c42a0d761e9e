// Faults of the owners that a change gives to its object, in words.

import { type JsonObject, textAt } from '../../objects/json.ts';
import { describe } from '../../objects/reference.ts';
import { foreign } from '../../objects/words.ts';
import { type Fault, fault } from '../checks/fault.ts';
import type { Resolved } from '../checks/targets.ts';
import { isSealed } from '../model/entry.ts';
import type { Transaction } from '../model/transaction.ts';

/** The owner does not exist, or an earlier change deletes it. */
export function deadOwnerFault(owner: JsonObject, resolved: Resolved, transaction: Transaction): Fault {
  const why = `is given ${inWords(owner, resolved, transaction)} as owner, which will not exist: Kubernetes would delete the object; remove that owner from metadata.ownerReferences, or name an existing one with its uid`;
  return ownerFault('Invalid', resolved, why);
}

/** The ServiceAccount may not read the owner. */
export function hiddenOwnerFault(owner: JsonObject, resolved: Resolved, transaction: Transaction): Fault {
  const { namespace, serviceAccountName } = transaction;
  const why = `is given ${inWords(owner, resolved, transaction)} as owner, which ServiceAccount ${namespace}/${serviceAccountName} may not read: if it does not exist, Kubernetes deletes the object; allow the ServiceAccount to get it, or leave it out of metadata.ownerReferences`;
  return ownerFault('Forbidden', resolved, why);
}

function ownerFault(reason: 'Invalid' | 'Forbidden', { index, target }: Resolved, why: string): Fault {
  return fault(reason, `spec.changes[${index}]: ${describe(target)} ${why}`, index);
}

const longest = 253;

function inWords(owner: JsonObject, resolved: Resolved, transaction: Transaction): string {
  if (isSealed(resolved, transaction)) return 'an object';
  const text = (key: string): string => foreign(textAt(owner, key) ?? '', longest);
  return `${text('kind')} ${text('name')} (uid ${text('uid')})`;
}
