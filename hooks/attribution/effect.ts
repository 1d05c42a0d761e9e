// What an item records about the effect of a change: the uid of a created object, the managers that a Patch took fields from, and the
// resourceVersion, which orders all changes to the object.
import { losers } from '../content/ownership.ts';
import type { Way } from '../model/change.ts';
import type { Applied } from '../model/item.ts';
import { type Json, textAt } from '../model/json.ts';
import { uidOf } from './attribute.ts';

const mostManagers = 20;

/** `before` and `after`: the object before and after the write. `after` is undefined for a Delete. */
export function effectOf(type: Way, before: Json | undefined, after: Json | undefined): Omit<Applied, 'drift'> {
  const uid = type === 'Create' ? uidOf(after) : undefined;
  const took = type === 'Patch' ? losers(before, after) : [];
  const resourceVersion = textAt(type === 'Delete' ? before : after, 'metadata', 'resourceVersion');
  return {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(took.length === 0 ? {} : { tookFieldsFrom: took.slice(0, mostManagers) }),
  };
}
