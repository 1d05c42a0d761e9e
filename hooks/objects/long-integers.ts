// Integers that a double cannot hold, in JSON text. A reviver of JSON.parse is called for each value: a list of 750 000 short numbers
// with one long integer would take seconds. So each long integer becomes a marked text before the text is parsed.

/** No other text has it: it is new in each process, and is never shown. */
const mark = `${crypto.randomUUID()}:`;

const [quote, backslash, minus, zero, nine] = [34, 92, 45, 48, 57];
const integer = /^-?(?:0|[1-9]\d*)$/;
const endOfKey = /\s*:/y;

/** A number needs at least sixteen digits in a row to lose precision. */
const shortest = 16;
const mayBeLong = /\d{16}/;

interface Place {
  readonly begin: number;
  readonly end: number;
}

/** The places of long numbers, outside of texts. The text need not be valid JSON. */
export function longNumbersIn(text: string): readonly Place[] {
  const found: Place[] = [];
  if (!mayBeLong.test(text)) return found;
  for (let begin = 0, end = 0; begin < text.length; begin = end) {
    end = endOfToken(text, begin);
    if (end - begin >= shortest && beginsNumber(text.charCodeAt(begin))) found.push({ begin, end });
  }
  return found;
}

/** The text with long integers as marked texts; undefined if it has none. The text need not be valid JSON. */
export function markLongIntegers(text: string): string | undefined {
  const parts: string[] = [];
  let copied = 0;
  for (const { begin, end } of longNumbersIn(text)) {
    const token = text.slice(begin, end);
    if (!isLongInteger(token) || isKey(text, end)) continue;
    parts.push(text.slice(copied, begin), `"${mark}${token}"`);
    copied = end;
  }
  return parts.length === 0 ? undefined : parts.join('') + text.slice(copied);
}

type Container = Record<string | number, unknown>;

/** Replaces the marked texts of a parsed value, in place. It does not work by recursion: the value may be nested without end. */
export function replaceMarked(value: unknown): unknown {
  const holder = { value };
  const open: Container[] = [holder];
  const visit = (parent: Container, key: string | number, child: unknown): void => {
    if (typeof child === 'object' && child !== null) open.push(child as Container);
    else if (typeof child === 'string' && child.startsWith(mark)) setRaw(parent, key, child.slice(mark.length));
  };
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) visitAll(parent, visit);
  return holder.value;
}

// Object.entries of a list takes ten times as long.
function visitAll(parent: Container, visit: (parent: Container, key: string | number, child: unknown) => void): void {
  if (Array.isArray(parent)) for (let index = 0; index < parent.length; index += 1) visit(parent, index, parent[index]);
  else for (const key of Object.keys(parent)) visit(parent, key, parent[key]);
}

// An assignment to `__proto__` would set no key.
function setRaw(parent: Container, key: string | number, digits: string): void {
  const value = JSON.rawJSON(digits);
  if (key === '__proto__') Object.defineProperty(parent, key, { value, configurable: true, enumerable: true, writable: true });
  else parent[key] = value;
}

function isLongInteger(token: string): boolean {
  const value = Number(token);
  return integer.test(token) && !Number.isSafeInteger(value) && String(value) !== token;
}

/** Whether the token that ends there is a key: JSON.parse must refuse a number as a key. */
function isKey(text: string, end: number): boolean {
  endOfKey.lastIndex = end;
  return endOfKey.test(text);
}

/** The index behind the text, the number, or the single character that begins there. */
function endOfToken(text: string, begin: number): number {
  const code = text.charCodeAt(begin);
  if (code === quote) return endOfText(text, begin + 1) + 1;
  return beginsNumber(code) ? endOfNumber(text, begin) : begin + 1;
}

function beginsNumber(code: number): boolean {
  return code === minus || (code >= zero && code <= nine);
}

const others: ReadonlySet<number> = new Set([...'+.eE'].map((one) => one.charCodeAt(0)));

function endOfNumber(text: string, begin: number): number {
  let end = begin + 1;
  for (let code = text.charCodeAt(end); beginsNumber(code) || others.has(code); code = text.charCodeAt(end)) end += 1;
  return end;
}

/** The index of the quote that ends the text which begins there; the length if no quote ends it. */
export function endOfText(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, index: number): boolean {
  let before = index - 1;
  while (text.charCodeAt(before) === backslash) before -= 1;
  return (index - before) % 2 === 0;
}
