// The places in which an object differs from its snapshot without a conflict. The item of its change stores them sealed or tagged,
// like the snapshot.

import type { Packer } from '../../objects/cluster.ts';
import { isList, isObject, type Json, parseJson } from '../../objects/json.ts';
import { storedSize } from '../../objects/words.ts';
import { isSealed, type SnapshotEntry } from '../model/entry.ts';
import type { Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { contextOf, type Place } from './codec.ts';

/** A path at which the object differs from the snapshot. After a write: it differs from the dry run, and its value counts as ours. */
export interface Drift {
  readonly path: readonly string[];
  /** Absent if the object has nothing at the path. */
  readonly value?: Json;
  /** It was recorded before the write: the object differed from its prior state, and the undo restores this value. */
  readonly before?: true;
}

/** Characters that the drift of one item may take; the status with it is stored at every step. */
const longestDrift = 1_024;

/** What sealing adds: the name of the key, a nonce, a tag, and base64 around it all. */
const sealed = { bytes: 200, factor: 4 / 3 } as const;

/** Undefined if the drift is too long for the status, sealed or not. `room` in bytes. */
export function encodeDrift(drift: readonly Drift[], room = Number.POSITIVE_INFINITY): string | undefined {
  const text = JSON.stringify(drift);
  return text.length > longestDrift || storedSize(text) * sealed.factor + sealed.bytes > room ? undefined : text;
}

function decodeDrift(text: string): readonly Drift[] {
  const drift = parseJson(text);
  return isList(drift) ? drift.filter(isObject).map((one) => one as unknown as Drift) : [];
}

/** A decoded drift. */
export type KnownDrift = readonly Drift[] | 'broken';

export interface DriftContext {
  readonly transaction: Transaction;
  readonly packer: Packer;
  /** Bytes that a drift may take in the status. */
  readonly driftRoom?: number;
}

/** The drift as the item stores it; undefined if it is too long: then only managedFields show whose work those paths are. */
export function storedDrift(drift: readonly Drift[], entry: SnapshotEntry, context: DriftContext): string | undefined {
  const text = encodeDrift(drift, context.driftRoom);
  if (text === undefined) return undefined;
  const [{ packer }, place] = [context, placeOf(entry, context)];
  if (isSealed(entry, context.transaction)) return packer.seal(text, contextOf('sealed drift', place));
  return `${packer.tag(text, contextOf('drift', place))}:${text}`;
}

// A drift belongs to its item, so the name of the snapshot is no part of its place.
function placeOf({ index, target }: SnapshotEntry, { transaction }: DriftContext): Place {
  return { transaction, base: '', index, target };
}

/** Bytes of a drift that is read: the engine never stores a longer one. */
const mostDrift = 65_536;

/** The drift that the item of that entry's change stores; `broken` if it is not authentic. */
export function driftOf({ items }: Pick<Status, 'items'>, entry: SnapshotEntry, context: DriftContext): KnownDrift {
  const stored = items[entry.index]?.drift;
  if (stored === undefined) return [];
  const text = openDrift(stored, entry, context);
  return text === undefined ? 'broken' : decodeDrift(text);
}

/** The text that `storedDrift` encoded; undefined if it is not authentic. */
function openDrift(drift: string, entry: SnapshotEntry, context: DriftContext): string | undefined {
  const place = placeOf(entry, context);
  if (isSealed(entry, context.transaction)) return openSealed(drift, place, context);
  const { tag, text } = openTag(drift);
  return tag !== undefined && context.packer.isTagged(text, tag, contextOf('drift', place)) ? text : undefined;
}

function openTag(drift: string): { readonly tag?: string; readonly text: string } {
  const [whole = '', tag] = /^(1\.[^:]{1,400}):/.exec(drift) ?? [];
  return { text: drift.slice(whole.length), ...(tag === undefined ? {} : { tag }) };
}

/** The drift of an item that is not sealed. For a reader without the key, who believes the status. */
export function unverifiedDrift(stored: string | undefined): readonly Drift[] {
  const { tag, text } = openTag(stored ?? '');
  return tag === undefined || text.length > mostDrift ? [] : decodeDrift(text);
}

function openSealed(drift: string, place: Place, { packer }: DriftContext): string | undefined {
  return packer.open(drift, contextOf('sealed drift', place), mostDrift);
}
