// The status of a Transaction, between the wire and the engine.

import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../objects/json.ts';
import { formatTime, parseTime } from '../../objects/time.ts';
import { type Display, decodeDisplay, encodeDisplay } from './display.ts';
import { decodeItem, encodeItem, type Item } from './item.ts';
import { isPhase, type Phase } from './phase.ts';
import type { ConditionReason, Reason } from './reason.ts';
import { encodeRollbackSet, type RollbackSet, rollbackSetIn } from './rollback.ts';
import { decodeUndo, encodeUndo, type UndoAnswer } from './undo.ts';

/** Which ConfigMaps hold the snapshots, and what they must hold. */
export interface RollbackRef {
  /** The first ConfigMap. */
  readonly name: string;
  /** Over all of them. */
  readonly digest: string;
  /** How many ConfigMaps there are. */
  readonly objects: number;
}

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: ConditionReason;
  readonly message: string;
  /** RFC 3339. */
  readonly lastTransitionTime: string;
}

/** Times are in ms since the epoch, by the API server's clock. */
export interface Status {
  readonly phase: Phase;
  /** Grows by one with every change of what the CRD's version rule guards; 0 when nothing was stored yet. */
  readonly version: number;
  readonly items: readonly Item[];
  readonly rollbackRef?: RollbackRef;
  readonly specDigest?: string;
  readonly startTime?: number;
  readonly completionTime?: number;
  /** Since when the undo runs or, in Committed, since when a requested one waits for its locks. */
  readonly rollbackStartedAt?: number;
  /** The writer whose requests are all known to be answered, and who sends nothing more under that name (in-flight/in-flight.ts). */
  readonly settledWriter?: string;
  /** When a writer was replaced, or gave up, of whom a request may be unanswered. */
  readonly unsettledAt?: number;
  /** When the engine first found RollingBack stored, if a write may have been under way then. */
  readonly rollbackObservedAt?: number;
  /** When a requested undo that waits for reads last gave its locks back. */
  readonly locksReturnedAt?: number;
  readonly message: string;
  /** The values of the annotations that have taken effect. */
  readonly handledAnnotations: Readonly<Record<string, string>>;
  readonly conditions: readonly Condition[];
  /** The answer to the last request for a plan of an undo, or for an undo that was refused. */
  readonly undo?: UndoAnswer;
  /** Of a rollback: what it undoes, once that was found. */
  readonly rollback?: RollbackSet;
  /** Why it was not, or will not be, committed. On the wire it is the condition Succeeded=False. */
  readonly cause?: Cause;
  /** For people; absent if the stored status has none of it (outcome/status.ts says when it is derived again). */
  readonly display?: Display;
}

export interface Cause {
  readonly reason: Reason;
  readonly message: string;
}

/** How much a status announces: `one` change, or all that follow (decide/window.ts). */
export type Pace = 'one' | 'all';

declare const fits: unique symbol;

/** A status that the CRD accepts: made by outcome/truncated.ts alone. */
export type TruncatedStatus = Status & { readonly [fits]: true };

/** Whether a user has requested an undo. Only then were the locks released before it, and others may have changed the objects since. */
export function isRequested({ handledAnnotations }: Pick<Status, 'handledAnnotations'>): boolean {
  return Object.keys(handledAnnotations).length > 0;
}

export function emptyStatus(changes: number): Status {
  const items = Array.from({ length: changes }, (): Item => ({ progress: { kind: 'waiting' } }));
  return { phase: 'Pending', version: 0, items, message: '', handledAnnotations: {}, conditions: [] };
}

/** The status as stored; undefined if this engine does not write such a status. */
export function decodeStatus(wire: Json | undefined, changes: number): Status | undefined {
  const phase = textAt(wire, 'phase');
  if (phase === undefined) return emptyStatus(changes);
  const items = decodeItems(wire, changes);
  const version = at(wire, 'version');
  if (!isPhase(phase) || typeof version !== 'number' || items === undefined) return undefined;
  return {
    phase,
    version,
    items,
    message: textAt(wire, 'message') ?? '',
    handledAnnotations: decodeHandled(at(wire, 'handledAnnotations')),
    conditions: decodeConditions(at(wire, 'conditions')),
    ...decodeRollbackRef(at(wire, 'rollbackRef')),
    ...decodeCause(decodeConditions(at(wire, 'conditions'))),
    ...decodeDisplay(wire),
    ...decodeUndo(at(wire, 'undo')),
    ...optional('rollback', rollbackSetIn(at(wire, 'rollback'))),
    ...optional('specDigest', textAt(wire, 'specDigest')),
    ...optional('startTime', parseTime(textAt(wire, 'startTime'))),
    ...optional('completionTime', parseTime(textAt(wire, 'completionTime'))),
    ...optional('rollbackStartedAt', parseTime(textAt(wire, 'rollbackStartedAt'))),
    ...optional('settledWriter', textAt(wire, 'settledWriter')),
    ...optional('unsettledAt', parseTime(textAt(wire, 'unsettledAt'))),
    ...optional('rollbackObservedAt', parseTime(textAt(wire, 'rollbackObservedAt'))),
    ...optional('locksReturnedAt', parseTime(textAt(wire, 'locksReturnedAt'))),
  };
}

// A refusal that had no room for its items has none (outcome/bare.ts).
function decodeItems(wire: Json | undefined, changes: number): readonly Item[] | undefined {
  const items = at(wire, 'items');
  if (!isList(items)) return undefined;
  const isBare = items.length === 0 && textAt(wire, 'phase') === 'Failed' && at(wire, 'rollbackRef') === undefined;
  if (isBare) return emptyStatus(changes).items;
  const decoded = items.map(decodeItem).filter((item) => item !== undefined);
  return items.length === changes && decoded.length === changes ? decoded : undefined;
}

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { readonly [name in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [name in Key]?: Value });
}

function decodeRollbackRef(wire: Json | undefined): { readonly rollbackRef?: RollbackRef } {
  const [name, digest, objects] = [textAt(wire, 'name'), textAt(wire, 'digest'), at(wire, 'objects')];
  return name === undefined || digest === undefined || typeof objects !== 'number'
    ? {}
    : { rollbackRef: { name, digest, objects } };
}

function decodeHandled(wire: Json | undefined): Readonly<Record<string, string>> {
  if (!isObject(wire)) return {};
  return Object.fromEntries(Object.entries(wire).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function decodeConditions(wire: Json | undefined): readonly Condition[] {
  if (!isList(wire)) return [];
  return wire.filter(isObject).map((condition) => ({
    type: textAt(condition, 'type') ?? '',
    status: (textAt(condition, 'status') ?? 'Unknown') as Condition['status'],
    reason: (textAt(condition, 'reason') ?? '') as ConditionReason,
    message: textAt(condition, 'message') ?? '',
    lastTransitionTime: textAt(condition, 'lastTransitionTime') ?? '',
  }));
}

function decodeCause(conditions: readonly Condition[]): { readonly cause?: Cause } {
  const failed = conditions.find(({ type, status }) => type === 'Succeeded' && status === 'False');
  // If a change has failed, the reason is not the name of a phase.
  return failed === undefined ? {} : { cause: { reason: failed.reason as Reason, message: failed.message } };
}

/** The fields that are times. */
export const statusTimes = [
  'startTime',
  'completionTime',
  'rollbackStartedAt',
  'unsettledAt',
  'rollbackObservedAt',
  'locksReturnedAt',
] as const;

/** The wire form. Equal statuses have equal wire forms: Metacontroller writes nothing then and wakes no process. */
export function encodeStatus(status: TruncatedStatus): JsonObject {
  const time = (key: (typeof statusTimes)[number]): JsonObject => {
    const value = status[key];
    return value === undefined ? {} : { [key]: formatTime(value) };
  };
  const { items: displayed, ...display } = encodeDisplay(status.display ?? { items: [] });
  return {
    phase: status.phase,
    version: status.version,
    items: status.items.map((item, index) => ({ ...displayed[index], ...encodeItem(item) })),
    ...(status.rollbackRef === undefined ? {} : { rollbackRef: { ...status.rollbackRef } }),
    ...(status.specDigest === undefined ? {} : { specDigest: status.specDigest }),
    ...time('startTime'),
    ...time('completionTime'),
    ...time('rollbackStartedAt'),
    ...(status.settledWriter === undefined ? {} : { settledWriter: status.settledWriter }),
    ...time('unsettledAt'),
    ...time('rollbackObservedAt'),
    ...time('locksReturnedAt'),
    ...display,
    ...(status.undo === undefined ? {} : { undo: encodeUndo(status.undo) }),
    ...(status.rollback === undefined ? {} : { rollback: encodeRollbackSet(status.rollback) }),
    message: status.message,
    progress: progressOf(status),
    handledAnnotations: { ...status.handledAnnotations },
    conditions: status.conditions.map((condition) => ({ ...condition })),
  };
}

function progressOf({ items }: Status): string {
  const done = items.filter(
    ({ progress }) => progress.kind === 'applied' || ('applied' in progress && progress.applied && progress.kind !== 'restored'),
  );
  return `${done.length}/${items.length}`;
}
