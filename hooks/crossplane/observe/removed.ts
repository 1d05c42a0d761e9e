// Entries of the Lock whose package a user has removed: neither the package object nor the revision exists. Nothing removes such an entry
// from the Lock. The hook does not count the package as installed: its requirements bind no other package, and a package that
// requires it installs it again.
import type { Resource } from '../../objects/cluster.ts';
import { textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { type Installed, installedKind } from '../model/lock.ts';
import { nameInRevision, stemOf } from '../model/names.ts';
import { type PackageKind, packageApiVersion } from '../model/package.ts';
import { packagesOfKind, revisionsOfKind } from '../writes/resources.ts';
import { list, type PackageReader, served } from './read.ts';

/** The entries, of which those of removed packages are marked. */
export async function withRemovals(reader: PackageReader, entries: readonly Installed[]): Promise<readonly Installed[]> {
  const kinds = [...Map.groupBy(entries, installedKind)];
  const removed = new Set((await inTurn(kinds, ([kind, own]) => removedOf(reader, kind, own))).flat());
  return entries.map((one) => (removed.has(one) ? { ...one, isRemoved: true } : one));
}

async function removedOf(
  reader: PackageReader,
  kind: PackageKind | undefined,
  entries: readonly Installed[],
): Promise<readonly Installed[]> {
  if (kind === undefined) return [];
  const revisions = new Set(await namesOf(reader, revisionsOfKind(kind)));
  const open = entries.filter(({ name }) => !revisions.has(name));
  // If the API server does not serve the kind, it shows neither packages nor revisions.
  if (open.length === 0 || (await served(reader, packageApiVersion, kind)) === undefined) return [];
  const stems = new Set((await namesOf(reader, packagesOfKind(kind))).map(stemOf));
  return open.filter(({ name }) => !stems.has(nameInRevision(name)));
}

async function namesOf(reader: PackageReader, resource: Resource): Promise<readonly string[]> {
  return (await list(reader, resource, undefined, {})).map((object) => textAt(object, 'metadata', 'name') ?? '');
}
