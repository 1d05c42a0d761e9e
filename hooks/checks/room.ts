// How much of what etcd stores of a Transaction its items may take, beside spec, annotations and the rest of the status.
import type { Status } from '../model/status.ts';
import { storedSize } from '../model/words.ts';
import { largestStored, statusSize } from './validity.ts';

/** Bytes of a status that are in no item: message, conditions, handled annotations, names. */
const besideItems = 40_000;

/** Bytes of an item that has neither drift, error nor note. */
export const bareItem = 500;

/** Bytes of target and state of an item beside the name of the target: keys, quotes, the longest state. */
const besideName = 40;

/** The part of the room for items that their names may take. */
const partForNames = 1 / 8;
const longestTarget = 700;

/** Bytes that so many items may take without the names of their targets; `specSize` is that of spec and annotations. */
export function itemRoom(count: number, specSize: number): number {
  return roomFor(count, specSize) * (1 - partForNames);
}

/** Bytes that the text which names one target may take. */
export function targetRoom(count: number, specSize: number): number {
  const room = (roomFor(count, specSize) * partForNames) / Math.max(1, count);
  return Math.min(longestTarget, Math.floor(room) - besideName);
}

function roomFor(count: number, specSize: number): number {
  const promised = statusSize.own - besideItems + statusSize.change * count;
  return Math.max(promised, largestStored - besideItems - specSize);
}

/** Bytes that one more drift may take: of what is left beside bare items half is for drifts, half for what is said of errors. */
export function driftRoom({ items }: Status, specSize: number): number {
  const taken = items.reduce((sum, { drift }) => sum + (drift === undefined ? 0 : storedSize(drift)), 0);
  return (itemRoom(items.length, specSize) - bareItem * items.length) / 2 - taken;
}
