// The writes that undo a change. The first write restores the content, under a field manager of its own that marks the object as
// half restored. The second write (owners.ts) restores the field ownership and changes nothing else. After a crash the next process
// sees which of the two is missing.
//
// I14. After an undo the object bears no trace of the Transaction: neither its values nor its entries in managedFields.

import { asNew, contentOf, withContent, withManagedFields } from '../../objects/content/content.ts';
import { entryOf, type Manager, managersOf } from '../../objects/content/fields.ts';
import { withoutGenerated, withoutToken } from '../../objects/content/generated.ts';
import { type ListKinds, listKindsOf } from '../../objects/content/lists.ts';
import {
  fenceOf,
  hasManager,
  hasRestored,
  isOfApply,
  restoredManagers,
  restoredOf,
  withOwnersOf,
} from '../../objects/content/ownership.ts';
import { isHalfApplied } from '../../objects/content/unions.ts';
import { at, equalJson, isList, type Json, type JsonObject, textAt, withKey, withPath } from '../../objects/json.ts';
import type { Mutation } from '../../objects/mutation.ts';
import { kindOf } from '../../objects/reference.ts';
import type { UndoVerdict } from '../attribution/undo.ts';
import { fieldManagers, managersOfChange, ownManager } from '../model/transaction.ts';
import { base, managersToRemove, markOf, restoreOwners, type UndoContext, withPrecondition } from './owners.ts';

/** The compensation that a verdict requires, values and owners (I14); undefined when it requires no write. */
export function compensation(undo: UndoContext, verdict: UndoVerdict): Mutation | undefined {
  switch (verdict.kind) {
    case 'delete':
      return withPrecondition(verdict.live, (precondition) => ({ write: { ...base(undo), verb: 'delete', precondition } }));
    case 'recreate':
      return recreate(undo, verdict);
    case 'complete':
      return completeStatus(undo, verdict.live);
    case 'content':
      return verdict.storedVersions === undefined ? restoreContent(undo, verdict) : trimStorage(undo, verdict);
    case 'bridge':
      return bridge(undo, verdict);
    case 'fence':
      return fence(undo, verdict.live);
    case 'restored':
    case 'wait':
    case 'readMore':
    case 'conflict':
      return undefined;
  }
}

// The two writes before the content of a CRD (attribution/stored-versions.ts). Our manager of the change makes them: our other one says
// that the content is restored.
function bridge(undo: UndoContext, { live, content }: Extract<UndoVerdict, { kind: 'bridge' }>): Mutation | undefined {
  const object = withContent(live, content, undo.entry.resource);
  const fieldManager = fieldManagers(undo.transaction).forward;
  return withPrecondition(live, (precondition) => ({
    write: { ...base(undo), verb: 'update', object, precondition, fieldManager },
  }));
}

function trimStorage(undo: UndoContext, verdict: Extract<UndoVerdict, { kind: 'content' }>): Mutation | undefined {
  const { live, storedVersions = [] } = verdict;
  const object = withPath(live, ['status', 'storedVersions'], storedVersions);
  const fieldManager = fieldManagers(undo.transaction).forward;
  return withPrecondition(live, (precondition) => ({
    write: { ...base(undo), verb: 'update', subresource: 'status', object, precondition, fieldManager },
    next: (answer) => restoreContent(undo, { ...verdict, live: answer }),
  }));
}

function restoreContent(undo: UndoContext, verdict: Extract<UndoVerdict, { kind: 'content' }>): Mutation | undefined {
  const { live } = verdict;
  const owners = ownersAfter(undo, verdict);
  const restored = withLiveOwners(verdict.restored, undo.goneOwners);
  const next = (answer: JsonObject): Mutation | undefined => restoreOwners(undo, answer, owners(answer));
  if (equalJson(contentOf(live, undo.entry.resource), restored)) return next(live);
  const object = withMark(undo, withContent(live, restored, undo.entry.resource));
  return withPrecondition(live, (precondition) => ({
    write: { ...base(undo), verb: 'update', object, precondition, fieldManager: markOf(undo) },
    next,
  }));
}

/** The managedFields of an object whose content is restored. */
function ownersAfter(
  undo: UndoContext,
  { live, attributed: { kinds } }: Extract<UndoVerdict, { kind: 'content' }>,
): (object: JsonObject) => readonly JsonObject[] {
  const managers = managersOfChange(undo.transaction, undo.transaction.changes[undo.entry.index]);
  const { forward, restore, holder } = managers;
  const isBegun = hasRestored(live, restore) || hasManager(live, [ownManager(managers)]);
  const owned = {
    prior: undo.entry.prior,
    expected: withSharedEntry(undo, live),
    halfRestored: holder !== undefined && isBegun ? forward : undefined,
    halfBy: undo.entry.restores === true ? [ownManager(managers), restore] : undefined,
  };
  // Computed from the entries before our own write: when the API server adds our entry it may fold old entries together.
  return (object) => restoredManagers({ ...owned, live: withOwnersOf(live, object, kinds) }, kinds, managersToRemove(undo));
}

/** The object as the writes of a compensation leave it; undefined if it is gone. `live`: the object before. */
export function leftBy(undo: UndoContext, verdict: UndoVerdict, live: JsonObject | undefined): JsonObject | undefined {
  const { entry, goneOwners } = undo;
  switch (verdict.kind) {
    case 'delete':
      return entry.recreates === true ? entry.prior : undefined;
    case 'recreate':
    case 'complete':
      return entry.prior;
    case 'content': {
      const object = withContent(verdict.live, withLiveOwners(verdict.restored, goneOwners), entry.resource);
      return withManagedFields(object, ownersAfter(undo, verdict)(object));
    }
    default:
      return live;
  }
}

// The entry of a manager that is ours alone shows a process after us that the ownership is still to be restored. That of a shared one
// does not.
function withMark({ transaction, entry }: UndoContext, object: JsonObject): JsonObject {
  const { restore, holder } = managersOfChange(transaction, transaction.changes[entry.index]);
  const entries = at(object, 'metadata', 'managedFields');
  if (holder === undefined || !isList(entries)) return object;
  const mark = restoredOf(restore, entry.target.apiVersion);
  return withPath(object, ['metadata', 'managedFields'], [...entries, mark]);
}

// Without a dry run, the expected state has no managedFields. Then a shared manager owns exactly what our write gave it: that
// manager has written nothing since (attribution/applied-by.ts). This also holds if only the first of two writes is made.
function withSharedEntry({ transaction, entry }: UndoContext, live: JsonObject): JsonObject | undefined {
  const { expected, resource } = entry;
  const { forward, holder } = managersOfChange(transaction, transaction.changes[entry.index]);
  if (holder === undefined || expected === undefined) return expected;
  const isTried = managersOf(expected).length > 0;
  if (isTried && !isHalfApplied(expected, live, kindOf(resource), forward)) return expected;
  const isShared = (manager: Manager): boolean => manager.name === forward && isOfApply(manager);
  const all = [...managersOf(expected).filter((manager) => !isShared(manager)), ...managersOf(live).filter(isShared)];
  return withManagedFields(expected, all.map(entryOf));
}

// A write that changes nothing does not change the resourceVersion. So this one adds an entry to managedFields, and a second one
// removes it again. The object is then as it was, and a write that names its old version has no effect.
function fence(undo: UndoContext, live: JsonObject): Mutation | undefined {
  const restore = markOf(undo);
  const others = managersOf(live)
    .filter(({ name }) => name !== restore)
    .map(entryOf);
  const owners = others.length === 0 ? [{}] : others;
  const next = (answer: JsonObject): Mutation | undefined => restoreOwners(undo, answer, owners);
  if (hasManager(live, [restore])) return next(live);
  const object = withManagedFields(live, [...others, fenceOf(restore, undo.entry.target.apiVersion)]);
  return withPrecondition(live, (precondition) => ({
    write: { ...base(undo), verb: 'update', object, precondition, fieldManager: restore },
    next,
  }));
}

function recreate(undo: UndoContext, verdict: Extract<UndoVerdict, { kind: 'recreate' }>): Mutation | undefined {
  const { prior } = undo.entry;
  if (prior === undefined) return undefined;
  const plain = withoutGenerated(withLiveOwners(asNew(prior), undo.goneOwners));
  const object = verdict.withoutToken === true ? withoutToken(plain) : plain;
  const fieldManager = markOf(undo);
  return { write: { ...base(undo), verb: 'create', object, fieldManager }, next: (answer) => completeStatus(undo, answer) };
}

// The garbage collector would delete a restored object that names an owner which is gone.
function withLiveOwners(object: JsonObject, goneOwners: readonly string[]): JsonObject {
  const references = at(object, 'metadata', 'ownerReferences');
  if (!isList(references) || goneOwners.length === 0) return object;
  const kept = references.filter((reference) => !goneOwners.includes(textAt(reference, 'uid') ?? ''));
  return withPath(object, ['metadata', 'ownerReferences'], kept.length === 0 ? undefined : kept);
}

function completeStatus(undo: UndoContext, live: JsonObject): Mutation | undefined {
  const status = at(undo.entry.prior, 'status');
  const isDone = !undo.entry.resource.statusSubresource || isAbsentOrEmpty(status) || equalJson(status, at(live, 'status'));
  if (isDone || status === undefined) return completeOwners(undo, live);
  return withPrecondition(live, (precondition) => ({
    write: {
      ...base(undo),
      verb: 'update',
      subresource: 'status',
      object: withKey(live, 'status', status),
      precondition,
      fieldManager: markOf(undo),
    },
    next: (answer) => completeOwners(undo, answer),
    // A ServiceAccount that may restore the object may lack the right to write its status: then its controllers write the status
    // again.
    otherwise: () => completeOwners(undo, live),
  }));
}

function isAbsentOrEmpty(value: Json | undefined): boolean {
  return value === undefined || equalJson(value, {});
}

function completeOwners(undo: UndoContext, live: JsonObject): Mutation | undefined {
  const { prior } = undo.entry;
  const kinds: ListKinds = listKindsOf(prior, live);
  return restoreOwners(undo, live, restoredManagers({ prior, expected: undefined, live }, kinds, managersToRemove(undo)));
}
