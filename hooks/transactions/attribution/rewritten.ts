// The values that the API server stored differently than an undo sent them: a mutating admission policy, or a webhook, changed the
// write. Of a new object the prior state shows what the API server itself adds: a value at a path where that state has one counts as
// assigned again, and every other added value is named.

import type { Write } from '../../objects/cluster.ts';
import { contentOf } from '../../objects/content/content.ts';
import { withoutGenerated } from '../../objects/content/generated.ts';
import { listKindsOf, valueAt } from '../../objects/content/lists.ts';
import { differences } from '../../objects/content/merge.ts';
import { describePath, describeSealedPath, type Path } from '../../objects/content/path.ts';
import { isList, isObject, type Json, type JsonObject } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import { shownOf } from '../hazards/messages.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { isCounter } from './attribute.ts';

/** A write of a whole object. Others restore the status or the owners of fields. */
export type ContentWrite = Extract<Write, { verb: 'create' | 'update' }>;

export function isContentWrite(write: Write): write is ContentWrite {
  return write.verb === 'create' || (write.verb === 'update' && write.subresource === undefined);
}

interface Written {
  readonly write: ContentWrite;
  /** The object in the answer. */
  readonly stored: JsonObject;
  readonly isSealed: boolean;
}

const mostPaths = 5;
const longestPath = 300;

// The API server drops empty maps and lists of many fields: then an empty one equals an absent one. It keeps those of other fields,
// as the prior state shows.
function isKeptEmpty(value: Json | undefined): boolean {
  return value !== undefined && isEmpty(value);
}

function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  return (isList(value) || isObject(value)) && Object.keys(value).length === 0;
}

/** The fields that were changed, in words; undefined if the object is stored as it was sent. */
export function rewrittenNote(entry: SnapshotEntry, { write, stored, isSealed }: Written): string | undefined {
  const sent = write.object;
  // The API server assigns again in a new object what the undo left out of the prior state.
  const isNew = write.verb === 'create';
  const kinds = listKindsOf(sent, stored);
  const [before, after] = [contentOf(sent, entry.resource), contentOf(isNew ? withoutGenerated(stored) : stored, entry.resource)];
  const isChanged = (path: Path): boolean => {
    const [was, is] = [valueAt(before, path, kinds), valueAt(after, path, kinds)];
    const prior = valueAt(entry.prior, path, kinds);
    if (isCounter(path) || (isNew && was === undefined && prior !== undefined)) return false;
    return !(isEmpty(was) && isEmpty(is) && !isKeptEmpty(prior));
  };
  const paths = differences(before, after, kinds).filter(isChanged);
  if (paths.length === 0) return undefined;
  const words = paths.map((path) => foreign((isSealed ? describeSealedPath : describePath)(path), longestPath));
  return `an admission policy changed what the undo wrote: ${shownOf(words, mostPaths)}`;
}
