// `packagePullPolicy: Always` follows a tag that moves: one read of its digest for each call about an installed Package. A digest never moves.
import { type JsonObject, textAt } from '../../objects/json.ts';
import { revisionName } from '../model/names.ts';
import { followsTag, isActive, isManual } from '../model/package.ts';
import type { Wanted } from '../model/package-transaction.ts';
import type { PackageReader } from './read.ts';
import { openRegistryOf, type Registries } from './registries.ts';

/**
 * The digest of the tag, if no revision has it. A revision that a user makes Active counts also while it is Inactive. Undefined if the
 * registry does not answer: the next call reads again.
 */
export async function movedTag(
  reader: PackageReader,
  registries: Registries,
  { wanted, revisions }: { readonly wanted: Wanted; readonly revisions: readonly JsonObject[] },
): Promise<string | undefined> {
  if (!followsTag(wanted)) return undefined;
  const opened = await openRegistryOf(reader, registries, wanted);
  if ('reason' in opened) return undefined;
  const answer = await opened.registry.digest(wanted.reference);
  if (answer.kind === 'failed') return undefined;
  const name = revisionName(wanted.name, answer.digest);
  const isHere = (one: JsonObject): boolean =>
    textAt(one, 'metadata', 'name') === name && (isManual(wanted.spec) || isActive(one));
  return revisions.some(isHere) ? undefined : answer.digest;
}
