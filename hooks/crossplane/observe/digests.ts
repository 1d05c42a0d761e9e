// Digests of entries of the Lock that have only a tag, as Crossplane writes them. If neither a revision nor the registry confirms
// the digest, the entry stays as it is. A tag may have moved since the package was installed.
import { type JsonObject, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { digested, type Installed, installedKind, readLock } from '../model/lock.ts';
import { hasDigest } from '../model/names.ts';
import { isDigest, readReference, readSource } from '../model/reference.ts';
import type { Registry } from '../registry.ts';
import { revisionsOfKind } from '../writes/resources.ts';
import { find, type PackageReader } from './read.ts';

/** Digests from revisions: Crossplane has resolved them, or a package transaction has written them. */
export function digestedByRevisions(reader: PackageReader, installed: readonly Installed[]): Promise<readonly Installed[]> {
  return inTurn(installed, async (one) => {
    const kind = installedKind(one);
    if (one.digest !== undefined || kind === undefined) return one;
    const revision = await find(reader, { resource: revisionsOfKind(kind), name: one.name });
    const digest = digestIn(revision, 'status', 'resolvedImage') ?? digestIn(revision, 'spec', 'image');
    return digest === undefined ? one : digested(one, digest);
  });
}

function digestIn(revision: JsonObject | undefined, ...path: readonly string[]): string | undefined {
  const version = readReference(textAt(revision, ...path) ?? '')?.version ?? '';
  return isDigest(version) ? version : undefined;
}

/** Digests from registries, for the Lock that the hook will write. */
export async function digestedByRegistries(registry: Registry, packages: readonly JsonObject[]): Promise<readonly JsonObject[]> {
  const read = readLock({ packages });
  if (typeof read === 'string') return packages;
  const open = read.filter(({ digest }) => digest === undefined);
  const hosts = Map.groupBy(open, ({ source }) => readSource(source)?.registry);
  const found = await inTurn([...hosts.values()], (entries) => digestedByOne(registry, entries));
  const known = new Map(found.flat().map((one) => [one.source, one.entry]));
  return read.map(({ source, entry }) => known.get(source) ?? entry);
}

/** If a registry does not answer, the hook does not request the next entry from it: the install must not wait for it. */
async function digestedByOne(registry: Registry, entries: readonly Installed[]): Promise<readonly Installed[]> {
  const found: Installed[] = [];
  for (const one of entries) {
    const answer = await registry.digest({ source: one.source, version: one.tag ?? '' });
    if (answer.kind === 'failed' && answer.failure.kind === 'unavailable') break;
    const isFound = answer.kind === 'ok' && hasDigest(one.name, answer.digest);
    if (isFound) found.push(digested(one, answer.digest));
  }
  return found;
}
