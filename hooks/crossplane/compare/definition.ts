// Compares two states of the definition of a kind: a CustomResourceDefinition, or the CompositeResourceDefinition or
// ManagedResourceDefinition that contains one.
import { at, equalJson, isList, type Json, type JsonObject, listAt, objectAt, objectsAt, textAt } from '../../objects/json.ts';
import { compareSchemas, type Difference } from './walk.ts';

export interface Breach {
  readonly rule: Difference['rule'] | 'identity' | 'storedVersion' | 'servedVersion';
  /** The version that the breach concerns. Empty if it concerns all versions. */
  readonly version: string;
  readonly path: string;
  readonly message: string;
}

/** The defaults of compared members. The live object has the default; the object of a package may leave the member out. */
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
 * stored in them.
 */
export function compareDefinitions(old: JsonObject, next: JsonObject): readonly Breach[] {
  const changed = identity.flatMap((keys): readonly Breach[] => {
    const [before, after] = [identityAt(old, keys), identityAt(next, keys)];
    if (before === undefined || equalJson(before, after)) return [];
    return [breach('identity', '', keys.join('.'), `was ${JSON.stringify(before)}, is ${JSON.stringify(after ?? null)}`)];
  });
  const versions = versionsOf(old).flatMap((version) => compareVersion(version, next));
  return [...changed, ...storedVersions(old, next), ...versions, ...lostInStorage(old, next)];
}

function breach(rule: Breach['rule'], version: string, path: string, message: string): Breach {
  return { rule, version, path, message };
}

const migration =
  'write each instance once, so that it is stored in another version, then remove this one from status.storedVersions of the live definition';

function storedVersions(old: JsonObject, next: JsonObject): readonly Breach[] {
  const names = versionsOf(next).map((version) => textAt(version, 'name'));
  return listAt(old, 'status', 'storedVersions')
    .filter((name) => typeof name === 'string' && !names.includes(name))
    .map((name) =>
      breach('storedVersion', String(name), '', `objects may be stored in this version, and it is gone: ${migration}`),
    );
}

const losing: readonly Breach['rule'][] = ['fieldRemoved', 'preserveUnknownFields', 'type'];

/**
 * The API server reads an object from storage by the schema of the version that the object is stored in. It does not matter whether
 * that version is served or alpha. If that schema lacks a field, the field is gone from every version. The hook refuses only the
 * loss of a field that a served version has, and that the stored version has kept so far.
 */
function lostInStorage(old: JsonObject, next: JsonObject): readonly Breach[] {
  const served = versionsOf(old).filter(isCompared);
  return versionsOf(old).flatMap((stored) => {
    const name = textAt(stored, 'name') ?? '';
    const found = versionsOf(next).find((version) => textAt(version, 'name') === name);
    if (isCompared(stored) || !isStored(stored, old) || found === undefined) return [];
    return served.flatMap((version) => {
      const known = new Set(losses(version, stored).map(({ path }) => path));
      const lost = losses(version, found).filter(({ path }) => !known.has(path));
      return lost.map((one) => ({ ...one, version: name, message: `${one.message}, and objects are stored in this version` }));
    });
  });
}

function losses(old: JsonObject, next: JsonObject): readonly Difference[] {
  return compareSchemas(schemaOf(old), schemaOf(next)).filter(({ rule }) => losing.includes(rule));
}

function isStored(version: JsonObject, definition: JsonObject): boolean {
  const names = at(definition, 'status', 'storedVersions');
  const isNamed = isList(names) && names.includes(textAt(version, 'name') ?? '');
  return isNamed || at(version, 'storage') === true || at(version, 'referenceable') === true;
}

/** Whether users rely on the version as a whole. */
function isCompared(version: JsonObject): boolean {
  return !isAlpha(textAt(version, 'name') ?? '') && at(version, 'served') === true;
}

function compareVersion(old: JsonObject, next: JsonObject): readonly Breach[] {
  const name = textAt(old, 'name') ?? '';
  if (!isCompared(old)) return [];
  const found = versionsOf(next).find((version) => textAt(version, 'name') === name);
  if (found === undefined || at(found, 'served') !== true)
    return [breach('servedVersion', name, '', 'this version was served and is not any more')];
  return compareSchemas(schemaOf(old), schemaOf(found)).map((one) => ({ ...one, version: name }));
}

function isAlpha(version: string): boolean {
  return /^v[0-9]+alpha/.test(version);
}

function versionsOf(definition: JsonObject): readonly JsonObject[] {
  return objectsAt(definition, 'spec', 'versions');
}

function schemaOf(version: JsonObject): JsonObject {
  return objectAt(version, 'schema', 'openAPIV3Schema');
}

const mostListed = 10;

/** For people: only the first breaches. */
export function describeBreaches(breaches: readonly Breach[]): string {
  const listed = breaches
    .slice(0, mostListed)
    .map(({ version, path, message }) => [version, path, message].filter((one) => one !== '').join(' '));
  return listed.join('; ') + (breaches.length > mostListed ? `; and ${breaches.length - mostListed} more` : '');
}
