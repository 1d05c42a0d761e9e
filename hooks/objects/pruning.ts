// Which values a new schema of a CustomResourceDefinition drops. The API server no longer shows them, and forgets each value as
// soon as a user or a controller writes its object. A value that is the default of its field is no loss. The API server itself adds
// it to the objects that it reads, also to objects that are older than the field. Pure. Sources: apiextensions-apiserver
// pkg/apiserver/schema/pruning/algorithm.go, defaulting/algorithm.go.

import { versionIn } from './definitions.ts';
import { at, equalJson, isList, isObject, type Json, type JsonObject, listAt, textAt } from './json.ts';

/**
 * The versions whose schema may drop values: the versions served before, and the versions in which objects may be stored. The API
 * server reads stored objects by that schema. Too many are no harm: whether an object holds such a value `isPruned` says.
 */
export function pruningVersions(before: JsonObject, after: Json): readonly string[] {
  const stored = at(before, 'status', 'storedVersions');
  const names = versionsOf(before)
    .filter((one) => at(one, 'served') === true || at(one, 'storage') === true || isAmong(stored, textAt(one, 'name')))
    .map((one) => textAt(one, 'name') ?? '');
  const kept = (definition: Json): boolean => at(definition, 'spec', 'preserveUnknownFields') === true;
  return names.filter((name) => (kept(before) && !kept(after)) || drops(schemaIn(before, name), schemaIn(after, name)));
}

/** The version in which the objects of that version can be read. */
export function readableVersion(definition: JsonObject, version: string): string {
  const served = versionsOf(definition).filter((one) => at(one, 'served') === true);
  const names = served.map((one) => textAt(one, 'name') ?? '');
  return names.includes(version) ? version : (names[0] ?? version);
}

function versionsOf(definition: JsonObject): readonly Json[] {
  return listAt(definition, 'spec', 'versions');
}

function isAmong(names: Json | undefined, name: string | undefined): boolean {
  return isList(names) && name !== undefined && names.includes(name);
}

/** Whether the object holds a value that the schema drops. */
export function isPruned(object: JsonObject, { before, after }: Record<'before' | 'after', Json>, version: string): boolean {
  return losesInMove(object, { before, after }, { former: version, next: version });
}

/** Whether the object holds a value that its schema has in the version `former`, and the schema of `next` drops. */
export function losesInMove(
  object: JsonObject,
  { before, after }: Record<'before' | 'after', Json>,
  { former, next }: Record<'former' | 'next', string>,
): boolean {
  const { apiVersion, kind, metadata, ...values } = object;
  return holdsMore(values, schemaIn(after, next), schemaIn(before, former));
}

function schemaIn(definition: Json, version: string): Json | undefined {
  return at(versionIn(definition, version), 'schema', 'openAPIV3Schema');
}

function drops(before: Json | undefined, after: Json | undefined): boolean {
  if (!isObject(before) || !isObject(after)) return false;
  const isClosed = !isOpen(after);
  if (isClosed && (isOpen(before) || isEmbedded(before) !== isEmbedded(after))) return true;
  return losesNames(before, after) || losesRest(before, after) || drops(at(before, 'items'), at(after, 'items'));
}

function losesNames(before: JsonObject, after: JsonObject): boolean {
  return Object.entries(propertiesOf(before)).some(([name, schema]) => {
    const next = schemaOf(after, name);
    return next === undefined ? !isOpen(after) : drops(schema, next);
  });
}

// The values under names that the former schema does not know: the values of a map, or any values of an open schema.
function losesRest(before: JsonObject, after: JsonObject): boolean {
  const rest = at(before, 'additionalProperties');
  const fresh = Object.entries(propertiesOf(after)).filter(([name]) => !Object.hasOwn(propertiesOf(before), name));
  if (isOpen(before)) return fresh.some(([, schema]) => !isOpen(schema ?? {}));
  if (!isObject(rest)) return false;
  const next = at(after, 'additionalProperties');
  const isKept = isObject(next) ? !drops(rest, next) : isOpen(after);
  return !isKept || fresh.some(([, schema]) => drops(rest, schema));
}

function holdsMore(value: Json | undefined, schema: Json | undefined, before: Json | undefined): boolean {
  if (!isObject(schema)) return false;
  if (isList(value)) return value.some((item) => holdsMore(item, at(schema, 'items'), at(before, 'items')));
  if (!isObject(value)) return false;
  return Object.entries(value).some(([name, member]) => {
    const [next, former] = [schemaOf(schema, name), schemaOf(before, name)];
    if (next !== undefined) return holdsMore(member, next, former);
    if (isOpen(schema) || isDefault(member, former)) return false;
    return !(isEmbedded(schema) && ['apiVersion', 'kind', 'metadata'].includes(name));
  });
}

// Defaults inside a default are added too.
function isDefault(value: Json | undefined, schema: Json | undefined): boolean {
  const own = at(schema, 'default');
  if (own === undefined || equalJson(value, own)) return own !== undefined;
  if (!isObject(value) || !isObject(own)) return false;
  const isAdded = ([name, member]: [string, Json | undefined]): boolean =>
    (Object.hasOwn(own, name) && equalJson(member, own[name])) || isDefault(member, schemaOf(schema, name));
  return Object.entries(value).every(isAdded);
}

function propertiesOf(schema: Json | undefined): JsonObject {
  const properties = at(schema, 'properties');
  return isObject(properties) ? properties : {};
}

function schemaOf(schema: Json | undefined, name: string): Json | undefined {
  const properties = propertiesOf(schema);
  if (Object.hasOwn(properties, name)) return properties[name];
  const rest = at(schema, 'additionalProperties');
  return isObject(rest) ? rest : undefined;
}

/** Whether the schema keeps fields that it does not name. */
function isOpen(schema: Json): boolean {
  return at(schema, 'x-kubernetes-preserve-unknown-fields') === true || at(schema, 'additionalProperties') === true;
}

/** Whether the schema keeps these fields of an object in an object: apiVersion, kind, metadata. */
function isEmbedded(schema: Json): boolean {
  return at(schema, 'x-kubernetes-embedded-resource') === true;
}
