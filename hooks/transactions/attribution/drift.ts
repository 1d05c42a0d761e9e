// Drift: where an object differs from its snapshot without a conflict, as the item stores it.
import { listKindsOf, valueAt, withValueAt } from '../../objects/content/lists.ts';
import { differences } from '../../objects/content/merge.ts';
import { at, isObject, type Json, type JsonObject } from '../../objects/json.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { isCreatingHalf } from '../model/halves.ts';
import type { Drift } from '../snapshots/drift.ts';

/** The annotations of a live object that differ from those of its prior state. */
export function annotationDrift({ prior }: SnapshotEntry, live: JsonObject): readonly Drift[] {
  const kinds = listKindsOf(prior, live);
  const paths = differences(annotationsOf(prior), annotationsOf(live), kinds);
  return paths.map((path) => {
    const value = valueAt(annotationsOf(live), path, kinds);
    return value === undefined ? { path: [...path] } : { path: [...path], value };
  });
}

/** The entry of a Delete, with the object as it was when it was deleted: only annotations can have drifted. Or of the Create after it. */
export function withDrift(entry: SnapshotEntry, drift: readonly Drift[]): SnapshotEntry {
  const { prior, type } = entry;
  if (prior === undefined || !(type === 'Delete' || isCreatingHalf(entry))) return entry;
  const annotations = drift.filter(({ path, made }) => made !== true && path[0] === 'f:metadata' && path[1] === 'f:annotations');
  const kinds = listKindsOf(prior);
  const object = annotations.reduce<Json | undefined>((state, { path, value }) => withValueAt(state, path, value, kinds), prior);
  return isObject(object) ? { ...entry, prior: object } : entry;
}

function annotationsOf(object: JsonObject | undefined): JsonObject {
  return { metadata: { annotations: at(object, 'metadata', 'annotations') ?? {} } };
}
