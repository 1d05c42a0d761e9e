// The wire form of a status in an object that has no room for it. etcd stores the status in the object of the spec: if a Transaction
// is refused because it is too large, its whole status could not be stored, and its user would see nothing for ever.

import type { JsonObject } from '../../objects/json.ts';
import { foreign, storedSize } from '../../objects/words.ts';
import { largestStored } from '../checks/validity.ts';
import { type Condition, encodeStatus, type TruncatedStatus } from '../model/status.ts';

/** In UTF-16 units: the message of `TransactionTooLarge` fits. */
const longestMessage = 160;

/** Without `Stalled` and `Ready`, kstatus would regard the object as ready. */
const kept: readonly string[] = ['Finished', 'Succeeded', 'Ready', 'Stalled'];

/**
 * The status as it is stored next to a spec with annotations of `specSize` bytes. If there is no room, a refusal has no items, and
 * about 900 bytes. `decodeStatus` reads a refusal without items as one of changes that wait.
 */
export function storable(status: TruncatedStatus, specSize: number): JsonObject {
  const wire = encodeStatus(status);
  return isUntouched(status) && specSize + storedSize(wire) > largestStored ? bare(wire, status) : wire;
}

/** Whether the engine holds and has stored nothing for it: no later call needs its items. */
function isUntouched({ phase, rollbackRef, items }: TruncatedStatus): boolean {
  const isEmpty = items.every(({ progress, lockLease }) => progress.kind === 'waiting' && lockLease === undefined);
  return phase === 'Failed' && rollbackRef === undefined && isEmpty;
}

function bare({ undo: _undo, ...wire }: JsonObject, { message, conditions }: TruncatedStatus): JsonObject {
  return {
    ...wire,
    items: [],
    message: foreign(message, longestMessage),
    conditions: conditions.filter(({ type }) => kept.includes(type)).map((condition) => ({ ...shortened(condition) })),
  };
}

// The condition that `decodeStatus` reads has the message; `status.message` has it for the others.
function shortened(condition: Condition): Condition {
  return { ...condition, message: condition.type === 'Succeeded' ? foreign(condition.message, longestMessage) : '' };
}
