// Others' texts (names, reasons, messages, field managers, values of annotations) as the engine may repeat them in a status, an
// Event or a log. Each text is on one line, every character is visible, and this file decides its length.

const harmless = /^[\x20-\x7e]*$/;
const breaks = /[^\S ]+/gu;
// Controls, directions, joiners, fillers, halves of pairs, and characters without meaning: each can make a text resemble another
// one.
const hidden = /[\p{C}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * The text on one line; an invisible character is written as `\u{202e}`. If the function gets its own result, it returns it
 * unchanged.
 */
export function clean(text: string): string {
  if (harmless.test(text)) return text;
  return text.replaceAll(breaks, ' ').replaceAll(hidden, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`);
}

/** At most so many UTF-16 units, and never half a character: the API server would store another character in its place. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, Math.max(0, most - 1));
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}…`;
}

/** Texts of the API server's warnings about one write that are kept, and UTF-16 units of each. */
export const mostWarnings = 3;
export const warningLength = 200;

/** Others' text, for a message. */
export function foreign(text: string, most: number): string {
  // The function does not clean a part that it drops: a message may have megabytes.
  return cut(clean(cut(text, most + 1)), most);
}

/** Bytes that a value takes in storage: as Go writes JSON, which writes `<`, `>` and `&` with six characters. */
export function storedSize(value: unknown): number {
  return storedSizeOf(JSON.stringify(value) ?? '');
}

/** The bytes that JSON text takes in storage. */
export function storedSizeOf(json: string): number {
  return Buffer.byteLength(json) + 5 * (json.match(/[<>&\u2028\u2029]/g)?.length ?? 0);
}
