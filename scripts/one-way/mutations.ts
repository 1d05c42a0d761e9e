// Derives mutations of an object from its schema: each field set, changed and removed. Pure.
import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';

export interface Mutation {
  /** Names of fields; `[]` means the items of a list. */
  readonly path: readonly string[];
  readonly change: 'set' | 'added' | 'changed' | 'removed';
  /** Objects to try. The first one that the API server admits counts. */
  readonly candidates: readonly JsonObject[];
}

export type Definitions = Readonly<Record<string, Json>>;

/** Levels of nested fields to mutate. */
const deepest = 5;

/** The mutations of an object with that schema, without metadata and status. */
export function mutationsOf(object: JsonObject, schema: Json, definitions: Definitions): readonly Mutation[] {
  return fieldsOf(schema, definitions)
    .filter(([name]) => !['apiVersion', 'kind', 'metadata', 'status'].includes(name))
    .flatMap(([name, field]) => walk({ root: object, path: [name], schema: field, definitions }));
}

interface Place {
  readonly root: JsonObject;
  readonly path: readonly string[];
  readonly schema: Json;
  readonly definitions: Definitions;
}

function walk(place: Place): readonly Mutation[] {
  const { path, root, definitions } = place;
  const schema = resolved(place.schema, definitions);
  const value = valueAt(root, path);
  const values = valuesOf(schema, definitions, value);
  const own: Mutation = {
    path: path.map((part) => (/^\d+$/.test(part) ? '[]' : part)),
    change: changeOf(schema, value),
    candidates: values.map((candidate) => placed(root, path, candidate)),
  };
  const removed: Mutation = { ...own, change: 'removed', candidates: [placed(root, path, undefined)] };
  const inner = path.length >= deepest ? [] : below({ ...place, schema }, value);
  return [...(values.length === 0 ? [] : [own]), ...(value === undefined ? [] : [removed]), ...inner];
}

function changeOf(schema: Json, value: Json | undefined): Mutation['change'] {
  if (textAt(schema, 'type') === 'array') return 'added';
  return value === undefined ? 'set' : 'changed';
}

function below(place: Place, value: Json | undefined): readonly Mutation[] {
  const { schema, path } = place;
  if (!isList(value)) return at(schema, 'items') === undefined ? inside(place, value) : [];
  return value.length === 0 ? [] : walkFields({ ...place, path: [...path, '0'], schema: at(schema, 'items') ?? {} });
}

// A missing value is set with its required fields, and then with each of its other fields.
function inside(place: Place, value: Json | undefined): readonly Mutation[] {
  if (isObject(value)) return walkFields(place);
  const minimal = minimalOf(place.schema, place.definitions, 0);
  return isObject(minimal) ? walkFields({ ...place, root: placed(place.root, place.path, minimal) }) : [];
}

function walkFields(place: Place): readonly Mutation[] {
  return fieldsOf(place.schema, place.definitions).flatMap(([name, schema]) =>
    walk({ ...place, path: [...place.path, name], schema }),
  );
}

function resolved(schema: Json, definitions: Definitions): Json {
  const reference = textAt(schema, '$ref');
  return reference === undefined ? schema : (definitions[reference.replace('#/definitions/', '')] ?? {});
}

function fieldsOf(schema: Json, definitions: Definitions): readonly (readonly [string, Json])[] {
  const properties = at(resolved(schema, definitions), 'properties');
  return isObject(properties) ? Object.entries(properties) : [];
}

function valueAt(root: Json | undefined, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((value, part) => (isList(value) ? value[Number(part)] : at(value, part)), root);
}

function placed(root: JsonObject, path: readonly string[], value: Json | undefined): JsonObject {
  return put(root, path, value) as JsonObject;
}

function put(node: Json | undefined, [first, ...rest]: readonly string[], value: Json | undefined): Json | undefined {
  if (first === undefined) return value;
  if (isList(node)) return node.flatMap((item, index) => (index === Number(first) ? (put(item, rest, value) ?? []) : [item]));
  const entries = isObject(node) ? Object.entries(node).filter(([key]) => key !== first) : [];
  const child = put(at(node, first), rest, value);
  return Object.fromEntries(child === undefined ? entries : [...entries, [first, child]]);
}

/** Values for all kinds of strings in the API. The first one that the API server admits counts. */
const words = [
  'x',
  '1',
  '10.9.8.7',
  '10.9.8.0/24',
  'example.org/x',
  'https://example.org',
  '2026-01-01T00:00:00Z',
  '1Gi',
  'true',
];

function valuesOf(schema: Json, definitions: Definitions, value: Json | undefined): readonly Json[] {
  const others = candidatesOf(schema, definitions, value);
  return others.filter((one) => JSON.stringify(one) !== JSON.stringify(value));
}

function candidatesOf(schema: Json, definitions: Definitions, value: Json | undefined): readonly Json[] {
  switch (textAt(schema, 'type')) {
    case 'boolean':
      return [true, false];
    case 'integer':
    case 'number':
      return typeof value === 'number' ? [value + 1, value - 1, 0] : [1, 100, 30_001, 0];
    case 'string':
      return textsOf(schema);
    case 'array':
      return itemsOf(schema, definitions, isList(value) ? value : []);
    default:
      return mapsOf(schema, definitions, value);
  }
}

function textsOf(schema: Json): readonly Json[] {
  const choices = at(schema, 'enum');
  if (isList(choices)) return choices;
  return textAt(schema, 'format') === 'int-or-string' ? [1, '50%', '2'] : words;
}

function itemsOf(schema: Json, definitions: Definitions, value: readonly Json[]): readonly Json[] {
  const item = resolved(at(schema, 'items') ?? {}, definitions);
  const fresh = isObject(at(item, 'properties')) ? minima(item, definitions) : candidatesOf(item, definitions, undefined);
  return fresh.flatMap((one) => (value.length === 0 ? [[one]] : [[...value, one]]));
}

function mapsOf(schema: Json, definitions: Definitions, value: Json | undefined): readonly Json[] {
  if (at(schema, 'additionalProperties') === undefined) return value === undefined ? minima(schema, definitions) : [];
  const there = isObject(value) ? value : {};
  return ['1', '2Gi', 'x', ...(Object.keys(there).length === 0 ? ['eA=='] : [])].map((one) => ({ ...there, x: one }));
}

function minima(schema: Json, definitions: Definitions): readonly Json[] {
  const least = words.slice(0, 4).map((word) => minimalOf(schema, definitions, 0, word) ?? {});
  const [first] = least;
  // If no field is required, any field may be the one that makes the object valid.
  const fuller = fieldsOf(schema, definitions).flatMap(([name, field]) => {
    const [one] = candidatesOf(resolved(field, {}), {}, undefined);
    return isObject(first) && one !== undefined ? [{ ...first, [name]: one }] : [];
  });
  return [...least, ...fuller.slice(0, 12)];
}

/** An object with only its required fields. */
function minimalOf(schema: Json, definitions: Definitions, depth: number, word = 'x'): Json | undefined {
  const required = at(schema, 'required');
  if (depth > 4 || !isObject(at(schema, 'properties'))) return undefined;
  const names = isList(required) ? required : [];
  const fields = fieldsOf(schema, definitions).filter(([name]) => names.includes(name));
  return Object.fromEntries(
    fields.map(([name, field]) => {
      const inner = resolved(field, definitions);
      const [simple = word] =
        textAt(inner, 'type') === 'string' ? [firstChoice(inner) ?? word] : candidatesOf(inner, definitions, undefined);
      return [name, minimalOf(inner, definitions, depth + 1, word) ?? simple];
    }),
  );
}

function firstChoice(schema: Json): Json | undefined {
  const choices = at(schema, 'enum');
  return isList(choices) ? choices[0] : undefined;
}
