// A package requires another one, and a user has a Package for that one. The hook installs that Package first, in its own name and
// version. If the Package is being deleted, the hook waits until it is gone. Otherwise the new package would refuse its Delete for good.
import { isTerminating } from '../../objects/content/ownership.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { installedKind } from '../model/lock.ts';
import { sourceOfPackage } from '../model/names.ts';
import { makesOwn, type OwnMode, packageUidLabel } from '../model/own.ts';
import { type PackageKind, quoted } from '../model/package.ts';
import type { Wanted } from '../model/package-transaction.ts';
import { nameLabel, packagesOfKind } from '../writes/resources.ts';
import { gonePackages } from './gone.ts';
import { activeRevisions } from './objects.ts';
import type { Awaiting } from './observation.ts';
import { find, list, type PackageReader } from './read.ts';
import type { Tree, TreePackage } from './tree.ts';

export interface AwaitedContext {
  readonly reader: PackageReader;
  readonly wanted: Wanted;
  /** Which Packages make their own package transactions. If absent, none does. */
  readonly ownMode?: OwnMode | undefined;
  /** The time of the API server, in ms. */
  readonly now: number;
}

/** Undefined if there is no such Package. */
export async function awaited(
  context: AwaitedContext,
  { packages, lock }: Extract<Tree, { kind: 'resolved' }>,
): Promise<Awaiting | undefined> {
  const { ownMode = 'none', wanted } = context;
  // An installed package that requires a Package refuses its Delete. So an update of that package waits for no deletion.
  const isNew = wanted.replaces === undefined && packages.some(({ change, from }) => change === 'root' && from === undefined);
  const required = packages.filter(({ change }) => change === 'added' || (isNew && change !== 'root'));
  if (ownMode === 'none') return undefined;
  const itself = await leavingItself(context, ownMode);
  if (itself !== undefined) return { kind: 'awaiting', message: itself };
  if (required.length === 0) return undefined;
  const kindOf = new Map(lock.map((entry) => [textAt(entry, 'source'), installedKind({ entry })]));
  const kinds = [...Map.groupBy(required, ({ source }) => kindOf.get(source))];
  const messages = await inTurn(kinds, async ([kind, some]) =>
    kind === undefined ? [] : awaitedOf({ ...context, ownMode, kind }, some),
  );
  const known = messages.flat();
  const all = known.length > 0 ? known : await deletedLately(context, required);
  return all.length === 0 ? undefined : { kind: 'awaiting', message: all.slice(0, mostNamed).join('; ') };
}

/** A Package that is being deleted cannot be installed again before it is gone. Its own package transaction ends by itself. */
async function leavingItself({ reader, wanted }: AwaitedContext, ownMode: OwnMode): Promise<string | undefined> {
  const { kind, name, uid } = wanted;
  const live = uid === undefined ? await find(reader, { resource: packagesOfKind(kind), name }) : undefined;
  if (live === undefined || !isTerminating(live) || !makesOwn(ownMode, live)) return undefined;
  const what = `${kind} ${quoted(name)}`;
  return `${what} is being deleted, and is installed once it is gone: read the condition Installed of ${what}`;
}

const mostNamed = 10;

interface OfKind extends AwaitedContext {
  readonly ownMode: OwnMode;
  readonly kind: PackageKind;
}

/** The users' Packages of these sources that are to be installed or deleted first, in words. */
async function awaitedOf(context: OfKind, required: readonly TreePackage[]): Promise<readonly string[]> {
  const { reader, ownMode, kind } = context;
  const live = await list(reader, packagesOfKind(kind), undefined, { whole: true });
  const own = live.filter((pkg) => makesOwn(ownMode, pkg));
  const found = await inTurn(required, async (one) => {
    const same = own.filter((pkg) => sourceOfPackage(pkg) === one.source);
    const leaving = same.find(isTerminating);
    if (leaving === undefined) return installedFirst(context, one, same);
    const what = `${kind} ${quoted(nameOf(leaving))}`;
    return [`${one.source} is required, and ${what} is being deleted: read the condition Installed of ${what}`];
  });
  return found.flat();
}

/**
 * A Package whose revision is Active installs nothing more, also if the Lock has lost its entry. If the Package has the name that the
 * hook would give it, and a package transaction wrote it, the hook may write its version.
 */
async function installedFirst(
  { reader, kind }: OfKind,
  { change, name, source }: TreePackage,
  same: readonly JsonObject[],
): Promise<readonly string[]> {
  const isOurs = (pkg: JsonObject): boolean => nameOf(pkg) === name && textAt(pkg, 'metadata', 'labels', nameLabel) !== undefined;
  const pkg = change === 'added' ? same.find((one) => !isOurs(one)) : undefined;
  if (pkg === undefined || (await activeRevisions(reader, kind, { source, name: nameOf(pkg) })).length > 0) return [];
  const what = `${kind} ${quoted(nameOf(pkg))}`;
  return [`${source} is required, and ${what} installs it first: read the condition Installed of ${what}, or delete ${what}`];
}

function nameOf(object: JsonObject): string {
  return textAt(object, 'metadata', 'name') ?? '';
}

/** In ms. A GitOps tool applies a Package again shortly after its deletion. */
const untilAppliedAgain = 60_000;

/** Packages that the hook would install under another name, although a user may be about to apply them again. */
async function deletedLately({ reader, now }: AwaitedContext, required: readonly TreePackage[]): Promise<readonly string[]> {
  const added = required.filter(({ change }) => change === 'added');
  if (added.length === 0) return [];
  const gone = await gonePackages(reader, packageUidLabel);
  const lately = gone.filter(({ endedAt }) => endedAt + untilAppliedAgain > now);
  return added.flatMap(({ source, name }) => {
    const former = lately.find((one) => one.source === source)?.packageName;
    if (former === undefined || former === name) return [];
    const until = `apply it again, or wait ${untilAppliedAgain / 1000} s, and ${quoted(name)} is installed`;
    return [`${source} is required, and its Package ${quoted(former)} was deleted just now: ${until}`];
  });
}
