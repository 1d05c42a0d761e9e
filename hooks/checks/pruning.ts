// Which values a new schema of a CustomResourceDefinition drops: the API server no longer shows them, and forgets each as soon as somebody
// writes its object. A value that is the default of its field is no loss: the API server itself adds it to what it reads, also to objects
// that are older than the field. Pure. Sources: apiextensions-apiserver pkg/apiserver/schema/pruning/algorithm.go, defaulting/algorithm.go.
import { versionIn } from '../model/crds.ts';
import { at, equalJson, isList, isObject, type Json, type JsonObject, textAt } from '../model/json.ts';

/** The versions that are served before, and whose schema drops a field. */
export function pruningVersions(before: JsonObject, after: Json): readonly string[] {
  const versions = at(before, 'spec', 'versions');
  const names = (isList(versions) ? versions : [])
    .filter((one) => at(one, 'served') === true)
    .map((one) => textAt(one, 'name') ?? '');
  return names.filter((name) => drops(schemaIn(before, name), schemaIn(after, name)));
}

/** Whether the object holds a value that the schema drops. */
export function isPruned(object: JsonObject, { before, after }: Record<'before' | 'after', Json>, version: string): boolean {
  const { apiVersion, kind, metadata, ...values } = object;
  return holdsMore(values, schemaIn(after, version), schemaIn(before, version));
}

function schemaIn(definition: Json, version: string): Json | undefined {
  return at(versionIn(definition, version), 'schema', 'openAPIV3Schema');
}

function drops(before: Json | undefined, after: Json | undefined): boolean {
  if (!isObject(before) || !isObject(after)) return false;
  if (isOpen(before) && !isOpen(after)) return true;
  const named = Object.entries(propertiesOf(before)).some(([name, schema]) => {
    const next = schemaOf(after, name);
    return next === undefined ? !isOpen(after) : drops(schema, next);
  });
  return named || ['items', 'additionalProperties'].some((part) => drops(at(before, part), at(after, part)));
}

function holdsMore(value: Json | undefined, schema: Json | undefined, before: Json | undefined): boolean {
  if (!isObject(schema)) return false;
  if (isList(value)) return value.some((item) => holdsMore(item, at(schema, 'items'), at(before, 'items')));
  if (!isObject(value)) return false;
  const isEmbedded = at(schema, 'x-kubernetes-embedded-resource') === true;
  return Object.entries(value).some(([name, member]) => {
    const [next, former] = [schemaOf(schema, name), schemaOf(before, name)];
    if (next !== undefined) return holdsMore(member, next, former);
    if (isOpen(schema) || isDefault(member, former)) return false;
    return !(isEmbedded && ['apiVersion', 'kind', 'metadata'].includes(name));
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
