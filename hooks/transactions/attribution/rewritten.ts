// The values that the API server stored differently than an undo sent them: a mutating admission policy, or a webhook, changed the
// write.

import { contentOf } from '../../objects/content/content.ts';
import { listKindsOf, valueAt } from '../../objects/content/lists.ts';
import { differences } from '../../objects/content/merge.ts';
import { describePath, describeSealedPath, type Path } from '../../objects/content/path.ts';
import type { JsonObject } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import { shownOf } from '../hazards/messages.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { isCounter } from './attribute.ts';

interface Written {
  readonly entry: SnapshotEntry;
  readonly sent: JsonObject;
  readonly stored: JsonObject;
  /** Whether the API server adds values of its own: the write creates the object. */
  readonly isNew: boolean;
  readonly isSealed: boolean;
}

const mostPaths = 5;
const longestPath = 300;

/** The fields that were changed, in words; undefined if the object is stored as it was sent. */
export function rewrittenNote({ entry, sent, stored, isNew, isSealed }: Written): string | undefined {
  const kinds = listKindsOf(sent, stored);
  const [before, after] = [contentOf(sent, entry.resource), contentOf(stored, entry.resource)];
  const isChanged = (path: Path): boolean => !isCounter(path) && !(isNew && valueAt(before, path, kinds) === undefined);
  const paths = differences(before, after, kinds).filter(isChanged);
  if (paths.length === 0) return undefined;
  const words = paths.map((path) => foreign((isSealed ? describeSealedPath : describePath)(path), longestPath));
  return `an admission policy changed what the undo wrote: ${shownOf(words, mostPaths)}`;
}
