// The write that makes a change, one for each way.
//
// I16. The engine writes only objects and fields that the spec names. It writes only values of the spec and its sources, of the API
//     server with its webhooks, and of the prior state, besides its own marks.
import type { Location, Precondition, Write } from '../../objects/cluster.ts';
import { withoutKeys } from '../../objects/content/content.ts';
import { withoutGeneratedParts } from '../../objects/content/manifest.ts';
import { merge } from '../../objects/content/merge.ts';
import { at, isList, isObject, type Json, type JsonObject, withKey, withPath } from '../../objects/json.ts';
import { type Reference, typeMeta } from '../../objects/reference.ts';
import { type Change, type Made, madeOf } from '../model/change.ts';
import type { SnapshotEntry, StoredResource } from '../model/entry.ts';
import { annotations, managersOfChange, type Transaction } from '../model/transaction.ts';
import { serviceAccountOf } from './resources.ts';

export function locationOf(target: Reference, resource: StoredResource): Location {
  const place = { resource: { ...resource, verbs: [] }, name: target.name };
  return target.namespace === undefined ? place : { ...place, namespace: target.namespace };
}

/** What the write of a change needs, before and after the snapshot exists. */
export interface ChangeContext {
  readonly transaction: Transaction;
  readonly change: Made;
  readonly target: Reference;
  readonly resource: StoredResource;
  /** The object before the change, as stored in the snapshot. */
  readonly prior: JsonObject | undefined;
  /** The object that the write replaces. */
  readonly live: JsonObject | undefined;
}

/** The write of a change: values of the spec and of its sources (I16). `precondition` is that of `live`; only what creates has none. */
export function changeWrite(context: ChangeContext, precondition: Precondition | undefined): Write {
  const { transaction, change, target, resource } = context;
  const base = { identity: serviceAccountOf(transaction), location: locationOf(target, resource) };
  const fieldManager = managersOfChange(transaction, change).forward;
  if (change.type === 'Apply') {
    const object = applied(context);
    return { ...base, verb: 'apply', object, precondition: precondition ?? 'absent', fieldManager, ...conflictsOf(change) };
  }
  if (precondition === undefined) return { ...base, verb: 'create', object: created(remaking(context)), fieldManager };
  switch (change.way) {
    case 'Create':
      return { ...base, verb: 'create', object: created(context), fieldManager };
    case 'Update':
      return { ...base, verb: 'update', object: updated(context), precondition, fieldManager };
    case 'Patch':
      return { ...base, verb: 'apply', object: sent(context), precondition, fieldManager, ...conflictsOf(change) };
    // What a Restore brings back or changes is written as an undo is (plan/compensation.ts).
    case 'Delete':
      return { ...base, verb: 'delete', precondition };
  }
}

function conflictsOf({ fieldConflicts }: Change): { readonly failOnConflict?: true } {
  return fieldConflicts === 'Fail' ? { failOnConflict: true } : {};
}

function sent({ change, target }: ChangeContext): JsonObject {
  const content = isObject(change.content) ? change.content : {};
  const metadata = at(content, 'metadata');
  const place = target.namespace === undefined ? { name: target.name } : { name: target.name, namespace: target.namespace };
  return { ...content, ...typeMeta(target), metadata: { ...(isObject(metadata) ? metadata : {}), ...place } };
}

// If others write under this field manager, its entry does not show which Transaction wrote the values: an annotation shows it.
function applied(context: ChangeContext): JsonObject {
  const { change, transaction } = context;
  const { holder } = managersOfChange(transaction, change);
  const object = change.way === 'Create' && holder === undefined ? created(context) : sent(context);
  const plain = withoutGeneratedParts(object, context.resource);
  return holder === undefined ? plain : withPath(plain, ['metadata', 'annotations', annotations.appliedBy], holder);
}

// An object without any field of its own would have no managed field to show that we created it: then an annotation shows it.
function created(context: ChangeContext): JsonObject {
  const object = sent(context);
  const ignored = ['apiVersion', 'kind', 'metadata', ...(context.resource.statusSubresource ? ['status'] : [])];
  const metadata = withoutKeys(at(object, 'metadata'), ['name', 'namespace', 'creationTimestamp', 'generation', 'selfLink']);
  if (leavesFields(withoutKeys(object, ignored)) || leavesFields(metadata)) return object;
  return withPath(object, ['metadata', 'annotations', annotations.createdBy], context.transaction.uid);
}

// An Update that recreates its object keeps what an Update keeps: `live` is the object as it was deleted.
function remaking(context: ChangeContext): ChangeContext {
  const { change } = context;
  return change.type === 'Update' ? { ...context, change: { ...change, content: updated(context) } } : context;
}

// The API server drops empty values before it computes the owners of fields.
function leavesFields(value: Json): boolean {
  if (isList(value)) return value.length > 0;
  return isObject(value) ? Object.values(value).some(leavesFields) : value !== null;
}

// A PUT replaces everything. Controllers write annotations all the time. So the engine keeps annotations that content does not name
// as they are in the live object. Then a write between the snapshot and the change is not lost.
function updated(context: ChangeContext): JsonObject {
  const object = sent(context);
  const metadata = at(object, 'metadata');
  if (!isObject(metadata)) return object;
  const annotationsOf = (value: Json | undefined): Json | undefined => at(value, 'metadata', 'annotations');
  const ours = annotationsOf(object);
  const merged = merge({ prior: ours, expected: annotationsOf(context.prior), live: annotationsOf(context.live) }, new Map());
  const annotations = merged.ours.some(({ state }) => state === 'foreign') ? overlaid(merged.restored, ours) : merged.restored;
  const kept = keptBy(context.change).map((key) => [key, at(context.live, 'metadata', key)] as const);
  const members = [['resourceVersion', undefined] as const, ['annotations', annotations] as const, ...kept];
  return withKey(
    object,
    'metadata',
    members.reduce((all, [key, value]) => withKey(all, key, value), metadata),
  );
}

/**
 * The members of metadata that an Update keeps if its content does not name them. Without its finalizers an object would disappear
 * before others have cleaned up after it; without its owners it would outlive them.
 */
export function keptBy({ type, content }: Pick<Change, 'type' | 'content'>): readonly string[] {
  const metadata = at(content, 'metadata');
  const isNamed = (key: string): boolean => isObject(metadata) && Object.hasOwn(metadata, key);
  return type === 'Update' ? ['finalizers', 'ownerReferences'].filter((key) => !isNamed(key)) : [];
}

function overlaid(below: Json | undefined, above: Json | undefined): Json | undefined {
  return isObject(below) ? { ...below, ...(isObject(above) ? above : {}) } : above;
}

/** Content with the number of the object that the write replaces (attribution/kept-scale.ts). */
export function keptContent(content: Json | undefined, path: readonly string[], from: JsonObject | undefined): Json | undefined {
  const number = at(from, ...path);
  return isObject(content) && number !== undefined ? withPath(content, path, number) : content;
}

export function changeContextOf(
  entry: SnapshotEntry,
  change: Change,
  transaction: Transaction,
  live: JsonObject | undefined,
): ChangeContext {
  const { target, resource, prior, keepsScale } = entry;
  const made = madeOf(change, entry);
  const content = keepsScale === undefined ? made.content : keptContent(made.content, keepsScale.path, live ?? prior);
  return { transaction, change: { ...made, content }, target, resource, prior, live };
}
