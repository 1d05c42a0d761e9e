// Failures in words for people.
import type { Failure } from '../model/failure.ts';

const longestMessage = 600;

/** The API server quotes values in its messages: of objects whose content is secret only reason and field paths are told. */
export function describeFailure(failure: Failure, isSecret: boolean): string {
  const fields = failure.fields.length === 0 ? '' : ` (${failure.fields.slice(0, 5).join(', ')})`;
  return isSecret || failure.message === '' ? `${failure.reason}${fields}` : failure.message.slice(0, longestMessage);
}
