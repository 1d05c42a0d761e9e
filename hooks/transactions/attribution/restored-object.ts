// How an object shows that a rollback has written it: the writes of a rollback leave no entry of its own in managedFields.
import { withManagedFields } from '../../objects/content/content.ts';
import { hasSameOwners, restoredManagers } from '../../objects/content/ownership.ts';
import type { JsonObject } from '../../objects/json.ts';
import { bearsRestored } from '../model/marks.ts';
import { ownManager } from '../model/transaction.ts';
import { isOurCreation } from './apply.ts';
import type { Attributed, Evidence } from './attribute.ts';

/** Whether our change made the object, although no status has recorded its uid. `uid`: of the Transaction. */
export function isMadeByUs(evidence: Evidence & { readonly uid: string }, live: JsonObject): boolean {
  return isOurCreation(evidence, evidence.uid) || bearsRestored(evidence.entry, live);
}

/** Whether the undo of a rollback must give fields back, although no value has moved: the rollback has changed nothing but the owners. */
export function lacksOwners({ entry, managers, recorded }: Evidence, live: JsonObject, { kinds }: Attributed): boolean {
  const { prior, expected, restores } = entry;
  if (restores !== true || (!recorded && !hasSameOwners(live, expected))) return false;
  const own = [ownManager(managers), managers.restore];
  const owners = restoredManagers({ prior, expected, live, halfBy: own }, kinds, own);
  return !hasSameOwners(live, withManagedFields(live, owners));
}
