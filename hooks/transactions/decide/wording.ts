// Words of the status: short ones, since the status is written at every step.

import { foreign } from '../../objects/words.ts';
import { firstLeft, type Item, isNotRestored } from '../model/item.ts';
import type { Cause, Status } from '../model/status.ts';

/** Longest message of one item in characters: up to 500 of them are written at every step. */
const longestMessage = 1_000;

/** The stored part of a cause. */
export function plain({ reason, message }: Cause): Cause {
  return { reason, message: shortened(message) };
}

export function shortened(text: string): string {
  return foreign(text, longestMessage);
}

export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

export function allApplied(total: number): string {
  return total === 1 ? 'the change is applied' : `all ${total} changes are applied`;
}

/** What an undo came to, as its end says. */
export function undoneMessage({ items, cause }: Pick<Status, 'items' | 'cause'>): string {
  const left = items.filter(isNotRestored);
  const kept = items.filter(({ progress }) => progress.kind === 'kept').length;
  const undone = `rolled back ${count(items.filter(wasUndone).length, 'change')}${kept === 0 ? '' : `, ${kept} kept`}`;
  const why = cause?.message ?? '';
  if (left.length === 0) return `${undone}: ${why}`;
  return `${undone}, ${left.length} not restored: ${firstLeft(items)?.error?.message ?? ''}; ${keepIt}; the rollback began because ${why}`;
}

// What others have put back or deleted meanwhile is no work of the undo.
function wasUndone({ progress, undone }: Item): boolean {
  return progress.kind === 'restored' && undone === true;
}

/** For the case that a change is left. It is written before the cause: the engine cuts a long message at its end. */
const keepIt =
  'set tx.janus.io/retry-rollback to try again; keep the Transaction until then (spec.ttlSecondsAfterFinished does not delete it): ' +
  'its snapshot may hold the only copy of what was not restored';
