// The fields that the API server names in a refusal, compared between two states of one object.
import { isList, type Json, type JsonObject } from '../json.ts';
import { type ListKinds, listKindsOf, valueAt } from './lists.ts';
import { field, itemElement, memberElement, type Path, pathText, schemaPath } from './path.ts';

/** A state that the API server refuses to create, and the fields that it names, as it writes them: `spec.parts[0].size`. */
interface Invalid {
  readonly state: JsonObject;
  readonly fields: readonly string[];
}

/** The fields of the first state that the API server does not name of the second one. An item with keys keeps its name when it moves. */
export function curedFields(before: Invalid, after: Invalid): readonly string[] {
  const kinds = listKindsOf(before.state, after.state);
  const left = new Set(after.fields.map((one) => nameOf(one, after.state, kinds)));
  return before.fields.filter((one) => !left.has(nameOf(one, before.state, kinds)));
}

function nameOf(text: string, state: JsonObject, kinds: ListKinds): string {
  let path: Path = [];
  for (const [, name = ''] of text.matchAll(/([^.[\]]+)/g)) path = [...path, elementOf(name, path, state, kinds)];
  return pathText(path);
}

function elementOf(name: string, path: Path, state: JsonObject, kinds: ListKinds): string {
  const value = valueAt(state, path, kinds);
  const kind = kinds.get(schemaPath(path));
  if (!isList(value) || kind === undefined) return field(name);
  const item: Json | undefined = value[Number(name)];
  if (item === undefined) return field(name);
  return kind === 'set' ? memberElement(item) : (itemElement(item, kind) ?? field(name));
}
