// Reads the tree from registries, compares it with the cluster, and sends every write as a dry run.
import { type JsonObject, objectAt, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { cut } from '../../objects/words.ts';
import { lostEntry, otherKind, otherName, sharedNames, takenName } from '../checks/names.ts';
import { finalFault, type PackageFault, packageFault } from '../model/fault.ts';
import { type Installed, installedKind, present, readLock } from '../model/lock.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import type { Version } from '../model/version.ts';
import { type Changed, changedPackages } from '../writes/changed.ts';
import { packagesOfKind } from '../writes/resources.ts';
import { awaitedVersions, withApplied } from './applied.ts';
import { type AwaitedContext, awaited } from './awaited.ts';
import { compareWithLive, type Live, leavingIn, liveVersionOf } from './comparison.ts';
import { digestedByRegistries, digestedByRevisions } from './digests.ts';
import { faultsOf } from './dropped.ts';
import { dryRunAll } from './dry-run.ts';
import { unsignedPackages } from './image-configs.ts';
import type { Images } from './images.ts';
import { activeRevisions, objectsOf, resourceOf } from './objects.ts';
import type { Awaiting, NotRead, Validation } from './observation.ts';
import { absentMark, type Progress, unlessOver } from './progress.ts';
import { find, type PackageReader } from './read.ts';
import { withRemovals } from './removed.ts';
import { type Replacement, type ReplacementTree, readReplacement, resolveReplacing } from './replacement.ts';
import { readTree, type Tree, type TreePackage } from './tree.ts';
import type { Webhooks } from './webhooks.ts';

interface TreeContext extends AwaitedContext {
  readonly registry: Images;
  readonly lock: JsonObject;
  readonly crossplane: Version | undefined;
  readonly webhooks: Webhooks;
}

interface ValidationContext extends TreeContext {
  readonly ptx: PackageTransaction;
  readonly progress: Progress;
  readonly isBeside?: boolean;
}

/**
 * The hook reads the tree before it takes the Lock: layers stay in the cache. A tree that is refused now may be valid once the
 * package transaction holds the Lock.
 */
export async function readAhead(context: TreeContext, isOver: () => boolean): Promise<NotRead | undefined> {
  const entries = readLock(context.lock);
  if (typeof entries === 'string') return undefined;
  const found = await replacingOf(context, await withRemovals(context.reader, entries));
  if (found.tree.kind === 'resolved') return awaited(context, found.tree);
  return found.tree.kind === 'failed' ? unlessOver(isOver, found.tree) : found.awaiting;
}

interface FoundTree extends ReplacementTree {
  /** The tree is refused, but other Packages will admit it. */
  readonly awaiting?: Awaiting | undefined;
}

/** The tree, and the installed packages that leave for it. */
async function replacingOf(context: TreeContext, entries: readonly Installed[]): Promise<FoundTree> {
  const { reader, wanted, ownMode = 'none' } = context;
  const isRead = ownMode !== 'none';
  const known = isRead ? await withApplied(reader, ownMode, entries) : entries;
  const first = await resolved(context, known);
  if (!isContradicted(first.tree)) return first;
  // Where no Package makes its own, only a contradiction needs the live Packages.
  const installed = isRead ? known : await withApplied(reader, ownMode, entries);
  const found = isRead ? first : await resolved(context, installed);
  if (!isContradicted(found.tree) || wanted.replaces !== undefined) return found;
  return { ...found, awaiting: await awaitedVersions(wanted.reference.source, installed, (among) => treeOf(context, among)) };
}

function isContradicted(tree: Tree): boolean {
  return tree.kind === 'refused' && tree.faults.some(({ reason }) => reason === 'VersionConflict');
}

async function resolved(context: TreeContext, installed: readonly Installed[]): Promise<ReplacementTree> {
  if (context.wanted.replaces === undefined) return { tree: await treeOf(context, installed), leaving: [] };
  return resolveReplacing(installed, context.wanted, (staying) => treeOf(context, staying));
}

function treeOf({ wanted, registry, crossplane, webhooks }: TreeContext, installed: readonly Installed[]): Promise<Tree> {
  const isSet = (field: string): boolean => wanted.spec[field] === true;
  return readTree(
    {
      name: wanted.name,
      kind: wanted.kind,
      reference: wanted.reference,
      installed,
      skipsDependencies: isSet('skipDependencyResolution'),
      crossplane,
      webhookFaults: webhooks.webhookFaults,
      ignoresCrossplane: isSet('ignoreCrossplaneConstraints'),
    },
    registry,
  );
}

export async function readValidation(context: ValidationContext): Promise<Validation> {
  const entries = readLock(context.lock);
  if (typeof entries === 'string') return refused(packageFault('InvalidPackage', entries));
  const other = await otherPackage(context);
  if (other !== undefined) return refused(other);
  const all = await digestedByRevisions(context.reader, await withRemovals(context.reader, entries));
  const { tree, leaving, awaiting } = await replacingOf(context, all);
  if (tree.kind !== 'resolved') return awaiting ?? unreadIn(context, tree);
  const installed = all.filter((one) => !leaving.some(({ source }) => source === one.source));
  const proposed = readLock({ packages: tree.lock });
  if (typeof proposed === 'string') throw new Error(proposed);
  const { wanted, isBeside = false } = context;
  const trees = { wanted, leaving, packages: tree.packages, installed: all, proposed, isBeside };
  const replacement = await readReplacement(context.reader, trees);
  if (replacement.faults.length > 0) return { kind: 'refused', faults: replacement.faults };
  return validated(context, { tree, installed: present(installed), replacement });
}

function unreadIn({ progress }: ValidationContext, tree: Exclude<Tree, { kind: 'resolved' }>): Validation {
  return tree.kind === 'failed' && progress.isOver() ? { kind: 'unread' } : tree;
}

interface Resolution {
  readonly tree: Extract<Tree, { kind: 'resolved' }>;
  /** Without the packages that leave. */
  readonly installed: readonly Installed[];
  readonly replacement: Replacement;
}

async function validated(context: ValidationContext, { tree, installed, replacement }: Resolution): Promise<Validation> {
  const awaiting = await awaited(context, tree);
  if (awaiting !== undefined) return awaiting;
  const changed = changedPackages(context.wanted, entriesOf(installed), tree.lock);
  const faults = await namesTaken(context, changed, installed);
  if (faults.length > 0) return { kind: 'refused', faults };
  const refusal =
    (await unsigned(context, changed)) ??
    (await compared(context, tree.packages, { installed, revisions: replacement.revisions })) ??
    (await tried(context, tree, installed));
  if (refusal !== undefined) return refusal;
  const lock = await digestedByRegistries(context.registry, tree.lock);
  const lostValues = cut([...context.progress.notes].sort().join('; '), longestLoss);
  return {
    kind: 'valid',
    lock,
    ...(replacement.replaced.length > 0 ? { replaced: replacement.replaced } : {}),
    ...(lostValues === '' ? {} : { lostValues }),
  };
}

const longestLoss = 2_000;

/** Package objects that have, or would have, another source. */
async function namesTaken(
  { reader, wanted, ptx }: ValidationContext,
  changed: readonly Changed[],
  installed: readonly Installed[],
): Promise<readonly PackageFault[]> {
  const taken = await inTurn(changed, async (one) => {
    const live = await find(reader, { resource: packagesOfKind(one.kind), name: one.name });
    const found = textAt(live, 'spec', 'package');
    const isInstalled = installed.some(({ source }) => source === one.source);
    // The user has changed a Package that makes its own package transactions before: its revision has the source that is installed.
    const isOwn = one.isRoot && ptx.packageUid !== undefined;
    const active = isInstalled && !isOwn ? [] : await activeRevisions(reader, one.kind, one);
    const others = takenName(one, isOwn ? active.find(({ packageName }) => packageName === one.name)?.source : found);
    if (isInstalled) return others;
    const lost = { packages: active.map(({ packageName }) => packageName), live: found };
    return [...others, ...lostEntry(one, lost)];
  });
  const root = changed.find(({ isRoot }) => isRoot);
  const previous = installed.find(({ source }) => source === wanted.reference.source);
  const kinds = new Map(installed.map((one) => [one.source, installedKind(one)]));
  const changing = changed.flatMap((one) => otherKind(one, kinds.get(one.source)));
  return [...sharedNames(changed), ...taken.flat(), ...changing, ...(root === undefined ? [] : otherName(root, previous?.name))];
}

/** Undefined if all images are signed that must be. */
async function unsigned({ registry, progress }: ValidationContext, changed: readonly Changed[]): Promise<Validation | undefined> {
  const faults = await unsignedPackages(registry, changed, progress);
  if (faults === 'unfinished') return { kind: 'unfinished' };
  if ('kind' in faults) return unlessOver(progress.isOver, faults);
  return faults.length > 0 ? { kind: 'refused', faults } : undefined;
}

/** Undefined if no object of the packages breaks a live object. */
async function compared(
  context: ValidationContext,
  packages: readonly TreePackage[],
  { installed, revisions }: { readonly installed: readonly Installed[]; readonly revisions: readonly string[] },
): Promise<Validation | undefined> {
  const { reader, ptx, registry, progress } = context;
  const locked = new Set(installed.map(({ name }) => name));
  const faults = await compareWithLive(packages, {
    registry,
    live: liveOf(reader, progress),
    locked,
    leaving: [...leavingIn(packages), ...revisions],
    faultsOfBroken: (broken) => faultsOf(reader, ptx, { broken, notes: progress.notes }),
    progress,
  });
  if (faults === 'unfinished') return { kind: 'unfinished' };
  if ('kind' in faults) return unlessOver(progress.isOver, faults);
  return faults.length > 0 ? { kind: 'refused', faults } : undefined;
}

function refused(fault: PackageFault): Validation {
  return { kind: 'refused', faults: [fault] };
}

async function otherPackage({ reader, wanted }: ValidationContext): Promise<PackageFault | undefined> {
  const { kind, name, uid } = wanted;
  const live = uid === undefined ? undefined : await find(reader, { resource: packagesOfKind(kind), name });
  const found = textAt(live, 'metadata', 'uid');
  if (uid === undefined || found === uid) return undefined;
  return finalFault('InvalidPackage', `${kind} ${name}: expected uid ${uid}, found ${found ?? 'no such object'}`);
}

function liveOf(reader: PackageReader, progress: Progress): Live {
  return async (object) => {
    const { kind, name } = object;
    const resource = await resourceOf(reader, { apiVersion: liveVersionOf(object), kind });
    if (resource === undefined) return undefined;
    const found = await find(reader, { resource, name });
    if (found === undefined) progress.add(absentMark(kind, name));
    return found;
  };
}

/** Undefined if the API server accepts each object of the packages that change. */
async function tried(
  context: ValidationContext,
  { packages, lock }: Resolution['tree'],
  installed: readonly Installed[],
): Promise<Validation | undefined> {
  const sources = new Set(changedPackages(context.wanted, entriesOf(installed), lock).map(({ source }) => source));
  for (const pkg of packages.filter(({ source }) => sources.has(source))) {
    const found = await triedPackage(context, pkg);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Undefined if the API server accepts each of its objects. */
async function triedPackage(context: ValidationContext, pkg: TreePackage): Promise<Validation | undefined> {
  const { reader, registry, ptx, progress, webhooks } = context;
  const { source, digest, revision, name, contents } = pkg;
  if (contents === undefined || contents.objects.length === 0 || digest === undefined) return undefined;
  const read = await objectsOf(source, digest, registry);
  if ('kind' in read) return unlessOver(progress.isOver, read);
  const objects = read.objects.map((object) => ({ kind: contents.meta.kind, name, revision, object }));
  const spec = await specOf(context, { kind: contents.meta.kind, name, source });
  const faults = await dryRunAll(reader, { objects, spec }, { ...ptx, servers: webhooks.servers }, progress);
  if (faults === 'unfinished') return { kind: 'unfinished' };
  return faults.length > 0 ? { kind: 'refused', faults } : undefined;
}

type Named = Pick<Changed, 'kind' | 'name' | 'source'>;

/** The spec of a package after the change, but for its version. */
async function specOf({ reader, wanted }: ValidationContext, { kind, name, source }: Named): Promise<JsonObject> {
  if (source === wanted.reference.source) return wanted.spec;
  return objectAt(await find(reader, { resource: packagesOfKind(kind), name }), 'spec');
}

function entriesOf(installed: readonly Installed[]): readonly JsonObject[] {
  return installed.map(({ entry }) => entry);
}
