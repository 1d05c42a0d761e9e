// Paths into an object as kubectl's JSONPath writes them: `.status.loadBalancer.ingress[0].ip`, `.metadata.labels['a.b/c']`. One
// path leads to one value: wildcards, filters and ranges are refused.
import { at, isList, type Json } from '../../objects/json.ts';

type FieldPath =
  | { readonly kind: 'path'; readonly steps: readonly (string | number)[] }
  | { readonly kind: 'bad'; readonly message: string };

// The first that fits at the place; a key in quotes may hold anything, a quote or a backslash behind a backslash.
const step = /\.([A-Za-z0-9_/-]+)|\[(\d{1,9})\]|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/suy;

/** The steps of a path, or its fault in words. */
export function parseFieldPath(text: string): FieldPath {
  const steps: (string | number)[] = [];
  step.lastIndex = 0;
  while (step.lastIndex < text.length) {
    const start = step.lastIndex;
    const found = step.exec(text);
    if (found === null) return { kind: 'bad', message: wrongAt(text, start) };
    const [, name, index, single, double] = found;
    steps.push(index === undefined ? (name ?? unquoted(single ?? double ?? '')) : Number(index));
  }
  return steps.length === 0 ? { kind: 'bad', message: 'it is empty' } : { kind: 'path', steps };
}

const unquoted = (text: string): string => text.replaceAll(/\\(.)/gsu, '$1');

function wrongAt(text: string, start: number): string {
  const rest = text.slice(start);
  if (start === 0 && /^[{$]/.test(rest)) return 'it is in braces or begins with "$": leave that out';
  if (start === 0 && /^\w/.test(rest)) return 'it does not begin with "."';
  if (/^\[[*?:@-]|^\[\d*:|^\.[*.]|^\.$/.test(rest))
    return `character ${start + 1}: it must lead to one field by names and indexes`;
  return `character ${start + 1}: neither .name, [0] nor ['any key'] begins there`;
}

/** The value at the path; undefined if there is no value. */
export function readField(object: Json, steps: readonly (string | number)[]): Json | undefined {
  let current: Json | undefined = object;
  for (const one of steps) {
    if (typeof one === 'string') current = at(current, one);
    else current = isList(current) ? current[one] : undefined;
  }
  return current;
}
