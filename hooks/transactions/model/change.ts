// One change of a spec: as the user wrote it, and as the engine makes it after it has read the object.
import { at, isList, type Json, type JsonObject, textAt } from '../../objects/json.ts';
import { withEncodedStrings } from '../../objects/secret-data.ts';

/** A target as written: whether an absent namespace means the Transaction's own depends on the kind. */
export interface Target {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/** What `spec.changes` may say. */
export const changeTypes = ['Create', 'Update', 'Patch', 'Delete', 'Apply'] as const;

/** `Restore` is of the engine alone: a rollback brings an object to an earlier state (rollback.ts). */
export type ChangeType = (typeof changeTypes)[number] | 'Restore';

/** How a change is made: an Apply creates or patches, which is decided once, in Preparing. */
export type Way = Exclude<ChangeType, 'Apply' | 'Restore'>;

export interface Change {
  readonly type: ChangeType;
  readonly target: Target;
  /** Whether the target is what content names, since the spec has none. */
  readonly isInferred?: true;
  /** An object for all but Delete, unless it comes from a source; checked before anything is done. */
  readonly content: Json | undefined;
  /** As written, like the three below. */
  readonly contentFrom?: Json;
  readonly fieldConflicts?: Json;
  readonly whenImmutable?: Json;
  readonly replicas?: Json;
  /** As written (gateOf of gated.ts reads it). */
  readonly gate?: Json;
  /** As written (filledOf of filled.ts reads it). */
  readonly undo?: Json;
  /** Of a Restore: how it is made, and whether readers of the namespace must not learn the states. */
  readonly restore?: { readonly way: Way; readonly isSealed: boolean };
}

/** Whether the change takes the object away. */
export function isDeletion({ type, restore }: Pick<Change, 'type' | 'restore'>): boolean {
  return type === 'Delete' || restore?.way === 'Delete';
}

/** A change as it is made. */
export interface Made extends Change {
  readonly way: Way;
}

/** What an entry of a snapshot says of its change. */
interface Decided {
  readonly type: Way;
  readonly content?: Json;
}

/** The change as all later stages see it: the decision of Preparing remains. */
export function madeOf(change: Change, { type, content }: Decided): Made {
  return { ...change, way: type, ...(content === undefined ? {} : { content }) };
}

const ways: Readonly<Record<ChangeType, readonly Way[]>> = {
  Create: ['Create'],
  Update: ['Update'],
  Patch: ['Patch'],
  Delete: ['Delete'],
  Apply: ['Create', 'Patch'],
  Restore: ['Create', 'Update', 'Delete'],
};

/** How the engine makes the change if the object exists, or if it does not exist. */
export function wayOf(type: ChangeType, isThere: boolean): Way {
  if (type !== 'Apply' && type !== 'Restore') return type;
  if (!isThere) return 'Create';
  return type === 'Apply' ? 'Patch' : 'Update';
}

/** How a Restore leads from one state of its object to the next one. Undefined: the object does not exist. */
export function restoreWay(now: JsonObject | undefined, after: JsonObject | undefined): Way {
  if (now === undefined) return 'Create';
  return after === undefined ? 'Delete' : 'Update';
}

/** The stored way of a change of that type; undefined if such a change does not have that way. */
export function wayIn(type: ChangeType, stored: Json | undefined): Way | undefined {
  return ways[type].find((way) => way === stored);
}

/** Whether the type may make an object that is not there. */
export function mayMake(type: ChangeType): boolean {
  return ways[type].includes('Create');
}

export function decodeChanges(changes: Json | undefined): readonly Change[] {
  return isList(changes) ? changes.map(decodeChange) : [];
}

function decodeChange(change: Json): Change {
  const type = (textAt(change, 'type') ?? '') as ChangeType;
  const [written, content] = [at(change, 'target'), at(change, 'content')];
  const isInferred = (type === 'Apply' || type === 'Create') && isAbsent(written);
  const target = isInferred ? targetIn(content, at(content, 'metadata')) : targetIn(written, written);
  return {
    type,
    target,
    ...(isInferred ? { isInferred } : {}),
    content: withEncodedStrings(content, target),
    ...memberOf(change, 'contentFrom'),
    ...memberOf(change, 'fieldConflicts'),
    ...memberOf(change, 'whenImmutable'),
    ...memberOf(change, 'replicas'),
    ...memberOf(change, 'gate'),
    ...memberOf(change, 'undo'),
  };
}

function targetIn(kind: Json | undefined, names: Json | undefined): Target {
  const namespace = textAt(names, 'namespace');
  return {
    apiVersion: textAt(kind, 'apiVersion') ?? '',
    kind: textAt(kind, 'kind') ?? '',
    name: textAt(names, 'name') ?? '',
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/** A member as written; null counts as left out. */
export function memberOf<Key extends string>(wire: Json, key: Key): { readonly [key in Key]?: Json } {
  const value = at(wire, key);
  return (isAbsent(value) ? {} : { [key]: value }) as { readonly [key in Key]?: Json };
}

function isAbsent(value: Json | undefined): boolean {
  return value === undefined || value === null;
}
