// How large an object is: in memory, and as JSON. A short key takes ten times as much memory as text.
//
// The text is measured before it is parsed, and the measure is remembered for the object. A walk over 90 000 keys takes 20 times as
// long.
import { isDeeperThan, type JsonObject, mostLevels } from './json.ts';
import { endOfText, longNumbersIn } from './long-integers.ts';

/** Bytes, both estimates. */
export interface Weight {
  readonly memory: number;
  readonly text: number;
}

// Bytes on V8's heap (test/hooks/objects/measure.test.ts compares them with the heap).
const ofText = 24;
const ofKey = 48;
/** Beside its digits. */
const ofLongNumber = 112;

/** Bytes for a character outside of texts. A number takes the place that its comma counts. */
const marks: ReadonlyMap<number, number> = new Map([
  ['{'.charCodeAt(0), 64],
  ['['.charCodeAt(0), 48],
  [','.charCodeAt(0), 8],
]);

/** Levels that begin or end with a character. */
const steps: ReadonlyMap<number, number> = new Map([
  ['{'.charCodeAt(0), 1],
  ['['.charCodeAt(0), 1],
  ['}'.charCodeAt(0), -1],
  [']'.charCodeAt(0), -1],
]);

const [quote, colon, backslash] = [34, 58, 92];

const known = new WeakMap<JsonObject, Measure>();

/**
 * Remembers the measure of the text that the object was parsed from, or was a part of. In the second case the object counts as the
 * whole.
 */
export function remember(object: JsonObject, measure: Measure): void {
  known.set(object, measure);
}

const nothing: Measure = { memory: 0, text: 0, levels: 0, values: 0, longestElement: 0, hasListKeys: false };

/** Bytes in memory and as JSON. */
export function weightOf(object: JsonObject | undefined): Weight {
  if (object === undefined) return nothing;
  // An object that is nested without end is refused before it is kept (content/too-large.ts), and has no text.
  const measure = known.get(object) ?? (isDeeperThan(object, mostLevels) ? nothing : measureOfText(JSON.stringify(object)));
  known.set(object, measure);
  return measure;
}

/** The measure of the text of which the object was parsed; undefined if it is not known. */
export function measureOf(object: JsonObject): Measure | undefined {
  return known.get(object);
}

interface Measure extends Weight {
  /** The most maps and lists inside one another. */
  readonly levels: number;
  /** How many maps, lists and values there are, or a few more. */
  readonly values: number;
  /** Characters of the longest key or list item, as JSON. */
  readonly longestElement: number;
  /** Whether a key looks like the key of a list item in managedFields. */
  readonly hasListKeys: boolean;
}

/** The key of a list item in managedFields, as any JSON may write it. */
const listKey = /^"(?:k|\\u006b)(?::|\\u003a)/i;
const longestListKey = 16;

/** The measure of the text of one JSON value, which need not be valid: one pass without a tree. */
export function measureOfText(text: string): Measure {
  const width = isWide(text) ? 2 : 1;
  const elements: Elements = { longestElement: 0, hasListKeys: false };
  let [memory, index, level, levels, values] = [0, 0, 0, 0, 1];
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === quote) {
      const end = endOfText(text, index + 1);
      memory += (end - index - 1) * width + overhead(text, end);
      addElement(elements, text, index, end);
      index = end;
    }
    memory += marks.get(code) ?? 0;
    values += Number(marks.has(code));
    level += steps.get(code) ?? 0;
    levels = Math.max(levels, level);
    index += 1;
  }
  return { memory: memory + ofLongNumbers(text), text: text.length, levels, values, ...elements };
}

function ofLongNumbers(text: string): number {
  return longNumbersIn(text).reduce((sum, { begin, end }) => sum + end - begin + ofLongNumber, 0);
}

type Elements = { -readonly [Part in 'longestElement' | 'hasListKeys']: Measure[Part] };

/** Notes the text, unless it is the value of a key. */
function addElement(elements: Elements, text: string, begin: number, end: number): void {
  if (text.charCodeAt(begin - 1) === colon) return;
  elements.longestElement = Math.max(elements.longestElement, end - begin - 1);
  elements.hasListKeys ||= mayBeListKey(text, begin) && listKey.test(text.slice(begin, begin + longestListKey));
}

function mayBeListKey(text: string, index: number): boolean {
  const [first, second] = [text.charCodeAt(index + 1), text.charCodeAt(index + 2)];
  return first === backslash || second === colon || second === backslash;
}

/** The overhead of the text that ends there; the text is a key if a colon follows. */
function overhead(text: string, end: number): number {
  return text.charCodeAt(end + 1) === colon ? ofKey : ofText;
}

/** If a text has a single character beyond Latin-1, V8 stores every character as two bytes. */
function isWide(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range begins there
  return /[^\u0000-\u00ff]/.test(text);
}
