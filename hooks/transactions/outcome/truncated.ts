// The last guard. No status leaves the hook if the CRD refuses it, because the API server would refuse it at every try. No status
// leaves the hook either if it is too large to be stored beside its spec. The engine cuts a value in the same way each time, and
// leaves a value that was cut as it is.

import { equalJson, type Json } from '../../objects/json.ts';
import { storableTime } from '../../objects/time.ts';
import { foreign, mostWarnings, storedSize, warningLength } from '../../objects/words.ts';
import { bareItem, itemRoom } from '../checks/room.ts';
import { lastLines } from '../gates/logs.ts';
import { type GateState, longestFound, longestLogs, type PodState } from '../model/gate.ts';
import type { Counted, Item } from '../model/item.ts';
import { storableReason } from '../model/reason.ts';
import { type Cause, type Status, statusTimes, type TruncatedStatus } from '../model/status.ts';
import { notedValue, removed } from '../model/undo.ts';

/** In UTF-16 units: the status is written at every step. */
const longest = { message: 2_000, itemText: 1_000, fieldManager: 128, uid: 128 } as const;
const mostManagers = 20;
/** Logs may be that much longer than other texts of an item. */
const logsPerText = Math.ceil(longestLogs / longest.itemText);

/** The status as it may be stored. If `specSize` is not known, the status takes no more room than each change is promised. */
export function truncated(status: Status, specSize = Number.POSITIVE_INFINITY): TruncatedStatus {
  const { cause } = status;
  return {
    ...status,
    ...boundedTimes(status),
    items: fitted(status.items.map(boundedItem), itemRoom(status.items.length, specSize)),
    message: foreign(status.message, longest.message),
    handledAnnotations: Object.fromEntries(
      Object.entries(status.handledAnnotations).map(([name, value]) => [name, value === removed ? value : notedValue(value)]),
    ),
    ...(cause === undefined ? {} : { cause: boundedCause(cause) }),
  } as TruncatedStatus;
}

function boundedCause({ reason, message }: Cause): Cause {
  return { reason: storableReason(reason), message: foreign(message, longest.itemText) };
}

function boundedTimes(status: Status): Partial<Status> {
  return Object.fromEntries(
    statusTimes.flatMap((name) => {
      const time = status[name];
      return time === undefined ? [] : [[name, storableTime(time)]];
    }),
  );
}

function boundedItem(item: Item): Item {
  return withTexts(withoutOddUid(item), longest.itemText);
}

// It is compared, so there is nothing to be made of a part of it; without one the marks on the object show whose it is.
function withoutOddUid(item: Item): Item {
  if (item.uid === undefined || isUid(item.uid)) return item;
  const { uid: _odd, ...rest } = item;
  return rest;
}

function isUid(text: string): boolean {
  return /^[\x20-\x7e]{1,128}$/.test(text);
}

/** The item without longer texts; the item itself if it has no longer text. */
function withTexts(item: Item, most: number): Item {
  if (!hasTexts(item)) return item;
  const { error, note, waiting, tookFieldsFrom, took, gate, warnings } = item;
  const next: Item = {
    ...item,
    ...(error === undefined ? {} : { error: { reason: storableReason(error.reason), message: foreign(error.message, most) } }),
    ...(note === undefined ? {} : { note: foreign(note, most) }),
    ...(waiting === undefined ? {} : { waiting: foreign(waiting, most) }),
    ...(tookFieldsFrom === undefined ? {} : { tookFieldsFrom: managersWithin(tookFieldsFrom, most) }),
    ...(gate === undefined ? {} : { gate: boundedGate(gate, most) }),
    ...boundedTexts('took', took, most),
    ...boundedTexts('warnings', warnings, most),
  };
  return equalJson(next as unknown as Json, item as unknown as Json) ? item : next;
}

/** In UTF-16 units: of a shorter text nothing could be understood. */
const shortestWarning = 40;

// The number stays.
function boundedTexts(key: 'took' | 'warnings', counted: Counted | undefined, most: number): Pick<Item, 'took' | 'warnings'> {
  if (counted === undefined) return {};
  const { count, texts = [] } = counted;
  const longestText = Math.floor((most * warningLength) / longest.itemText);
  if (texts.length === 0 || longestText < shortestWarning) return { [key]: { count } };
  return { [key]: { count, texts: texts.slice(0, mostWarnings).map((text) => foreign(text, longestText)) } };
}

function boundedGate({ found, pod, logs, ...gate }: GateState, most: number): GateState {
  const longest = Math.min(most, longestFound);
  return {
    ...gate,
    ...(found === undefined ? {} : { found: foreign(found, longest) }),
    ...(pod === undefined ? {} : { pod: boundedPod(pod, longest) }),
    ...(logs === undefined ? {} : { logs: lastLines(logs, Math.min(longestLogs, most * logsPerText)) }),
  };
}

function boundedPod({ found, uid, ...pod }: PodState, most: number): PodState {
  return { ...pod, found: foreign(found, most), ...(uid === undefined || !isUid(uid) ? {} : { uid }) };
}

function managersWithin(managers: readonly string[], most: number): readonly string[] {
  const names = [...new Set(managers.map((name) => foreign(name, longest.fieldManager)))].slice(0, mostManagers);
  const room = most === longest.itemText ? Number.POSITIVE_INFINITY : most;
  let length = 0;
  return names.filter((name) => {
    length += name.length;
    return length <= room;
  });
}

/** All texts of the items shortened alike, as far as it takes for all of them to fit. */
function fitted(items: readonly Item[], room: number): readonly Item[] {
  let [fitting, most] = [items, longest.itemText as number];
  while (most > 1 && sizeOf(fitting) > room) {
    most = Math.floor(most / 2);
    fitting = items.map((item) => withTexts(item, most));
  }
  return fitting;
}

// Most items have nothing that could be long, and sizes are wanted of all of them in every call.
function sizeOf(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + (hasTexts(item) ? bareItem + textSize(item) : bareItem), 0);
}

function hasTexts({ error, note, waiting, tookFieldsFrom, took, drift, gate, warnings }: Item): boolean {
  return [error, note, waiting, tookFieldsFrom, took, drift, gate, warnings].some((text) => text !== undefined);
}

function textSize({ error, note, waiting, tookFieldsFrom, took, drift, gate, warnings }: Item): number {
  return storedSize({ error, note, waiting, tookFieldsFrom, took, drift, gate, warnings });
}
