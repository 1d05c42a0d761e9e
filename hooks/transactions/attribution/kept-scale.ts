// The number of an object that an autoscaler scales (observe/autoscalers.ts). The engine sends the number of the version that the write
// replaces, in place of that of content. The snapshot stores that decision before the first write.
//
// So the write leaves the number as it is, whatever the number is: the number is never our change. Prior and expected state have the
// number of the live object, whoever evaluates it. That holds after a crash, too: no process needs to know which number was sent.
import { ownersAt } from '../../objects/content/owners.ts';
import { describePath, field } from '../../objects/content/path.ts';
import { at, type JsonObject, withPath } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { numberText } from '../model/scale-note.ts';
import { longestManager } from '../model/transaction.ts';
import type { Evidence, ForeignPath } from './attribute.ts';

/** The entry as it is compared with the live object. A Delete removes the number: it compares the stored one. */
export function asKept(entry: SnapshotEntry, live: JsonObject | undefined): SnapshotEntry {
  const { keepsScale, prior, expected, type } = entry;
  const number = keepsScale && at(live, ...keepsScale.path);
  if (keepsScale === undefined || number === undefined || type === 'Delete') return entry;
  const kept = (state: JsonObject): JsonObject => withPath(state, keepsScale.path, number);
  return { ...entry, ...(prior && { prior: kept(prior) }), ...(expected && { expected: kept(expected) }) };
}

/** The fields that clients have scaled, and that the undo leaves, in words; undefined if there are none. */
export function stayingNote(
  { entry: { keepsScale }, managers: { forward }, isSealed }: Evidence,
  live: JsonObject | undefined,
  staying: readonly ForeignPath[],
): string | undefined {
  const isMoved = keepsScale !== undefined && at(live, ...keepsScale.path) !== keepsScale.number;
  const kept = isMoved ? [keepsScale.path.map(field)] : [];
  const all = [...staying, ...kept.map((path) => ({ path, manager: managersAt(live, path, forward) }))];
  if (all.length === 0) return undefined;
  const words = all.map(({ path, manager }) => {
    const value = at(live, ...path.map((element) => element.slice(2)));
    return `${describePath(path)} stays${isSealed || value === undefined ? '' : ` ${numberText(value)}`} (scaled by ${manager})`;
  });
  return [...new Set(words)].join(', ');
}

// The release owns the number too, once it has sent the number that was there: it scaled nothing.
function managersAt(live: JsonObject | undefined, path: readonly string[], own: string): string {
  return (
    ownersAt(live, path)
      .filter(({ name }) => name !== own)
      .map(({ name }) => foreign(name, longestManager))
      .join(', ') || 'unknown'
  );
}
