// The facts that an item records about the effect of a change. These are the uid of a created object, and the managers that a Patch
// took fields from. The item also records whether no field changed, and the resourceVersion, which orders all changes to the object.
import { contentOf } from '../../objects/content/content.ts';
import { listKindsOf } from '../../objects/content/lists.ts';
import { losers } from '../../objects/content/losers.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { isApplied } from '../model/change.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { Applied } from '../model/item.ts';
import { uidOf } from './attribute.ts';
import { changedFields } from './since.ts';

const mostManagers = 20;

/** The object before and after the write; `after` is undefined for a Delete. `forward`: the field manager of the change. */
interface Written {
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
  readonly forward: string;
}

export function effectOf(
  { type, resource, prior }: Pick<SnapshotEntry, 'type' | 'resource' | 'prior'>,
  { before, after, forward }: Written,
): Omit<Applied, 'drift'> {
  const uid = type === 'Create' ? uidOf(after) : undefined;
  const took = isApplied(type) ? losers(before, after).filter((name) => name !== forward) : [];
  const resourceVersion = textAt(type === 'Delete' ? before : after, 'metadata', 'resourceVersion');
  return {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(took.length === 0 ? {} : { tookFieldsFrom: took.slice(0, mostManagers) }),
    // A first of two writes may have changed what the second one found. Mostly, both are one object.
    ...([...new Set([before, prior])].every((was) => isUnchanged(was, after, resource)) ? { unchanged: true } : {}),
  };
}

function isUnchanged(before: Written['before'], after: Written['after'], resource: SnapshotEntry['resource']): boolean {
  if (before === undefined || after === undefined) return false;
  const [was, now] = [contentOf(before, resource), contentOf(after, resource)];
  return changedFields(was, now, listKindsOf(before, after)).length === 0;
}
