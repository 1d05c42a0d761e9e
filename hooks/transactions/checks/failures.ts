// Failures in words, for people.
import { managersOf } from '../../objects/content/fields.ts';
import type { Failure, FieldConflict, FieldErrorType } from '../../objects/failure.ts';
import { isObject, type Json } from '../../objects/json.ts';
import { cut } from '../../objects/words.ts';
import { pathsIn, type ShownPath, shownPath } from './shown-path.ts';

const longestMessage = 600;
const mostFields = 5;

/** Objects whose field names the reader of a message may know (shown-path.ts). */
type Known = readonly (Json | undefined)[];

/**
 * Messages of the API server quote values, and a webhook may put values into field paths. So for an object with secret content the
 * text has only the reason, the paths that `known` has, and what is wrong there in words of this file.
 */
export function describeFailure(failure: Failure, isSecret: boolean, known: Known): string {
  const { reason, message, fields } = failure;
  if (!isSecret && message !== '') return cut(message, longestMessage);
  const paths = isSecret ? hiddenPaths(failure, known) : fields;
  return paths.length === 0 ? reason : cut(`${reason} (${paths.slice(0, mostFields).join(', ')})`, longestMessage);
}

// Of an apply, and of a field that it does not know, the API server names the path in its message only.
function hiddenPaths({ fields, message, complaints }: Failure, known: Known): readonly string[] {
  if (fields.length === 0) return pathsIn(message, known);
  const paths = fields.flatMap((field) => {
    const path = shownPath(field, known);
    const complaint = complaints !== undefined && Object.hasOwn(complaints, field) ? complaints[field] : undefined;
    return path === undefined ? [] : [withComplaint(path, complaint)];
  });
  return [...new Set(paths)];
}

const complaintWords: Readonly<Record<FieldErrorType, string>> = {
  FieldValueNotFound: 'refers to what does not exist',
  FieldValueRequired: 'is required',
  FieldValueDuplicate: 'duplicate value',
  FieldValueInvalid: 'invalid value',
  FieldValueNotSupported: 'unsupported value',
  FieldValueForbidden: 'not allowed here',
  FieldValueTooLong: 'too long',
  FieldValueTooMany: 'too many items',
  FieldValueTypeInvalid: 'wrong type',
};

function withComplaint({ path, isCut }: ShownPath, complaint: FieldErrorType | undefined): string {
  if (isCut && complaint === 'FieldValueRequired') return `${path}: a required field is missing`;
  const shown = isCut ? `${path}[…]` : path;
  return complaint === undefined ? shown : `${shown}: ${complaintWords[complaint]}`;
}

const mostConflicts = 10;

/**
 * Fields that others own with other values, and what to do. A webhook may have invented them. For an object with secret content,
 * the text names only fields that `known` has, and managers of `states`.
 */
export function describeConflicts(
  conflicts: readonly FieldConflict[],
  isSecret: boolean,
  { known, states }: { readonly known: Known; readonly states: Known },
): string {
  const managers = new Set(states.flatMap((state) => (isObject(state) ? managersOf(state) : [])).map(({ name }) => name));
  const by = (owner: string): string => (isSecret && !managers.has(owner) ? 'others' : owner);
  const all = [...new Set(conflicts.map(({ field, owner }) => `${conflictPath(field, isSecret, known)} (by ${by(owner)})`))];
  const rest = all.length - mostConflicts;
  const shown = all.slice(0, mostConflicts).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  return `other field managers own these fields with other values: ${shown}; leave them out of content, or write fieldConflicts: Force`;
}

function conflictPath(field: string, isSecret: boolean, known: Known): string {
  if (!isSecret) return field;
  const path = shownPath(field, known);
  return path === undefined ? 'a field' : withComplaint(path, undefined);
}
