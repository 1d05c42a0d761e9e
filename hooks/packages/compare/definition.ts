// Compares two states of the definition of a kind: a CustomResourceDefinition, or the CompositeResourceDefinition or
// ManagedResourceDefinition that contains one.
import { at, equalJson, isList, isObject, type Json, type JsonObject, textAt } from '../../model/json.ts';
import { compareSchemas, type Difference } from './walk.ts';

export interface Breach {
  readonly rule: Difference['rule'] | 'identity' | 'storedVersion' | 'servedVersion';
  /** Empty if it concerns all versions. */
  readonly version: string;
  readonly path: string;
  readonly message: string;
}

/** Where the compared members have a default: the live object has it, the object of a package may leave it out. */
const defaultScopes: Readonly<Record<string, string>> = {
  'apiextensions.crossplane.io/v1 CompositeResourceDefinition': 'LegacyCluster',
  'apiextensions.crossplane.io/v2 CompositeResourceDefinition': 'Namespaced',
  'apiextensions.crossplane.io/v1alpha1 ManagedResourceDefinition': 'Namespaced',
};

function identityAt(definition: JsonObject, keys: readonly string[]): Json | undefined {
  const scope = defaultScopes[`${textAt(definition, 'apiVersion')} ${textAt(definition, 'kind')}`];
  return at(definition, 'spec', ...keys) ?? (keys[0] === 'scope' ? scope : undefined);
}

const identity = [['group'], ['scope'], ['names', 'kind'], ['names', 'plural'], ['claimNames', 'kind'], ['claimNames', 'plural']];

/**
 * Changes that would break existing objects or their users. Alpha versions may change freely, but not disappear while objects are
 * stored.
 */
export function compareDefinitions(old: JsonObject, next: JsonObject): readonly Breach[] {
  const changed = identity.flatMap((keys): readonly Breach[] => {
    const [before, after] = [identityAt(old, keys), identityAt(next, keys)];
    if (before === undefined || equalJson(before, after)) return [];
    return [breach('identity', '', keys.join('.'), `was ${JSON.stringify(before)}, is ${JSON.stringify(after ?? null)}`)];
  });
  return [...changed, ...storedVersions(old, next), ...versionsOf(old).flatMap((version) => compareVersion(version, next))];
}

function breach(rule: Breach['rule'], version: string, path: string, message: string): Breach {
  return { rule, version, path, message };
}

function storedVersions(old: JsonObject, next: JsonObject): readonly Breach[] {
  const stored = at(old, 'status', 'storedVersions');
  const names = versionsOf(next).map((version) => textAt(version, 'name'));
  return (isList(stored) ? stored : [])
    .filter((name) => typeof name === 'string' && !names.includes(name))
    .map((name) => breach('storedVersion', String(name), '', 'objects may be stored in this version, and it is gone'));
}

function compareVersion(old: JsonObject, next: JsonObject): readonly Breach[] {
  const name = textAt(old, 'name') ?? '';
  if (isAlpha(name) || at(old, 'served') !== true) return [];
  const found = versionsOf(next).find((version) => textAt(version, 'name') === name);
  if (found === undefined || at(found, 'served') !== true)
    return [breach('servedVersion', name, '', 'this version was served and is not any more')];
  return compareSchemas(schemaOf(old), schemaOf(found)).map((one) => ({ ...one, version: name }));
}

function isAlpha(version: string): boolean {
  return /^v[0-9]+alpha/.test(version);
}

function versionsOf(definition: JsonObject): readonly JsonObject[] {
  const versions = at(definition, 'spec', 'versions');
  return (isList(versions) ? versions : []).filter(isObject);
}

function schemaOf(version: JsonObject): JsonObject {
  const schema: Json | undefined = at(version, 'schema', 'openAPIV3Schema');
  return isObject(schema) ? schema : {};
}

const mostTold = 10;

/** For people; only the first ones. */
export function describeBreaches(breaches: readonly Breach[]): string {
  const told = breaches
    .slice(0, mostTold)
    .map(({ version, path, message }) => [version, path, message].filter((one) => one !== '').join(' '));
  return told.join('; ') + (breaches.length > mostTold ? `; and ${breaches.length - mostTold} more` : '');
}
