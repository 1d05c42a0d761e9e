// managedFields as the API server writes them, for fixtures.
import { canonicalJson, isList, isObject, type Json, type JsonObject, withPath } from '../../hooks/objects/json.ts';

export interface EntryExtras {
  readonly operation?: 'Update' | 'Apply';
  readonly apiVersion?: string;
  readonly subresource?: string;
  readonly time?: string;
}

/** One entry; by default an Update of v1. */
export function entry(manager: string, fieldsV1: JsonObject, extras: EntryExtras = {}): JsonObject {
  const { operation = 'Update', apiVersion = 'v1', subresource, time = '2026-01-01T00:00:00Z' } = extras;
  const plain = { manager, operation, apiVersion, time, fieldsType: 'FieldsV1', fieldsV1 };
  return subresource === undefined ? plain : { ...plain, subresource };
}

export function managed(object: JsonObject, ...entries: readonly JsonObject[]): JsonObject {
  return withPath(object, ['metadata', 'managedFields'], entries);
}

/** Key names of a list, or `set`, by path with dots (`spec.containers.ports`). All other lists are atomic. */
type Lists = Readonly<Record<string, readonly string[] | 'set'>>;

// Nobody owns the fields of an object's identity.
const unowned: readonly string[] = ['apiVersion', 'kind', 'metadata.name', 'metadata.namespace', 'metadata.managedFields'];

/** The fields of a manager that has written exactly this content. */
export function fieldsOf(content: JsonObject, lists: Lists = {}, path = ''): JsonObject {
  const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
  const owned = Object.entries(content).filter(([key]) => !unowned.includes(at(key)));
  const fields = owned.map(([key, value]) => [`f:${key}`, fieldsOfValue(value, lists, at(key))] as const);
  return Object.fromEntries(fields.filter(([key, value]) => key !== 'f:metadata' || Object.keys(value).length > 0));
}

function fieldsOfValue(value: Json, lists: Lists, path: string): JsonObject {
  if (isObject(value)) return fieldsOf(value, lists, path);
  const kind = Object.hasOwn(lists, path) ? lists[path] : undefined;
  if (!isList(value) || kind === undefined) return {};
  if (kind === 'set') return Object.fromEntries(value.map((member) => [`v:${canonicalJson(member)}`, {}]));
  return Object.fromEntries(value.filter(isObject).map((item) => [elementOf(item, kind), itemFields(item, lists, path)]));
}

function elementOf(item: JsonObject, keys: readonly string[]): string {
  return `k:${canonicalJson(Object.fromEntries(keys.map((key) => [key, item[key] ?? null])))}`;
}

function itemFields(item: JsonObject, lists: Lists, path: string): JsonObject {
  return { '.': {}, ...fieldsOf(item, lists, path) };
}

/** The lists of a Pod, for an object or below `spec.template.`, as the API's schema declares them. */
export function podLists(prefix: string): Lists {
  return {
    [`${prefix}spec.containers`]: ['name'],
    [`${prefix}spec.initContainers`]: ['name'],
    [`${prefix}spec.containers.env`]: ['name'],
    [`${prefix}spec.containers.ports`]: ['containerPort', 'protocol'],
    [`${prefix}spec.volumes`]: ['name'],
    'metadata.finalizers': 'set',
  };
}
