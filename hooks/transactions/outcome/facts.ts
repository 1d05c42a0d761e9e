// The facts that the engine stores about an applied change: the managers that lost fields to it, and the values that the API server
// made differently than foreseen.

import { contentOf } from '../../objects/content/content.ts';
import { listKindsOf, valueAt } from '../../objects/content/lists.ts';
import { differences, merge } from '../../objects/content/merge.ts';
import { equalJson, isObject, type Json, type JsonObject } from '../../objects/json.ts';
import { unlikeOurs } from '../attribution/applied-by.ts';
import { effectOf } from '../attribution/effect.ts';
import { asKept } from '../attribution/kept-scale.ts';
import { takenBy } from '../attribution/taken.ts';
import { isApplied } from '../model/change.ts';
import { isSealed, type SnapshotEntry } from '../model/entry.ts';
import type { Applied } from '../model/item.ts';
import { managersOfChange } from '../model/transaction.ts';
import { type Drift, type DriftContext, storedDrift } from '../snapshots/drift.ts';

interface FactsContext extends DriftContext {
  /** What the item stores already. */
  readonly earlier?: readonly Drift[];
}

export function factsOf(
  entry: SnapshotEntry,
  before: JsonObject | undefined,
  answer: JsonObject,
  context: FactsContext,
): Applied {
  const { transaction } = context;
  const managers = managersOfChange(transaction, transaction.changes[entry.index]);
  const { forward } = managers;
  if (entry.type === 'Delete') return effectOf(entry, { before, after: undefined, forward });
  const drift = driftOf(asKept(entry, answer), before, answer, context);
  return {
    ...effectOf(entry, { before, after: answer, forward }),
    ...(isApplied(entry.type) ? takenBy({ before, after: answer }, managers, isSealed(entry, transaction)) : {}),
    ...(drift === undefined ? {} : { drift }),
  };
}

function driftOf(
  entry: SnapshotEntry,
  before: JsonObject | undefined,
  answer: JsonObject,
  context: FactsContext,
): string | undefined {
  if (entry.approximate && entry.type === 'Create') return madeOfOurs(entry, answer, context);
  if (entry.expected === undefined) return undefined;
  const content = (object: Json | undefined): JsonObject | undefined =>
    isObject(object) ? contentOf(object, entry.resource) : undefined;
  const [was, prior, expected, now] = [before, entry.prior, entry.expected, answer].map(content);
  // Mostly, no writer has written in between, and the API server's result equals its dry run. Then the engine need not learn which
  // lists have keys.
  const earlier = (context.earlier ?? []).filter((one) => one.before === true);
  const keeping = (drift: readonly Drift[]): string | undefined =>
    earlier.length + drift.length === 0 ? undefined : storedDrift([...earlier, ...drift], entry, context);
  if (equalJson(was, prior) && equalJson(expected, now)) return keeping([]);
  const kinds = listKindsOf(entry.expected, answer);
  // What others changed between the snapshot and our write is theirs, not drift.
  const foreseen = merge({ prior: was, expected: prior, live: expected }, kinds).restored;
  const paths = differences(foreseen, now, kinds);
  return keeping(paths.map((path) => ({ path: [...path], ...present(valueAt(now, path, kinds)) })));
}

// Of a Create without a dry run all defaults would be drift; it is undone by whose the values are. A shared manager shows that of
// nothing: what a policy made of our values must be known. The drift that is stored before the former object is deleted stays.
function madeOfOurs(entry: SnapshotEntry, answer: JsonObject, context: FactsContext): string | undefined {
  const { transaction, earlier = [] } = context;
  const managers = managersOfChange(transaction, transaction.changes[entry.index]);
  const paths = unlikeOurs({ entry, live: answer, managers, drift: [], recorded: false, isSealed: false });
  if (paths.length === 0) return undefined;
  const kinds = listKindsOf(answer);
  const made = paths.map(({ path }) => ({ path: [...path], ...present(valueAt(answer, path, kinds)) }));
  return storedDrift([...earlier, ...made], entry, context);
}

function present(value: Json | undefined): { readonly value?: Json } {
  return value === undefined ? {} : { value };
}
