// Which managers lose fields to a write.
import type { Json } from '../json.ts';
import { gainedMembers } from './field-trees.ts';
import { managerKey, managersOf, treeOf } from './fields.ts';
import type { Path } from './path.ts';

/** The managers that lost a field between the two versions. */
export function losers(before: Json | undefined, after: Json | undefined): readonly string[] {
  return [...lostFields(before, after).keys()];
}

/** The managers that lost a field, with the fields that each of them lost, in the order of their names. */
export function lostFields(before: Json | undefined, after: Json | undefined): ReadonlyMap<string, readonly Path[]> {
  const left = new Map(managersOf(after).map((manager) => [managerKey(manager), treeOf(manager)]));
  const lost = new Map<string, readonly Path[]>();
  for (const manager of managersOf(before)) {
    const fields = gainedMembers(treeOf(manager), left.get(managerKey(manager)));
    if (fields.length > 0) lost.set(manager.name, [...(lost.get(manager.name) ?? []), ...fields]);
  }
  return new Map([...lost].sort(([one], [other]) => (one < other ? -1 : 1)));
}
