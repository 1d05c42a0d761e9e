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

/** How a change is made: an Apply creates or patches, which is decided once, in Preparing. All later stages see the way. */
export type Way = 'Create' | 'Update' | 'Patch' | 'Delete';

/** The right that a write needs. `patch` is a server-side apply, which sets only the fields that content names. */
export type Verb = 'create' | 'update' | 'patch' | 'delete';

/** The members of a change, beside target and gate, which have a meaning only for some types. */
type Member = 'content' | 'fieldConflicts' | 'whenImmutable' | 'replicas' | 'undo';

/** What distinguishes a type of change from the others. */
interface Row {
  /** The way if the object does not exist, and the way if it exists; one way if these are equal. */
  readonly ways: readonly [Way, ...Way[]];
  readonly verb: Verb;
  /** In messages: what it has done with the object. */
  readonly done: string;
  readonly takes: readonly Member[];
}

/** One row for each type that `spec.changes` may have. */
const written = {
  Create: { ways: ['Create'], verb: 'create', done: 'created', takes: ['content', 'undo'] },
  Update: { ways: ['Update'], verb: 'update', done: 'updated', takes: ['content', 'whenImmutable', 'replicas', 'undo'] },
  Patch: { ways: ['Patch'], verb: 'patch', done: 'patched', takes: ['content', 'fieldConflicts', 'replicas'] },
  Delete: { ways: ['Delete'], verb: 'delete', done: 'deleted', takes: [] },
  Apply: {
    ways: ['Create', 'Patch'],
    verb: 'patch',
    done: 'applied',
    takes: ['content', 'fieldConflicts', 'whenImmutable', 'replicas', 'undo'],
  },
} satisfies Readonly<Record<string, Row>>;

/** The last wave that a change may have. */
export const lastWave = 1_000;

/** What `spec.changes` may say. */
export const changeTypes = Object.keys(written) as readonly (keyof typeof written)[];

/** `Restore` is of the engine alone: a rollback brings an object to an earlier state (rollback.ts). */
export type ChangeType = keyof typeof written | 'Restore';

const rows: Readonly<Record<ChangeType, Row>> = {
  ...written,
  // Its second write restores the owners of fields.
  Restore: { ways: ['Create', 'Update', 'Delete'], verb: 'update', done: 'restored', takes: [] },
};

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
  /** As written: an integer that does not fall along the list (checks/waves.ts). */
  readonly wave?: Json;
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

/** How the engine makes the change if the object exists, or if it does not exist. */
export function wayOf(type: ChangeType, isThere: boolean): Way {
  const [absent, there = absent] = rows[type].ways;
  return isThere ? there : absent;
}

/** All ways of such changes. */
export function waysOf(type: ChangeType): readonly Way[] {
  return rows[type].ways;
}

/** The way of all such changes; undefined if it depends on the object. */
export function onlyWayOf(type: ChangeType): Way | undefined {
  const [way, ...others] = rows[type].ways;
  return others.length === 0 ? way : undefined;
}

/** The right that the write of such a change needs. */
export function verbOf(type: ChangeType): Verb {
  return rows[type].verb;
}

/** What such a change has done with its object, in words. */
export function doneBy(type: ChangeType): string {
  return rows[type].done;
}

/** The types for which the member of a change has a meaning. */
export function typesWith(member: Member): readonly ChangeType[] {
  return changeTypes.filter((type) => rows[type].takes.includes(member));
}

/** Whether server-side apply makes such a change. False for a type that the table does not have. */
export function isApplied(type: ChangeType): boolean {
  return changeTypes.some((known) => known === type && rows[known].verb === 'patch');
}

/** How a Restore leads from one state of its object to the next one. Undefined: the object does not exist. */
export function restoreWay(now: JsonObject | undefined, after: JsonObject | undefined): Way {
  if (now === undefined) return 'Create';
  return after === undefined ? 'Delete' : 'Update';
}

/** How the undo of a change that is made in that way leads back. */
export function inverseWay(way: Way): Way {
  if (way === 'Create') return 'Delete';
  return way === 'Delete' ? 'Create' : 'Update';
}

/** The stored way of a change of that type; undefined if such a change does not have that way. */
export function wayIn(type: ChangeType, stored: Json | undefined): Way | undefined {
  return waysOf(type).find((way) => way === stored);
}

/** Whether the type may make an object that is not there. */
export function mayMake(type: ChangeType): boolean {
  return waysOf(type).includes('Create');
}

export function decodeChanges(changes: Json | undefined): readonly Change[] {
  return isList(changes) ? changes.map(decodeChange) : [];
}

function decodeChange(change: Json): Change {
  const type = (textAt(change, 'type') ?? '') as ChangeType;
  const [named, content] = [at(change, 'target'), at(change, 'content')];
  const isInferred = changeTypes.some((known) => known === type && mayMake(known)) && isAbsent(named);
  const target = isInferred ? targetIn(content, at(content, 'metadata')) : targetIn(named, named);
  return {
    type,
    target,
    ...(isInferred ? { isInferred } : {}),
    content: withEncodedStrings(content, target),
    ...memberOf(change, 'contentFrom'),
    ...memberOf(change, 'fieldConflicts'),
    ...memberOf(change, 'whenImmutable'),
    ...memberOf(change, 'replicas'),
    ...memberOf(change, 'wave'),
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
