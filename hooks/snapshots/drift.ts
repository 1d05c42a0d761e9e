// Where an object has moved from its snapshot without a conflict, as the item of its change keeps it: sealed or tagged, like the snapshot.

import { isSealed, type SnapshotEntry } from '../model/entry.ts';
import { isList, isObject, type Json, parseJson } from '../model/json.ts';
import type { Packer } from '../model/packer.ts';
import type { Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { storedSize } from '../model/words.ts';
import { contextOf, type Place } from './codec.ts';
import { mayLackTags, untaggedDriftContext } from './untagged.ts';

/**
 * A path where the object differs from the snapshot. Of what was written: from what the dry run had promised; its value counts as
 * ours. Of what is to be deleted: from the prior state; it comes back with it.
 */
export interface Drift {
  readonly path: readonly string[];
  /** Absent when the path was not there. */
  readonly value?: Json;
}

/** Characters of one item's drift in the status, which is stored at every step. */
const longestDrift = 1_024;

/** What sealing adds: the name of the key, nonce and tag, and base64 around all of it. */
const sealed = { bytes: 200, factor: 4 / 3 } as const;

/** Undefined when it is too long to be kept in the status, sealed or not. `room` in bytes. */
export function encodeDrift(drift: readonly Drift[], room = Number.POSITIVE_INFINITY): string | undefined {
  const text = JSON.stringify(drift);
  return text.length > longestDrift || storedSize(text) * sealed.factor + sealed.bytes > room ? undefined : text;
}

function decodeDrift(text: string): readonly Drift[] {
  const drift = parseJson(text);
  return isList(drift) ? drift.filter(isObject).map((one) => one as unknown as Drift) : [];
}

/** What is known of a drift once it was opened. */
export type KnownDrift = readonly Drift[] | 'broken';

export interface DriftContext {
  readonly transaction: Transaction;
  readonly packer: Packer;
  /** Bytes that a drift may take in the status. */
  readonly driftRoom?: number;
}

/** As the item of the status keeps it; undefined when it is too long: then only ownership shows whose it is. */
export function storedDrift(drift: readonly Drift[], entry: SnapshotEntry, context: DriftContext): string | undefined {
  const text = encodeDrift(drift, context.driftRoom);
  if (text === undefined) return undefined;
  const [{ packer }, place] = [context, placeOf(entry, context)];
  if (isSealed(entry.target, context.transaction.namespace)) return packer.seal(text, contextOf('sealed drift', place));
  return `${packer.tag(text, contextOf('drift', place))}:${text}`;
}

// It belongs to the item, whatever its snapshot is named.
function placeOf({ index, target }: SnapshotEntry, { transaction }: DriftContext): Place {
  return { transaction, base: '', index, target };
}

/** Bytes of a drift that is read: what is longer we have not stored. */
const mostDrift = 65_536;

/** What the item of that entry's change keeps; `broken` where it is not authentic. */
export function driftOf({ items }: Pick<Status, 'items'>, entry: SnapshotEntry, context: DriftContext): KnownDrift {
  const stored = items[entry.index]?.drift;
  if (stored === undefined) return [];
  const text = openDrift(stored, entry, context);
  return text === undefined ? 'broken' : decodeDrift(text);
}

/** The text that `storedDrift` made; undefined where it is not authentic. */
function openDrift(drift: string, entry: SnapshotEntry, context: DriftContext): string | undefined {
  const place = placeOf(entry, context);
  if (isSealed(entry.target, context.transaction.namespace)) return openSealed(drift, place, context);
  const [whole = '', tag = ''] = /^(1\.[^:]{1,400}):/.exec(drift) ?? [];
  const text = drift.slice(whole.length);
  if (whole !== '') return context.packer.isTagged(text, tag, contextOf('drift', place)) ? text : undefined;
  return mayLackTags(context.transaction, context.packer) ? drift : undefined;
}

function openSealed(drift: string, place: Place, { transaction, packer }: DriftContext): string | undefined {
  const text = packer.open(drift, contextOf('sealed drift', place), mostDrift);
  if (text !== undefined || !mayLackTags(transaction, packer)) return text;
  return packer.open(drift, untaggedDriftContext(place), mostDrift);
}
