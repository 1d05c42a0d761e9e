// Progress of one change. On the wire three booleans and more, as users know them from the status; inside, a union that has
// only the states which make sense. What cannot be read strictly is corrupt and nothing is done on its word.

import type { Warnings } from '../../objects/cluster.ts';
import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../objects/json.ts';
import { decodeGateState, encodeGateState, type GateState } from './gate.ts';
import type { Reason } from './reason.ts';

/** How many there are, and the first of them in words. */
export type Counted = Warnings;

/** Why an item is in its state. `reason` is for programs, `message` is for people. */
export interface ItemError {
  readonly reason: Reason;
  readonly message: string;
}

/**
 * - `waiting`: nothing is stored of its prior state.
 * - `prepared`: prior and expected state are stored.
 * - `announced`: its write may be sent, or may have been.
 * - `applied`: its write is known to have taken effect.
 * - `restored`: the undo has ended. No change of this Transaction is left in it. `applied` shows whether there was a change to take
 *   back.
 * - `notRestored`: the undo could not take it back; the error says why.
 * - `kept`: the undo left it, because the user asked to keep it, or because a kept object needs it.
 */
export type Progress =
  | { readonly kind: 'waiting' | 'prepared' | 'announced' | 'applied' }
  | { readonly kind: 'restored' | 'notRestored' | 'kept'; readonly applied: boolean };

export interface Item {
  readonly progress: Progress;
  readonly error?: ItemError;
  readonly lockLease?: string;
  /** Of the object that a Create made, or that the undo of a Delete has created again. */
  readonly uid?: string;
  /** Of the object as the change left it, or as the Delete found it. It shows the order of the changes of an object. */
  readonly resourceVersion?: string;
  readonly tookFieldsFrom?: readonly string[];
  /** The fields that an apply took from them, with the values that it replaced; without texts if there is no room. */
  readonly took?: Counted;
  /** Sealed if the target is sealed. */
  readonly drift?: string;
  /** What its undo waits for; earlier changes are undone meanwhile. */
  readonly waiting?: string;
  readonly disowned?: true;
  /** The undo overwrites what others wrote in the object (tx.janus.io/undo-overwrite). */
  readonly overwrite?: true;
  /** The change changed no field of the content: at most who owns fields, and marks of the engine. */
  readonly unchanged?: true;
  /** The undo has written the object back, recreated it or deleted it. */
  readonly undone?: true;
  /** The change recreates its object, and has deleted the former one (halves.ts). */
  readonly deleted?: true;
  /** What a person should know of it, although it is no error. */
  readonly note?: string;
  /** Of the API server, about its write or the dry run of it, or about the write of its undo; without texts if they are hidden, or have no room. */
  readonly warnings?: Warnings;
  /** How far its gate is. */
  readonly gate?: GateState;
}

/** What an item keeps of a change that has taken effect. */
export type Applied = Pick<
  Item,
  'uid' | 'resourceVersion' | 'tookFieldsFrom' | 'took' | 'unchanged' | 'drift' | 'note' | 'warnings'
>;

/** Whether an undo has not finished with it. */
export function isToUndo({ progress }: Item): boolean {
  return progress.kind === 'announced' || progress.kind === 'applied';
}

/** Those whose items an undo has not finished with, in their order. */
export function toUndoOf<Of extends { readonly index: number }>(all: readonly Of[], items: readonly Item[]): readonly Of[] {
  return all.filter(({ index }) => items[index] !== undefined && isToUndo(items[index]));
}

/** Whether its write is known to have taken effect, taken back since or not. */
export function wasApplied({ progress }: Item): boolean {
  return progress.kind === 'applied' || ('applied' in progress && progress.applied);
}

/** Whether its undo has ended, and its write had taken effect: it was recorded, or the undo has taken it back. */
export function wasRestored({ progress, undone }: Item): boolean {
  return progress.kind === 'restored' && (progress.applied || undone === true);
}

/** Which changes are undone before one of them: those whose objects need its object. */
interface Dependents {
  readonly indexes: ReadonlySet<number>;
  /** Whether its undo takes the object away: then a dependent that waits holds it up, too. */
  readonly isAwaited: boolean;
}

/** By the index of a change. No circles. */
export type UndoOrder = ReadonlyMap<number, Dependents>;

/**
 * Index of the change that an undo takes back next: the last change whose dependents are undone. A change that waits is passed over
 * while others do not wait. -1 if no change is left. `waits`: how many calls in a row have only waited. If all changes wait, each
 * has its turn.
 */
export function nextToUndo(items: readonly Item[], waits: number, order: UndoOrder = new Map()): number {
  const isBefore = (other: number, { isAwaited }: Dependents): boolean => {
    const item = items[other];
    return item !== undefined && isToUndo(item) && (isAwaited || item.waiting === undefined);
  };
  const isHeldUp = (dependents: Dependents | undefined): boolean =>
    dependents !== undefined && [...dependents.indexes].some((other) => isBefore(other, dependents));
  const due = items.flatMap((item, index) => (isToUndo(item) && !isHeldUp(order.get(index)) ? [index] : []));
  const next = due.findLast((index) => items[index]?.waiting === undefined);
  return next ?? due.at(-1 - (waits % Math.max(1, due.length))) ?? -1;
}

/** Whether an undo has ended without having taken it back. */
export function isNotRestored({ progress }: Item): boolean {
  return progress.kind === 'notRestored';
}

/** Of what an undo has left: an object that is itself in the way, and not only needed by another that was left. */
export function firstLeft(items: readonly Item[]): Item | undefined {
  const left = items.filter(isNotRestored);
  return left.find(({ error }) => error !== undefined && error.reason !== 'NeededByKept') ?? left[0];
}

const flags = ['prepared', 'announced', 'committed', 'rolledBack', 'left', 'kept'] as const;

const ends: readonly Progress['kind'][] = ['restored', 'notRestored', 'kept'];

const wireFlags: Readonly<Record<Progress['kind'], readonly (typeof flags)[number][]>> = {
  waiting: [],
  prepared: ['prepared'],
  announced: ['prepared', 'announced'],
  applied: ['prepared', 'announced', 'committed'],
  restored: ['prepared', 'announced', 'rolledBack'],
  notRestored: ['prepared', 'announced', 'left'],
  kept: ['prepared', 'announced', 'kept'],
};

/** As it is stored. */
export function encodeItem({ progress, error, gate, ...rest }: Item): JsonObject {
  const applied = 'applied' in progress && progress.applied ? ['committed'] : [];
  const set = [...wireFlags[progress.kind], ...applied].map((flag) => [flag, true] as const);
  return {
    ...Object.fromEntries(set),
    ...(error === undefined ? {} : { error: { reason: error.reason, message: error.message } }),
    ...(rest as JsonObject),
    ...(gate === undefined ? {} : { gate: encodeGateState(gate) }),
  };
}

const marks = ['disowned', 'overwrite', 'unchanged', 'undone', 'deleted'] as const;

/** Undefined if `encodeItem` does not make such a wire form. */
export function decodeItem(wire: Json | undefined): Item | undefined {
  if (!isObject(wire)) return undefined;
  const progress = decodeProgress(wire);
  if (progress === undefined) return undefined;
  const [managers, gate] = [at(wire, 'tookFieldsFrom'), decodeGateState(at(wire, 'gate'))];
  return {
    progress,
    ...decodeError(at(wire, 'error')),
    ...texts(wire, ['lockLease', 'uid', 'resourceVersion', 'drift', 'note', 'waiting']),
    ...countedIn(wire, 'warnings'),
    ...(isList(managers) ? { tookFieldsFrom: managers.filter((name) => typeof name === 'string') } : {}),
    ...countedIn(wire, 'took'),
    ...Object.fromEntries(marks.filter((mark) => at(wire, mark) === true).map((mark) => [mark, true as const])),
    ...(gate === undefined ? {} : { gate }),
  };
}

function decodeProgress(wire: JsonObject): Progress | undefined {
  const set = flags.filter((flag) => at(wire, flag) === true);
  const applied = set.includes('committed');
  const kind = (Object.keys(wireFlags) as Progress['kind'][]).find((candidate) => {
    const wanted = wireFlags[candidate];
    const rest = ends.includes(candidate) ? set.filter((flag) => flag !== 'committed') : set;
    return rest.length === wanted.length && rest.every((flag) => wanted.includes(flag));
  });
  if (kind === undefined) return undefined;
  return kind === 'restored' || kind === 'notRestored' || kind === 'kept' ? { kind, applied } : { kind };
}

// As it was stored, perhaps by another version: what did not change must not seem to.
function decodeError(error: Json | undefined): { readonly error?: ItemError } {
  if (!isObject(error)) return {};
  return { error: { reason: (textAt(error, 'reason') ?? 'Unknown') as Reason, message: textAt(error, 'message') ?? '' } };
}

/** A member of an item, as it is stored. */
export function countedIn<Key extends 'warnings' | 'took'>(
  item: Json | undefined,
  key: Key,
): { readonly [key in Key]?: Counted } {
  const [count, found] = [at(item, key, 'count'), at(item, key, 'texts')];
  if (typeof count !== 'number') return {};
  const counted = { count, ...(isList(found) ? { texts: found.filter((text) => typeof text === 'string') } : {}) };
  return { [key]: counted } as unknown as { readonly [key in Key]?: Counted };
}

function texts<Key extends string>(wire: JsonObject, keys: readonly Key[]): Partial<Record<Key, string>> {
  const found = keys.map((key) => [key, textAt(wire, key)] as const).filter(([, value]) => value !== undefined);
  return Object.fromEntries(found) as Partial<Record<Key, string>>;
}
