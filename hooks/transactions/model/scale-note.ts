// The words for a number that an autoscaler has (attribution/kept-scale.ts).
import { at, type Json, type JsonObject } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import type { Change } from './change.ts';
import type { SnapshotEntry } from './entry.ts';

/** What the change leaves of content, in words; undefined if content has the number of the object. */
export function keptNote(
  { keepsScale }: Pick<SnapshotEntry, 'keepsScale'>,
  change: Change,
  found: JsonObject | undefined,
  isSealed: boolean,
): string | undefined {
  if (keepsScale === undefined) return undefined;
  const { path, by } = keepsScale;
  const [wanted, number] = [at(change.content, ...path), at(found, ...path)];
  if (wanted === number || number === undefined) return undefined;
  const said = wanted === undefined ? 'content names none' : `content says ${numberText(wanted)}`;
  const numbers = isSealed ? ['', ''] : [` ${numberText(number)}`, `, ${said}`];
  return `${path.join('.')} stays${numbers[0]}: ${by} scales it${numbers[1]}`;
}

const longestNumber = 20;

/** A number that others wrote, bounded. */
export function numberText(number: Json): string {
  return foreign(JSON.stringify(number), longestNumber);
}
