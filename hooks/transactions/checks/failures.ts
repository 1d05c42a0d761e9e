// Failures in words, for people.
import { managersOf } from '../../objects/content/fields.ts';
import type { Failure, FieldConflict } from '../../objects/failure.ts';
import { at, isObject, type Json } from '../../objects/json.ts';
import { cut } from '../../objects/words.ts';

const longestMessage = 600;
const mostFields = 5;

/** The known states of a target: before, after, as content. */
type Known = readonly (Json | undefined)[];

/**
 * Messages of the API server quote values, and a webhook may put values into field paths. So for an object with secret content the
 * text has only the reason, and of each path only the part that consists of field names of the object.
 */
export function describeFailure({ reason, message, fields }: Failure, isSecret: boolean, known?: Known): string {
  if (!isSecret && message !== '') return cut(message, longestMessage);
  const paths = isSecret ? [...new Set(fields.flatMap((field) => plainPath(field, known)))] : fields;
  return paths.length === 0 ? reason : `${reason} (${paths.slice(0, mostFields).join(', ')})`;
}

const mostConflicts = 10;

/**
 * Fields that others own with other values, and what to do. A webhook may have invented them. For an object with secret content,
 * the text does not use its words.
 */
export function describeConflicts(conflicts: readonly FieldConflict[], isSecret: boolean, known: Known): string {
  const managers = new Set(known.flatMap((state) => (isObject(state) ? managersOf(state) : [])).map(({ name }) => name));
  const by = (owner: string): string => (isSecret && !managers.has(owner) ? 'others' : owner);
  const all = [...new Set(conflicts.map(({ field, owner }) => `${conflictPath(field, isSecret, known)} (by ${by(owner)})`))];
  const rest = all.length - mostConflicts;
  const shown = all.slice(0, mostConflicts).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  return `other field managers own these fields with other values: ${shown}; leave them out of content, or write fieldConflicts: Force`;
}

function conflictPath(field: string, isSecret: boolean, known: Known): string {
  return isSecret ? (knownPath(field, known)[0] ?? 'a field') : field;
}

function plainPath(field: string, known: Known | undefined): readonly string[] {
  return known === undefined ? [field.replaceAll(/\[[^\]]*(\]|$)/g, '[…]')] : knownPath(field, known);
}

/** The part of a path that leads through fields of one of the objects: `spec.tokens[…]` for `spec.tokens[abc].x`. */
function knownPath(field: string, objects: Known): readonly string[] {
  const names = namesIn(field);
  const depth = Math.max(0, ...objects.map((object) => depthOf(names, object)));
  const path = names.slice(0, depth).map((name) => (name.includes('.') ? `[${name}]` : `.${name}`));
  return depth === 0 ? [] : [`${path.join('').replace(/^\./, '')}${depth === names.length ? '' : '[…]'}`];
}

/** A name in brackets may hold dots: `data[tls.crt]`. */
function namesIn(field: string): readonly string[] {
  return [...field.matchAll(/\[([^\]]*)\]?|([^.[\]]+)/g)].map(([, key, name]) => key ?? name ?? '').filter((name) => name !== '');
}

function depthOf([name, ...rest]: readonly string[], value: Json | undefined): number {
  if (name === undefined) return 0;
  return isObject(value) && Object.hasOwn(value, name) ? 1 + depthOf(rest, at(value, name)) : 0;
}
