// Checks the state after a generated run. Returns complaints; an empty list is good.
//
// The content of an object is taken as its leaves: elements of lists with keys by their key, members of sets by their value, all
// other lists whole; so are maps that the API takes as one value.
import { at, canonicalJson, equalJson, isList, isObject, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { comparable } from '../support/stage.ts';

/** By path; undefined where it is known not to be there. */
export type Leaves = ReadonlyMap<string, string | undefined>;

const keysOfLists: Readonly<Record<string, readonly string[] | 'set'>> = {
  'spec.parts': ['name'],
  'spec.ports': ['port', 'protocol'],
  'spec.tags': 'set',
  'metadata.finalizers': 'set',
  'metadata.ownerReferences': ['uid'],
};

/** Maps that the API takes as one value. */
const wholes = ['spec.selector'];

/** What of metadata is content. */
const described = ['labels', 'annotations', 'finalizers', 'ownerReferences'];

/** What an Update keeps where its content has no such list. */
const kept = ['finalizers', 'ownerReferences'];

export function leavesOf(object: JsonObject | undefined): Leaves {
  if (object === undefined) return new Map();
  const metadata = Object.fromEntries(described.map((key) => [key, at(object, 'metadata', key) ?? {}]));
  const content = Object.entries(object).filter(([key]) => !['metadata', 'status', 'apiVersion', 'kind'].includes(key));
  return new Map(flatten({ ...Object.fromEntries(content), metadata }, '', ''));
}

function flatten(value: Json, path: string, schema: string): readonly (readonly [string, string])[] {
  if (wholes.includes(schema)) return [[path, canonicalJson(value)]];
  if (isObject(value))
    return Object.entries(value).flatMap(([key, below]) => flatten(below, `${path}.${key}`, join(schema, key)));
  const keys = keysOfLists[schema];
  if (!isList(value) || keys === undefined) return [[path, canonicalJson(value)]];
  if (keys === 'set') return value.map((member) => [`${path}[${canonicalJson(member)}]`, 'member'] as const);
  return value.filter(isObject).flatMap((item) => {
    const name = keys.map((key) => canonicalJson(item[key] ?? (key === 'protocol' ? 'TCP' : null))).join();
    return flatten(item, `${path}[${name}]`, schema);
  });
}

function join(schema: string, key: string): string {
  return schema === '' ? key : `${schema}.${key}`;
}

export interface Seen {
  readonly name: string;
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
  /** Its identity may be another: it was deleted, and created again. */
  readonly mayBeNew: boolean;
  /** What others wrote since, the last one's values. */
  readonly foreign: Leaves;
  /** The item reports that it was left. */
  readonly isLeft: boolean;
  /** What the change sets. If the item was left, this stays over what others had set before the snapshot. */
  readonly content: Leaves;
  /** An Update has dropped what its content does not name. */
  readonly replaces: boolean;
}

/** No other actor wrote: an Update has kept finalizers and owners if its content has no such list, else they are those of its content. */
export function complaintsOfKept(
  name: string,
  before: JsonObject | undefined,
  now: JsonObject | undefined,
  content: JsonObject,
): readonly string[] {
  return kept.flatMap((key) => {
    const named = at(content, 'metadata', key);
    const [wanted, found] = [named === undefined ? at(before, 'metadata', key) : named, at(now, 'metadata', key)];
    return equalJson(wanted ?? [], found ?? [])
      ? []
      : [`${name} has the ${key} ${canonicalJson(found ?? [])}, not ${canonicalJson(wanted ?? [])}`];
  });
}

/** No other actor wrote: all is as before, managedFields included. */
export function complaintsOfExact({ name, before, after, mayBeNew }: Seen): readonly string[] {
  const [wanted, found] = [before, after].map((object) => (object === undefined ? null : comparable(object, mayBeNew)));
  return equalJson(wanted ?? null, found ?? null)
    ? []
    : [`${name} is not as before: ${canonicalJson(found ?? null)} was ${canonicalJson(wanted ?? null)}`];
}

/** Others wrote: theirs is there; ours is gone, unless the item says that it was left. */
export function complaintsOfShared(seen: Seen): readonly string[] {
  const { name, before, after, foreign, isLeft, content, replaces } = seen;
  const leaves = leavesOf(after);
  const isOurs = (path: string): boolean => isLeft && (replaces || content.has(path)) && content.get(path) === leaves.get(path);
  // A created object is deleted again with the annotations that others have given it: they are no reason to keep it.
  const isNote = (path: string): boolean =>
    before === undefined && after === undefined && path.startsWith('.metadata.annotations.');
  const lost = [...foreign].filter(([path, value]) => leaves.get(path) !== value && !isOurs(path) && !isNote(path));
  const theirs = lost.map(([path, value]) => `${name}${path} is ${leaves.get(path)}, somebody else had set it to ${value}`);
  return isLeft ? theirs : [...theirs, ...ours(seen, leaves), ...managers(seen)];
}

function ours({ name, before, foreign }: Seen, leaves: Leaves): readonly string[] {
  const wanted = leavesOf(before);
  const paths = new Set([...wanted.keys(), ...leaves.keys()].filter((path) => !foreign.has(path)));
  const wrong = [...paths].filter((path) => wanted.get(path) !== leaves.get(path));
  return wrong.map((path) => `${name}${path} is ${leaves.get(path)}, it was ${wanted.get(path)}`);
}

function managers({ name, after }: Seen): readonly string[] {
  const entries = at(after, 'metadata', 'managedFields');
  const names = isList(entries) ? entries.map((entry) => textAt(entry, 'manager') ?? '') : [];
  return names.filter((manager) => manager.startsWith('janus')).map((manager) => `${name} has our manager ${manager} still`);
}
