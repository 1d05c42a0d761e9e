// The values in one node of a schema that must not change, one rule each. A change that these rules accept makes no valid object
// invalid and drops no field.
import {
  at,
  canonicalJson,
  equalJson,
  isList,
  isObject,
  type Json,
  type JsonObject,
  listAt,
  objectsAt,
  textAt,
} from '../../objects/json.ts';
import { numberOf } from './numbers.ts';

/** The breach in words; undefined if the change breaks nothing. */
type Rule = (old: JsonObject, next: JsonObject) => string | undefined;

export type RuleName = keyof typeof nodeRules;

const text = (value: Json | undefined): string => (value === undefined ? 'none' : JSON.stringify(value));

/** Any difference is a breach. */
function same(key: string, absent?: Json): Rule {
  return (old, next) => {
    const [before, after] = [at(old, key) ?? absent, at(next, key) ?? absent];
    return equalJson(before, after) ? undefined : `${key} was ${text(before)}, is ${text(after)}`;
  };
}

/** A change may remove the value, but not add or change it. */
function mayGo(key: string): Rule {
  return (old, next) => (at(next, key) === undefined ? undefined : same(key)(old, next));
}

function from(before: boolean, key: string): Rule {
  return (old, next) =>
    (at(old, key) === true) === before && (at(next, key) === true) !== before ? `${key} is ${!before}, was ${before}` : undefined;
}

/** A bound that may only move outward: `1` if a higher bound allows more, `-1` if a lower bound allows more. */
function bound(key: string, outward: 1 | -1): Rule {
  return (old, next) => {
    const [before, after] = [numberOf(at(old, key)), numberOf(at(next, key))];
    if (after === undefined) return undefined;
    const isAsWide = before !== undefined && (outward === 1 ? after >= before : after <= before);
    return isAsWide ? undefined : `${key} was ${before ?? 'none'}, is ${after}`;
  };
}

/** An exclusive bound, if the bound itself is unchanged. */
function exclusive(key: string, of: string): Rule {
  return (old, next) =>
    at(next, key) === true && at(old, key) !== true && equalJson(at(old, of), at(next, of))
      ? `${key} is true, was false`
      : undefined;
}

const enumeration: Rule = (old, next) => {
  const [before, after] = [at(old, 'enum'), at(next, 'enum')];
  if (!isList(after)) return undefined;
  if (!isList(before)) return `enum was none, is ${text(after)}`;
  const kept = new Set(after.map(canonicalJson));
  const gone = before.find((one) => !kept.has(canonicalJson(one)));
  return gone === undefined ? undefined : `enum lacks ${text(gone)}`;
};

const required: Rule = (old, next) => {
  const [before, after] = [new Set(textsOf(at(old, 'required'))), textsOf(at(next, 'required'))];
  const wasMissable = (name: string) => !before.has(name) || hasDefault(old, name);
  const added = after.find((name) => wasMissable(name) && !hasDefault(next, name));
  return added === undefined ? undefined : `${JSON.stringify(added)} is required and has no default`;
};

function hasDefault(node: JsonObject, name: string): boolean {
  return at(node, 'properties', name, 'default') !== undefined;
}

/** A key that a default added still counts for minProperties. A default replaces a null in a list or a map. */
const keptDefaults: Rule = (old, next) => {
  const nameless = ['items', 'additionalProperties'].find(
    (key) => at(old, key, 'default') !== undefined && at(next, key, 'default') === undefined,
  );
  if (nameless !== undefined) return `${nameless} has no default now`;
  const least = numberOf(at(next, 'minProperties')) ?? 0;
  const properties = at(old, 'properties');
  const names = isObject(properties) && least > 0 ? Object.keys(properties) : [];
  const gone = names.find((name) => hasDefault(old, name) && !hasDefault(next, name));
  return gone === undefined ? undefined : `${JSON.stringify(gone)} has no default now, and minProperties is ${least}`;
};

/** An item without a key has the key's default, and another item may have that value already. */
const keyDefaults: Rule = (old, next) => {
  const defaultOf = (node: JsonObject, key: string) => at(node, 'items', 'properties', key, 'default');
  const changed = textsOf(at(next, 'x-kubernetes-list-map-keys')).find(
    (key) => defaultOf(old, key) !== undefined && !equalJson(defaultOf(old, key), defaultOf(next, key)),
  );
  return changed === undefined ? undefined : `the key ${JSON.stringify(changed)} had another default`;
};

const expressions: Rule = (old, next) => {
  const known = new Set(rulesOf(old).map(canonicalJson));
  const added = rulesOf(next).find((one) => !known.has(canonicalJson(one)));
  return added === undefined ? undefined : `x-kubernetes-validations has ${textAt(added, 'rule')}`;
};

function rulesOf(node: JsonObject): readonly JsonObject[] {
  return objectsAt(node, 'x-kubernetes-validations').map((one) => ({
    rule: at(one, 'rule') ?? null,
    optionalOldSelf: at(one, 'optionalOldSelf') ?? false,
  }));
}

function textsOf(value: Json | undefined): readonly string[] {
  return listAt(value).filter((one) => typeof one === 'string');
}

export const preserves = 'x-kubernetes-preserve-unknown-fields';
export const embedded = 'x-kubernetes-embedded-resource';

export const nodeRules = {
  type: same('type'),
  format: same('format'),
  intOrString: same('x-kubernetes-int-or-string', false),
  enum: enumeration,
  required,
  maximum: bound('maximum', 1),
  exclusiveMaximum: exclusive('exclusiveMaximum', 'maximum'),
  minimum: bound('minimum', -1),
  exclusiveMinimum: exclusive('exclusiveMinimum', 'minimum'),
  maxLength: bound('maxLength', 1),
  minLength: bound('minLength', -1),
  maxItems: bound('maxItems', 1),
  minItems: bound('minItems', -1),
  maxProperties: bound('maxProperties', 1),
  minProperties: bound('minProperties', -1),
  pattern: mayGo('pattern'),
  multipleOf: mayGo('multipleOf'),
  uniqueItems: from(false, 'uniqueItems'),
  not: mayGo('not'),
  oneOf: mayGo('oneOf'),
  nullable: from(true, 'nullable'),
  preserveUnknownFields: from(true, preserves),
  embeddedResource: from(false, embedded),
  listType: same('x-kubernetes-list-type', 'atomic'),
  listMapKeys: same('x-kubernetes-list-map-keys'),
  keyDefaults,
  keptDefaults,
  mapType: same('x-kubernetes-map-type', 'granular'),
  validations: expressions,
} satisfies Readonly<Record<string, Rule>>;
