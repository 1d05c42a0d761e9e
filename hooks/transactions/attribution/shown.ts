// Whether a prior state that another Transaction has stored shows our change. If it does, our change was made, recorded or not, and the
// other Transaction changed the object later.
import type { JsonObject } from '../../objects/json.ts';
import { isOurCreation } from './apply.ts';
import { attribute, type Evidence, isAbsent, uidOf } from './attribute.ts';

interface ShownEvidence extends Evidence {
  /** uid of the Transaction. */
  readonly uid: string;
  /** uid of the object that our Create made; undefined if it was not recorded. */
  readonly createdUid: string | undefined;
}

/** Whether the state shows our change: by uid, field manager or annotation. `prior`: undefined if there was no object. */
export function showsChange(evidence: ShownEvidence, prior: JsonObject | undefined): boolean {
  const { entry, createdUid, uid } = evidence;
  const then = { ...evidence, live: prior, recorded: false };
  // Nothing distinguishes our Delete from that of another writer.
  if (entry.type === 'Delete') return uidOf(prior) !== uidOf(entry.prior);
  if (prior === undefined) return false;
  if (entry.type === 'Create') return uidOf(prior) === createdUid || isOurCreation(then, uid);
  return !isAbsent(then, attribute(then));
}
