// What is remembered of an applied change: who lost fields to it, and where the server made something else of it than foreseen.
import { contentOf } from '../content/content.ts';
import { listKindsOf, valueAt } from '../content/lists.ts';
import { differences, merge } from '../content/merge.ts';
import { effectOf } from '../decide/effect.ts';
import type { Applied } from '../decide/transitions.ts';
import { type Drift, encodeDrift } from '../model/item.ts';
import { equalJson, isObject, type Json, type JsonObject } from '../model/json.ts';
import type { Packer } from '../model/packer.ts';
import { contextOf, isSealed, type Place, type SnapshotEntry } from '../model/snapshot.ts';
import type { Transaction } from '../model/transaction.ts';
import { mayLackTags, untaggedDriftContext } from '../model/untagged.ts';

export interface AppliedContext {
  readonly transaction: Transaction;
  readonly packer: Packer;
  /** Bytes that a drift may take in the status. */
  readonly driftRoom?: number;
}

export function factsOf(
  entry: SnapshotEntry,
  before: JsonObject | undefined,
  answer: JsonObject,
  context: AppliedContext,
): Applied {
  if (entry.type === 'Delete') return effectOf('Delete', before, undefined);
  const drift = driftOf(entry, before, answer, context);
  return {
    ...effectOf(entry.type, before, answer),
    ...(drift === undefined ? {} : { drift }),
  };
}

function driftOf(
  entry: SnapshotEntry,
  before: JsonObject | undefined,
  answer: JsonObject,
  context: AppliedContext,
): string | undefined {
  // Of a Create without a dry run all defaults would be drift; it is undone by whose the values are.
  if ((entry.approximate && entry.prior === undefined) || entry.expected === undefined) return undefined;
  const content = (object: Json | undefined): JsonObject | undefined =>
    isObject(object) ? contentOf(object, entry.resource) : undefined;
  const [was, prior, expected, now] = [before, entry.prior, entry.expected, answer].map(content);
  // Mostly nobody has written in between, and the server made of it what it had said: which lists have keys need not be learned.
  if (equalJson(was, prior) && equalJson(expected, now)) return undefined;
  const kinds = listKindsOf(entry.expected, answer);
  // What others changed between the snapshot and our write is theirs, not drift.
  const foreseen = merge({ prior: was, expected: prior, live: expected }, kinds).restored;
  const paths = differences(foreseen, now, kinds);
  if (paths.length === 0) return undefined;
  const values = paths.map((path) => ({ path: [...path], ...present(valueAt(now, path, kinds)) }));
  return storedDrift(values, entry, context);
}

/** As the item of the status keeps it; undefined when it is too long: then ownership alone must tell. */
export function storedDrift(drift: readonly Drift[], entry: SnapshotEntry, context: AppliedContext): string | undefined {
  const text = encodeDrift(drift, context.driftRoom);
  if (text === undefined) return undefined;
  const [{ packer }, place] = [context, placeOf(entry, context)];
  if (isSealed(entry.target, context.transaction.namespace)) return packer.seal(text, contextOf('sealed drift', place));
  return `${packer.tag(text, contextOf('drift', place))}:${text}`;
}

function present(value: Json | undefined): { readonly value?: Json } {
  return value === undefined ? {} : { value };
}

// It belongs to the item, whatever its snapshot is named.
function placeOf({ index, target }: SnapshotEntry, { transaction }: AppliedContext): Place {
  return { transaction, base: '', index, target };
}

/** Bytes of a drift that is read: what is longer we have not stored. */
const mostDrift = 65_536;

/** The text that `storedDrift` made; undefined where it is not authentic. */
export function openDrift(drift: string, entry: SnapshotEntry, context: AppliedContext): string | undefined {
  const place = placeOf(entry, context);
  if (isSealed(entry.target, context.transaction.namespace)) return openSealed(drift, place, context);
  const [whole = '', tag = ''] = /^(1\.[^:]{1,400}):/.exec(drift) ?? [];
  const text = drift.slice(whole.length);
  if (whole !== '') return context.packer.isTagged(text, tag, contextOf('drift', place)) ? text : undefined;
  return mayLackTags(context.transaction, context.packer) ? drift : undefined;
}

function openSealed(drift: string, place: Place, { transaction, packer }: AppliedContext): string | undefined {
  const text = packer.open(drift, contextOf('sealed drift', place), mostDrift);
  if (text !== undefined || !mayLackTags(transaction, packer)) return text;
  return packer.open(drift, untaggedDriftContext(place), mostDrift);
}
