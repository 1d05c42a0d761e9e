// CRDs that somebody has deleted although an Active revision has them. One list of the metadata of our CRDs is enough as long as the CRDs
// are those that the last read of all revisions found.
//
// 1. The holder of the Lock may be deleting or making CRDs: while the Lock is held, nothing is known to be missing.
// 2. A revision is written only as it was read before the CRD was found missing. So a package transaction that has restored the CRD since,
//    and has recorded it in the revision, wins.
import type { Resource } from '../../objects/cluster.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { holderOf } from '../model/holder.ts';
import { isActive } from '../model/package.ts';
import { absenceIn, wordsOf } from '../writes/absence.ts';
import { definitionsIn } from '../writes/applied.ts';
import { accountIn, definitions, revisionLabel, theLock } from '../writes/resources.ts';
import { revisionsIn } from './lock-state.ts';
import { findMetadata, list, type PackageReader, ReadFailed } from './read.ts';

/** Our CRDs: their names, and a text that differs if a CRD was deleted or made. */
interface Present {
  readonly names: ReadonlySet<string>;
  readonly text: string;
}

export async function readPresent(reader: PackageReader): Promise<Present> {
  const keep = (object: JsonObject): JsonObject => ({
    metadata: { name: nameOf(object), uid: textAt(object, 'metadata', 'uid') ?? '' },
  });
  const all = await list(reader, definitions, undefined, { labelSelector: revisionLabel, keep });
  const text = all.map((one) => `${nameOf(one)} ${textAt(one, 'metadata', 'uid')}`).sort();
  return { names: new Set(all.map(nameOf)), text: text.join() };
}

/** A revision whose condition must change: these CRDs are gone; none if they are there again. */
interface Changed {
  readonly resource: Resource;
  readonly live: JsonObject;
  readonly missing: readonly string[];
}

interface Absences {
  readonly changed: readonly Changed[];
  /** Every CRD of every Active revision is there, and no condition says otherwise. */
  readonly isWhole: boolean;
  /** The time of the API server, in ms. */
  readonly now: number;
}

export async function readAbsences(reader: PackageReader, { names }: Present): Promise<Absences> {
  const revisions = await revisionsIn(reader);
  const suspect = revisions.filter(
    ({ live }) => absenceIn(live) !== undefined || (isActive(live) && definitionsIn(live).some((name) => !names.has(name))),
  );
  const lock = await reader.cluster.get(theLock, accountIn(reader.namespace));
  if (lock.kind === 'failed' && lock.failure.kind !== 'absent') throw new ReadFailed(lock.failure);
  if (suspect.length === 0 || lock.kind === 'failed') return { changed: [], isWhole: suspect.length === 0, now: 0 };
  if (holderOf(lock.object) !== undefined) return { changed: [], isWhole: false, now: 0 }; // 1
  const read = await inTurn(suspect, async (one) => ({ ...one, missing: await missingOf(reader, one.live, names) }));
  const changed = read.filter(({ live, missing }) => absenceIn(live)?.message !== messageOf(missing));
  return { changed, isWhole: false, now: lock.serverTime };
}

async function missingOf(reader: PackageReader, live: JsonObject, names: ReadonlySet<string>): Promise<readonly string[]> {
  if (!isActive(live)) return [];
  const unseen = definitionsIn(live).filter((name) => !names.has(name));
  const found = await inTurn(unseen, async (name) => findMetadata(reader, { resource: definitions, name })); // 2
  return unseen.filter((_, index) => found[index] === undefined);
}

function messageOf(missing: readonly string[]): string | undefined {
  return missing.length === 0 ? undefined : wordsOf(missing);
}

function nameOf(object: JsonObject): string {
  return textAt(object, 'metadata', 'name') ?? '';
}
