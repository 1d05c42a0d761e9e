// Which managers lose fields to a write.
import type { Json } from '../json.ts';
import { type FieldSet, managerKey, managersOf, noFields } from './fields.ts';

/** The managers that lost a field between the two versions. */
export function losers(before: Json | undefined, after: Json | undefined): readonly string[] {
  return [...lostFields(before, after).keys()];
}

/** The managers that lost a field, with the fields that each of them lost, in the order of their names. */
export function lostFields(before: Json | undefined, after: Json | undefined): ReadonlyMap<string, FieldSet> {
  const left = new Map(managersOf(after).map((manager) => [managerKey(manager), manager.fields]));
  const lost = new Map<string, FieldSet>();
  for (const manager of managersOf(before)) {
    const fields = manager.fields.difference(left.get(managerKey(manager)) ?? noFields);
    if (fields.size > 0) lost.set(manager.name, fields.union(lost.get(manager.name) ?? noFields));
  }
  return new Map([...lost].sort(([one], [other]) => (one < other ? -1 : 1)));
}
