// How many bytes the items may take in the Transaction as etcd stores it, next to the spec, annotations and the rest of the status.

import { storedSize } from '../../objects/words.ts';
import type { Status } from '../model/status.ts';
import { undoLimits } from '../model/undo.ts';
import { largestStored, statusSize } from './validity.ts';

/** Bytes of a status outside of its items: message, conditions, handled annotations, names, and the answer about an undo. */
const besideItems = 40_000 + undoLimits.bytes;

/** Bytes of an item without drift, error and note. */
export const bareItem = 500;

/** Bytes of the target and state of an item without the target's name: keys, quotes, the longest state. */
const besideName = 40;

/** The share of the items' room for the names of their targets. */
const partForNames = 1 / 8;
const longestTarget = 700;

/** Bytes for `count` items without the names of their targets; `specSize` is the size of spec and annotations. */
export function itemRoom(count: number, specSize: number): number {
  return roomFor(count, specSize) * (1 - partForNames);
}

/** Bytes for the text that names one target. */
export function targetRoom(count: number, specSize: number): number {
  const room = (roomFor(count, specSize) * partForNames) / Math.max(1, count);
  return Math.min(longestTarget, Math.floor(room) - besideName);
}

function roomFor(count: number, specSize: number): number {
  const promised = statusSize.own - besideItems + statusSize.change * count;
  return Math.max(promised, largestStored - besideItems - specSize);
}

/** Bytes for one more drift. Drifts get half of the room that bare items leave; error texts get the other half. */
export function driftRoom({ items }: Status, specSize: number): number {
  const taken = items.reduce((sum, { drift }) => sum + (drift === undefined ? 0 : storedSize(drift)), 0);
  return (itemRoom(items.length, specSize) - bareItem * items.length) / 2 - taken;
}
