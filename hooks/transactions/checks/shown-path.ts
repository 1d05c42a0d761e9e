// Paths of fields in messages about an object whose values messages must not show. The API server, or a webhook, wrote the path: its
// elements may be values.
//
// 1. An element is shown only if an object that its reader may know has it at that place: the content that the author of the change
//    wrote, or the fields that Kubernetes defines. Whatever follows is hidden.
// 2. An item of a list is shown by its index, never by its keys.
// 3. The text of a message decides nothing: it only shows which of those paths the message names.
import { at, isList, isObject, type Json } from '../../objects/json.ts';

/** Characters of a path, and of one of its names, that are compared. */
const longestPath = 500;
const longestName = 320;

/** Items of a list in which a path without an index is looked for. */
const mostItems = 100;

interface Walk {
  readonly shown: string;
  /** Characters of the text that are a part of `shown`. */
  readonly length: number;
}

const nowhere: Walk = { shown: '', length: 0 };

export interface ShownPath {
  /** `.spec.ports[0].port` */
  readonly path: string;
  /** The objects do not have what follows. */
  readonly isCut: boolean;
}

/** The longest part of a path that leads through one of the objects; undefined if not even its first element does. */
export function shownPath(field: string, objects: readonly (Json | undefined)[]): ShownPath | undefined {
  const text = dotted(field.slice(0, longestPath));
  const { shown, length } = longestOf(objects.map((object) => walk(text, object)));
  return shown === '' ? undefined : { path: shown, isCut: length < text.length };
}

/** The paths of the objects that a message names in full, each with what the API server says of it if that is one of its own phrases. */
export function pathsIn(message: string, objects: readonly (Json | undefined)[]): readonly string[] {
  const found: string[] = [];
  let from = 0;
  for (const { index } of message.matchAll(/(?<![\w-])[A-Za-z][\w-]*/g)) {
    if (index < from) continue;
    const { shown, length } = longestOf(objects.map((object) => walk(`.${message.slice(index, index + longestPath)}`, object)));
    const end = index + length - 1;
    if (!isWholePath(message, index, end) || !(isDeep(shown) || /[."]/.test(message[index - 1] ?? ''))) continue;
    found.push(shown + complaintOf(message.slice(Math.max(0, index - 40), index), message.slice(end, end + 40)));
    from = end;
  }
  return [...new Set(found)];
}

// A word of a sentence may be the name of a field, too.
const isDeep = (shown: string): boolean => /.[.[]/.test(shown);

function isWholePath(message: string, start: number, end: number): boolean {
  return end > start && /^([:",;)\s]|$)/.test(message.slice(end, end + 1));
}

// Sources: structured-merge-diff, typed/validate.go and typed/helpers.go; k8s.io/apimachinery, pkg/runtime/error.go
// (strictDecodingError), with sigs.k8s.io/json; encoding/json, UnmarshalTypeError.
const phrasesAfter = [
  [/^: field not declared in schema/, 'unknown field'],
  [/^: expected /, 'wrong type'],
  [/^: duplicate entries/, 'duplicate items'],
] as const;
const phrasesBefore = [
  [/unknown field "\.?$/, 'unknown field'],
  [/Go struct field \w+\.$/, 'wrong type'],
] as const;

function complaintOf(before: string, after: string): string {
  const [, words] =
    phrasesAfter.find(([phrase]) => phrase.test(after)) ?? phrasesBefore.find(([phrase]) => phrase.test(before)) ?? [];
  return words === undefined ? '' : `: ${words}`;
}

function dotted(field: string): string {
  return /^[.[]/.test(field) ? field : `.${field}`;
}

function longestOf(walks: readonly Walk[]): Walk {
  return walks.reduce((best, one) => (one.length > best.length ? one : best), nowhere);
}

function walk(text: string, value: Json | undefined): Walk {
  if (isObject(value))
    return longestOf(namesAt(text).map(({ name, length }) => step(text, length, at(value, name), written(name))));
  if (!isList(value)) return nowhere;
  // Go's decoder names no index.
  if (text.startsWith('.')) return inSomeItem(longestOf(value.slice(0, mostItems).map((item) => walk(text, item))));
  const [bracket] = /^\[(?:"(?:[^"\\]|\\.)*"|[^"\]])*\]/.exec(text) ?? [];
  const index = bracket === undefined ? -1 : indexOf(bracket, value);
  return bracket === undefined || index < 0 ? nowhere : step(text, bracket.length, value[index], `[${index}]`);
}

function step(text: string, length: number, value: Json | undefined, shown: string): Walk {
  if (value === undefined) return nowhere;
  const rest = walk(text.slice(length), value);
  return { shown: shown + rest.shown, length: length + rest.length };
}

function inSomeItem({ shown, length }: Walk): Walk {
  return length === 0 ? nowhere : { shown: `[…]${shown}`, length };
}

function written(name: string): string {
  return name.includes('.') ? `[${name}]` : `.${name}`;
}

/** The names that may be next in the text: `.a`, `.a.b` (a name may hold dots) or `[a.b]`. */
function namesAt(text: string): readonly { readonly name: string; readonly length: number }[] {
  const [bracketed, inside] = /^\["?([^\]"]*)"?\]/.exec(text) ?? [];
  if (bracketed !== undefined) return [{ name: inside ?? '', length: bracketed.length }];
  if (!text.startsWith('.')) return [];
  const head = text.slice(0, longestName);
  const ends = [...head.matchAll(/[.[:",;)\s]|$/g)].map(({ index }) => index).filter((end) => end > 1);
  return ends.map((end) => ({ name: head.slice(1, end), length: end }));
}

/** `[2]`, or `[port=80,protocol="TCP"]`. */
function indexOf(bracket: string, items: readonly Json[]): number {
  if (/^\[\d{1,6}\]$/.test(bracket)) return Number(bracket.slice(1, -1)) < items.length ? Number(bracket.slice(1, -1)) : -1;
  const keys = [...bracket.matchAll(/(\w+)=("(?:[^"\\]|\\.)*"|[^,\]]+)/g)].map(([, name = '', value]) => ({ name, value }));
  if (keys.length === 0) return -1;
  return items.findIndex((item) => keys.every(({ name, value }) => JSON.stringify(at(item, name)) === value));
}
