// A user applies Packages at once, and one requires another one. The other one has its own name and its own version, so it is
// installed first.
import { isTerminating } from '../../objects/content/ownership.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { makesOwn, type OwnMode } from '../model/own.ts';
import { quoted } from '../model/package.ts';
import { nameLabel, packagesOfKind } from '../writes/resources.ts';
import { activeRevisions } from './objects.ts';
import type { Awaiting } from './observation.ts';
import { sourceOfPackage } from './parts.ts';
import { list, type PackageReader } from './read.ts';
import type { TreePackage } from './tree.ts';

export interface AwaitedContext {
  readonly reader: PackageReader;
  /** Which Packages make their own package transactions. If absent, none does. */
  readonly ownMode?: OwnMode | undefined;
}

/** Undefined if there is no such Package. */
export async function awaited(context: AwaitedContext, packages: readonly TreePackage[]): Promise<Awaiting | undefined> {
  const { ownMode = 'none' } = context;
  const added = packages.filter(({ change }) => change === 'added');
  if (ownMode === 'none' || added.length === 0) return undefined;
  const found = await inTurn(added, (one) => ownPackageOf({ reader: context.reader, ownMode }, one));
  const messages = found.filter((one) => one !== undefined);
  return messages.length === 0 ? undefined : { kind: 'awaiting', message: messages.slice(0, mostNamed).join('; ') };
}

const mostNamed = 10;

/**
 * The user's Package of the source, in words. A Package whose revision is Active installs nothing more, also if the Lock has lost its
 * entry. If the Package has the name that the hook would give it, and a package transaction wrote it, the hook may write its version.
 */
async function ownPackageOf(
  { reader, ownMode }: { readonly reader: PackageReader; readonly ownMode: OwnMode },
  { name, source, meta }: TreePackage,
): Promise<string | undefined> {
  if (meta === undefined) return undefined;
  const all = await list(reader, packagesOfKind(meta.kind), undefined, { whole: true });
  const nameOf = (pkg: JsonObject): string => textAt(pkg, 'metadata', 'name') ?? '';
  const isOurs = (pkg: JsonObject): boolean => nameOf(pkg) === name && textAt(pkg, 'metadata', 'labels', nameLabel) !== undefined;
  const isAwaited = (pkg: JsonObject): boolean =>
    sourceOfPackage(pkg) === source && makesOwn(ownMode, pkg) && !isTerminating(pkg) && !isOurs(pkg);
  const own = all.find(isAwaited);
  if (own === undefined || (await activeRevisions(reader, meta.kind, { source, name: nameOf(own) })).length > 0) return undefined;
  const what = `${meta.kind} ${quoted(nameOf(own))}`;
  return `${source} is required, and ${what} installs it first: read the condition Installed of ${what}, or delete ${what}`;
}
