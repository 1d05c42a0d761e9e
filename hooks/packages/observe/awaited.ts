// A user applies Packages at once, and one requires another one. The other one has its own name and its own version, so it is
// installed first.
import { isTerminating } from '../../objects/content/ownership.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { sourceOfPackage } from '../model/names.ts';
import { makesOwn, type OwnMode } from '../model/own.ts';
import { type PackageKind, quoted } from '../model/package.ts';
import { nameLabel, packagesOfKind } from '../writes/resources.ts';
import { activeRevisions } from './objects.ts';
import type { Awaiting } from './observation.ts';
import { list, type PackageReader } from './read.ts';
import type { TreePackage } from './tree.ts';

export interface AwaitedContext {
  readonly reader: PackageReader;
  /** Which Packages make their own package transactions. If absent, none does. */
  readonly ownMode?: OwnMode | undefined;
}

/** Undefined if there is no such Package. */
export async function awaited(context: AwaitedContext, packages: readonly TreePackage[]): Promise<Awaiting | undefined> {
  const { reader, ownMode = 'none' } = context;
  const added = packages.filter(({ change }) => change === 'added');
  if (ownMode === 'none' || added.length === 0) return undefined;
  const kinds = [...Map.groupBy(added, ({ meta }) => meta?.kind)];
  const messages = await inTurn(kinds, async ([kind, some]) =>
    kind === undefined ? [] : awaitedOf({ reader, ownMode, kind }, some),
  );
  const all = messages.flat();
  return all.length === 0 ? undefined : { kind: 'awaiting', message: all.slice(0, mostNamed).join('; ') };
}

const mostNamed = 10;

interface OfKind {
  readonly reader: PackageReader;
  readonly ownMode: OwnMode;
  readonly kind: PackageKind;
}

/**
 * The users' Packages of these sources, in words. A Package whose revision is Active installs nothing more, also if the Lock has lost its
 * entry. If the Package has the name that the hook would give it, and a package transaction wrote it, the hook may write its version.
 */
async function awaitedOf({ reader, ownMode, kind }: OfKind, added: readonly TreePackage[]): Promise<readonly string[]> {
  const live = await list(reader, packagesOfKind(kind), undefined, { whole: true });
  const own = live.filter((pkg) => makesOwn(ownMode, pkg) && !isTerminating(pkg));
  const nameOf = (pkg: JsonObject): string => textAt(pkg, 'metadata', 'name') ?? '';
  const found = await inTurn(added, async ({ name, source }) => {
    const isOurs = (pkg: JsonObject): boolean =>
      nameOf(pkg) === name && textAt(pkg, 'metadata', 'labels', nameLabel) !== undefined;
    const pkg = own.find((one) => sourceOfPackage(one) === source && !isOurs(one));
    if (pkg === undefined || (await activeRevisions(reader, kind, { source, name: nameOf(pkg) })).length > 0) return [];
    const what = `${kind} ${quoted(nameOf(pkg))}`;
    return [`${source} is required, and ${what} installs it first: read the condition Installed of ${what}, or delete ${what}`];
  });
  return found.flat();
}
