// Whether the change can be made to the object as it is.

import { isTerminating } from '../../objects/content/ownership.ts';
import { at, isDeeperThan, isList, type JsonObject, mostLevels, textAt } from '../../objects/json.ts';
import { describe } from '../../objects/reference.ts';
import { mayMake, wayOf } from '../model/change.ts';
import { appliedBy } from '../model/marks.ts';
import { isFromSecret } from '../model/source.ts';
import { annotations, type Managers } from '../model/transaction.ts';
import { snapshotFinalizer } from '../snapshots/objects.ts';
import { type Fault, fault } from './fault.ts';
import type { Resolved } from './targets.ts';

/** The fault of the change, given the object as it is; `found` is undefined if the object does not exist. */
export function stateFault(resolved: Resolved, found: JsonObject | undefined, managers: Managers): Fault | undefined {
  const { index, change, target } = resolved;
  const name = `spec.changes[${index}]: ${describe(target)}`;
  if (found === undefined) {
    if (mayMake(change.type)) return undefined;
    return fault('NotFound', `${name} does not exist: a ${change.type} requires it; use Apply or Create to create it`, index);
  }
  if (wayOf(change.type, true) === 'Create' && !isTerminating(found))
    return fault('AlreadyExists', `${name} already exists: use Apply, Update or Patch to change it`, index);
  if (isTerminating(found)) return fault('Terminating', `${name} is being deleted: wait until it is gone`, index);
  return (
    refusedState(resolved, found, name) ?? markedFault(resolved, found, { name, managers }) ?? versionFault(resolved, found, name)
  );
}

function refusedState({ index }: Resolved, found: JsonObject, name: string): Fault | undefined {
  if (isSnapshot(found)) return fault('Refused', `${name} cannot be a target: it is the snapshot of a Transaction`, index);
  if (!isDeeperThan(found, mostLevels)) return undefined;
  return fault('Refused', `${name} cannot be a target: it is nested deeper than ${mostLevels} levels`, index);
}

// The annotation is to show whether our write has landed.
function markedFault(
  { index }: Resolved,
  found: JsonObject,
  { name, managers }: { readonly name: string; readonly managers: Managers },
): Fault | undefined {
  if (managers.holder === undefined || appliedBy(found) !== managers.holder) return undefined;
  const message = `${name} has the annotation ${annotations.appliedBy} of this Transaction before it has changed anything: remove the annotation, then recreate the Transaction`;
  return fault('Refused', message, index);
}

function isSnapshot(object: JsonObject): boolean {
  const finalizers = at(object, 'metadata', 'finalizers');
  return isList(finalizers) && finalizers.includes(snapshotFinalizer);
}

function versionFault({ index, change }: Resolved, found: JsonObject, name: string): Fault | undefined {
  const wanted = textAt(change.content, 'metadata', 'resourceVersion');
  const version = textAt(found, 'metadata', 'resourceVersion');
  if (wanted === undefined || change.type === 'Delete' || wanted === version) return undefined;
  const message = `${name} has resourceVersion ${version}, content requires ${isFromSecret(change) ? 'another' : wanted}: read the object again and update content`;
  return fault('ResourceVersion', message, index);
}

/** The object cannot be compared. */
export function incomparable({ index, target }: Resolved, why: string): Fault {
  return fault('SnapshotTooLarge', `spec.changes[${index}]: ${describe(target)} is ${why}: it cannot be compared`, index);
}
