// Drift: where an object differs from its snapshot without a conflict, as the item stores it.
import { isScaled } from '../../objects/content/derived.ts';
import { listKindsOf, valueAt, withValueAt } from '../../objects/content/lists.ts';
import { differences } from '../../objects/content/merge.ts';
import type { Path } from '../../objects/content/path.ts';
import { at, equalJson, isObject, type Json, type JsonObject } from '../../objects/json.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { Drift } from '../snapshots/drift.ts';

/**
 * The values of a live object that the snapshot does not hold, and that the change is about to remove. A Delete removes annotations
 * and the number that a client has scaled to. Another change removes the number only if it sets another number.
 */
export function priorDrift({ prior, expected, type }: SnapshotEntry, live: JsonObject): readonly Drift[] {
  const kinds = listKindsOf(prior, live);
  const isRemoved = (path: Path): boolean =>
    type === 'Delete' || !equalJson(valueAt(expected, path, kinds), valueAt(prior, path, kinds));
  const scaled = differences(specOf(prior), specOf(live), kinds).filter((path) => isScaled(live, path) && isRemoved(path));
  const annotated = type === 'Delete' ? differences(annotationsOf(prior), annotationsOf(live), kinds) : [];
  return [...annotated, ...scaled].map((path) => {
    const value = valueAt(live, path, kinds);
    return { path: [...path], before: true, ...(value === undefined ? {} : { value }) };
  });
}

/** The entry, with the object as it was right before the change. */
export function withDrift(entry: SnapshotEntry, drift: readonly Drift[]): SnapshotEntry {
  const { prior } = entry;
  const before = drift.filter((one) => one.before === true);
  if (prior === undefined || before.length === 0) return entry;
  const kinds = listKindsOf(prior);
  const object = before.reduce<Json | undefined>((state, { path, value }) => withValueAt(state, path, value, kinds), prior);
  return isObject(object) ? { ...entry, prior: object } : entry;
}

function annotationsOf(object: JsonObject | undefined): JsonObject {
  return { metadata: { annotations: at(object, 'metadata', 'annotations') ?? {} } };
}

function specOf(object: JsonObject | undefined): JsonObject {
  return { spec: at(object, 'spec') ?? {} };
}
