// What is remembered of an applied change: who lost fields to it, and where the server made something else of it than foreseen.
import { contentOf } from '../content/content.ts';
import { listKindsOf, valueAt } from '../content/lists.ts';
import { differences, merge } from '../content/merge.ts';
import { effectOf } from '../decide/effect.ts';
import type { Applied } from '../decide/transitions.ts';
import { type Drift, encodeDrift } from '../model/item.ts';
import { equalJson, isObject, type Json, type JsonObject } from '../model/json.ts';
import { isSealed, type Packer, type SnapshotEntry, sealContext } from '../model/snapshot.ts';
import type { Transaction } from '../model/transaction.ts';

export interface AppliedContext {
  readonly transaction: Transaction;
  readonly packer: Packer;
}

export function factsOf(
  entry: SnapshotEntry,
  before: JsonObject | undefined,
  answer: JsonObject,
  context: AppliedContext,
): Applied {
  const isGone = entry.type === 'Delete';
  const drift = isGone ? undefined : driftOf(entry, before, answer, context);
  return {
    ...effectOf(entry.type, before, isGone ? undefined : answer),
    ...(drift === undefined ? {} : { drift }),
  };
}

function driftOf(
  entry: SnapshotEntry,
  before: JsonObject | undefined,
  answer: JsonObject,
  context: AppliedContext,
): string | undefined {
  if (entry.approximate || entry.expected === undefined) return undefined;
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
  const text = encodeDrift(drift);
  if (text === undefined || !isSealed(entry.target, context.transaction.namespace)) return text;
  return context.packer.seal(text, driftContext(context.transaction, entry));
}

function present(value: Json | undefined): { readonly value?: Json } {
  return value === undefined ? {} : { value };
}

export function driftContext(transaction: Transaction, entry: SnapshotEntry): string {
  return `drift/${sealContext(transaction.uid, entry.index, entry.target)}`;
}

/** The text that `storedDrift` made, or undefined. */
export function openDrift(drift: string, entry: SnapshotEntry, context: AppliedContext): string | undefined {
  return isSealed(entry.target, context.transaction.namespace)
    ? context.packer.open(drift, driftContext(context.transaction, entry))
    : drift;
}
