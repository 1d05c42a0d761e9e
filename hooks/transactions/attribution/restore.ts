// The change of a rollback: whether it is to be made, is made, or would overwrite others' work. What brings an object back, or changes it,
// is the undo of the inverse change: from the state that the snapshot has found to the state that it is to have. So the values, the
// owners, a half made write and a crash follow the rules of an undo (undo.ts). What takes an object away is a Delete (apply.ts).
import { contentOf, withManagedFields } from '../../objects/content/content.ts';
import { hasManager, hasSameOwners, isTerminating, restoredManagers } from '../../objects/content/ownership.ts';
import { equalJson, isObject, type JsonObject } from '../../objects/json.ts';
import { describe } from '../../objects/reference.ts';
import type { Hazards } from '../hazards/hazards.ts';
import { inverseOf } from '../model/entry.ts';
import { ownManager } from '../model/transaction.ts';
import type { ApplyEvidence, ApplyVerdict } from './apply.ts';
import { attribute, describeForeign, takenOver, uidOf } from './attribute.ts';
import { untilGone } from './former.ts';
import { completion, recreatedContent, recreation } from './recreation.ts';
import type { UndoVerdict } from './undo.ts';

/** How an object is restored: as an undo does it. */
export type Restoring = Extract<UndoVerdict, { kind: 'content' | 'recreate' | 'complete' }>;

type RestoreVerdict = { readonly kind: 'restore'; readonly how: Restoring } | Exclude<ApplyVerdict, { kind: 'send' }>;

type RestoreEvidence = ApplyEvidence & { readonly hazards: Hazards };

/** Of a Restore that creates or changes its object. */
export function evaluateRestore(evidence: RestoreEvidence): RestoreVerdict {
  const { hazards, entry, live } = evidence;
  if (hazards.unreadableOwner !== undefined) {
    const { kind, failure } = hazards.unreadableOwner;
    const why = `an owner of ${describe(entry.target)}, ${kind}, cannot be read (${failure.reason})`;
    return { kind: 'wait', message: `waiting: ${why}` };
  }
  const former = untilGone(evidence);
  if (former !== undefined) return { kind: 'wait', message: former };
  const { managers } = evidence;
  const mark = ownManager(managers);
  const inverse = { ...evidence, entry: inverseOf(entry), managers: { forward: mark, restore: mark }, recorded: true };
  if (entry.type === 'Create') return evaluateReturn(inverse);
  const name = describe(entry.target);
  if (live === undefined) return conflict('Gone', `${name} was deleted by someone else after its snapshot was taken`);
  if (uidOf(live) !== uidOf(entry.prior)) return conflict('Replaced', `${name} was deleted and recreated by someone else`);
  return evaluateBack({ ...inverse, isRequested: true }, live);
}

function evaluateReturn(evidence: RestoreEvidence): RestoreVerdict {
  const { live, entry, managers } = evidence;
  if (live === undefined) {
    const how = recreation(evidence);
    return how.kind === 'wait' ? how : { kind: 'restore', how };
  }
  if (hasManager(live, [managers.restore])) return { kind: 'restore', how: completion(evidence, live) };
  if (isTerminating(live)) return conflict('Terminating', `${describe(entry.target)} is being deleted by someone else`);
  const foreign = recreatedContent(evidence, live);
  if (foreign.length === 0) return { kind: 'done' };
  const what = `${describe(entry.target)} was created by someone else after it was checked`;
  return conflict('AlreadyExists', `${what}: ${describeForeign(foreign, evidence)}`);
}

function evaluateBack(evidence: RestoreEvidence, live: JsonObject): RestoreVerdict {
  const { entry, managers } = evidence;
  const attributed = attribute(evidence);
  const foreign = attributed.kind === 'foreign' ? attributed.foreign : takenOver(evidence, attributed);
  const name = describe(entry.target);
  if (foreign.length > 0)
    return conflict(
      'Conflict',
      `${name} was changed by someone else after its snapshot was taken: ${describeForeign(foreign, evidence)}`,
    );
  const { restored } = attributed.merge;
  if (!isObject(restored)) return { kind: 'done' };
  const owned = { prior: entry.prior, expected: entry.expected, live, halfBy: [managers.forward] };
  const owners = restoredManagers(owned, attributed.kinds, [managers.forward]);
  const isThere = equalJson(contentOf(live, entry.resource), restored) && hasSameOwners(live, withManagedFields(live, owners));
  if (isThere) return { kind: 'done' };
  if (isTerminating(live)) return conflict('Terminating', `${name} is being deleted by someone else`);
  return { kind: 'restore', how: { kind: 'content', live, restored, attributed } };
}

function conflict(
  reason: Extract<RestoreVerdict, { kind: 'conflict' }>['reason'],
  message: string,
): Extract<RestoreVerdict, { kind: 'conflict' }> {
  return { kind: 'conflict', reason, message };
}
