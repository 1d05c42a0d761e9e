// The facts that an item records about the effect of a change. These are the uid of a created object, and the managers that a Patch
// took fields from. The item also records the resourceVersion, which orders all changes to the object.
import { losers } from '../../objects/content/losers.ts';
import { type Json, textAt } from '../../objects/json.ts';
import { isApplied, type Way } from '../model/change.ts';
import type { Applied } from '../model/item.ts';
import { uidOf } from './attribute.ts';

const mostManagers = 20;

/** The object before and after the write; `after` is undefined for a Delete. `forward`: the field manager of the change. */
interface Written {
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  readonly forward: string;
}

export function effectOf(type: Way, { before, after, forward }: Written): Omit<Applied, 'drift'> {
  const uid = type === 'Create' ? uidOf(after) : undefined;
  const took = isApplied(type) ? losers(before, after).filter((name) => name !== forward) : [];
  const resourceVersion = textAt(type === 'Delete' ? before : after, 'metadata', 'resourceVersion');
  return {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(took.length === 0 ? {} : { tookFieldsFrom: took.slice(0, mostManagers) }),
  };
}
