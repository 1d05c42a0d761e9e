// Finds faults that JSON.parse accepts and the API server refuses. An object may have a key twice (JSON.parse keeps the last), and a
// number may exceed float64 (JSON.parse makes it Infinity). The text is valid JSON, so the check needs only its tokens.

/** A text in quotes with the colon of a key, a brace, or a number. */
const tokens = /"((?:[^"\\]|\\.)*)"(\s*:)?|[{}]|-?\d[\d.eE+-]*/g;

/** A predicate with the place, such as `holds a key twice: line 3, column 5`; undefined if there is no such fault. */
export function looseness(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const match of text.matchAll(tokens)) {
    const why = faultAt(match, open);
    if (why !== undefined) return `${why}: ${placeOf(text, match.index)}`;
  }
  return undefined;
}

/** `open` holds the keys of each object that contains the token. */
function faultAt([token, quoted, colon]: RegExpExecArray, open: Set<string>[]): string | undefined {
  if (token === '{') open.push(new Set());
  if (token === '}') open.pop();
  if (colon !== undefined) return isTwice(open.at(-1), quoted ?? '') ? 'holds a key twice' : undefined;
  return isInfinite(token) ? 'holds a number that is out of range' : undefined;
}

function isInfinite(token: string): boolean {
  return !/["{}]/.test(token[0] ?? '') && !Number.isFinite(Number(token));
}

function isTwice(keys: Set<string> | undefined, quoted: string): boolean {
  const key = quoted.includes('\\') ? String(JSON.parse(`"${quoted}"`)) : quoted;
  const before = keys?.size;
  return keys?.add(key).size === before;
}

function placeOf(text: string, index: number): string {
  const lines = text.slice(0, index).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}
