// A package that is being deleted: whether anything needs it, and what is left of it. Everything is read live, so any process may go on.
//
// The engine counts the instances of a CRD (instances.ts)
// 1. before it changes anything (`readDeletable`);
// 2. of all CRDs, before the first deletion (`readDeletionState`);
// 3. right before it deletes that CRD (`unused`): one request of this call lies between.
// Before the first deletion an instance ends the try, which is undone. After it the end is CleanupPending (decide/deleting.ts).
import { isTerminating } from '../../objects/content/ownership.ts';
import { type JsonObject, objectAt, textAt, withPath } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { isRevision, ownersIn } from '../checks/conflicts.ts';
import { finalFault, type PackageFault, packageFault } from '../model/fault.ts';
import { type Installed, present, readLock } from '../model/lock.ts';
import { isActive, quoted } from '../model/package.ts';
import { type Deletion, deletionOf, keepsObjects, type PackageTransaction, replacedBy } from '../model/package-transaction.ts';
import { isForward } from '../model/status.ts';
import { hasFinalizer, isPaused } from '../writes/beside.ts';
import { isPackageTransaction } from '../writes/owners.ts';
import { configMaps, definitions, revisionLabel, uidLabel } from '../writes/resources.ts';
import { stagesOf } from '../writes/stages.ts';
import { goneSince } from './gone.ts';
import { instancesOf } from './instances.ts';
import type { DeletionState, Garbage, Orphan, Preparation, Validation } from './observation.ts';
import { type DeletedPackages, type Parts, partName, readHolders, readParts, uidOf } from './parts.ts';
import { managedDefinition } from './pauses.ts';
import { deletionPlan } from './planned.ts';
import { checkAll, type Progress } from './progress.ts';
import { find, list, type PackageReader } from './read.ts';
import { withRemovals } from './removed.ts';
import { protectedBy } from './usages.ts';

interface DeletionContext {
  readonly reader: PackageReader;
  readonly ptx: PackageTransaction;
}

/** The packages that the package transaction deletes. Undefined if it deletes none. */
export function leavingOf(ptx: PackageTransaction): DeletedPackages | undefined {
  const [deletion, replaces] = [deletionOf(ptx), replacedBy(ptx)];
  const uids = ptx.status.leavingUids;
  if (deletion !== undefined) return { sources: [deletion.source], packageUid: ptx.packageUid, uids, isReplaced: false };
  if (replaces === undefined) return undefined;
  return { sources: (ptx.status.replaced ?? []).map(({ source }) => source), uids, isReplaced: true };
}

/** The parts of a package that a Delete names. */
function partsOf(reader: PackageReader, leaving: DeletedPackages, lock: JsonObject): Promise<Parts> {
  if (leaving.isReplaced) return readParts(reader, leaving);
  const entries = readLock(lock);
  const own = typeof entries === 'string' ? [] : entries.filter(({ source }) => leaving.sources.includes(source));
  return readParts(reader, { ...leaving, installed: own.map(({ name }) => name) });
}

/**
 * An earlier try has deleted a part of what leaves. `valid`, unless the package was installed again between the tries: a revision is
 * Active again, or came since the first deletion.
 */
export async function readRest({ reader, ptx }: DeletionContext, valid: Validation): Promise<Validation> {
  const [leaving, { leavingUids: uids }] = [leavingOf(ptx), ptx.status];
  if (leaving === undefined || uids === undefined) return valid;
  const { revisions } = await readHolders(reader, leaving);
  const isLater = (one: Garbage): boolean => isActive(one.object) || !uids.includes(uidOf(one));
  const later = revisions.filter((one) => !isTerminating(one.object) && isLater(one));
  return later.length === 0 ? valid : { kind: 'installedAgain', revisions: later.map(partName) };
}

/** Valid if nothing needs the package, or if an earlier try has deleted a part of it. */
export async function readDeletable(
  { reader, ptx }: DeletionContext,
  { source }: Deletion,
  lock: JsonObject,
  progress: Progress,
): Promise<Validation> {
  const entries = readLock(lock);
  if (typeof entries === 'string') return refused([finalFault('InvalidPackage', entries)]);
  const rest = entries.filter((one) => one.source !== source);
  const valid = { kind: 'valid', lock: rest.map(({ entry }) => entry) } as const;
  if (isForward(ptx.status)) return readRest({ reader, ptx }, valid);
  if (rest.length === entries.length)
    return (await goneSince(reader, ptx, source)) ?? refused([notInstalled('spec.delete.source', source, entries)]);
  const parts = await partsOf(reader, { sources: [source], packageUid: ptx.packageUid, isReplaced: false }, lock);
  const faults = [
    ...notDeleted(ptx, parts),
    ...requiredBy(source, present(await withRemovals(reader, rest))),
    ...[...(await protectedBy(reader, allOf(parts))).values()].map(useFault),
  ];
  if (faults.length > 0) return refused(faults);
  if (keeps(ptx, parts)) return valid;
  const inUse = await checkAll(parts.objects, partName, async (one) => (await instancesOf(reader, one)).map(useFault), progress);
  if (inUse === 'unfinished') return { kind: 'unfinished' };
  return inUse.length > 0 ? refused(inUse) : valid;
}

function refused(faults: readonly PackageFault[]): Validation {
  return { kind: 'refused', faults };
}

export const useFault = (message: string): PackageFault => packageFault('ResourcesInUse', message);

export function notInstalled(place: string, source: string, entries: readonly Installed[]): PackageFault {
  const there = entries.length === 0 ? 'no package' : entries.map((one) => one.source).join(', ');
  return finalFault(
    'InvalidPackage',
    `${place}: expected the source of an installed package, found ${quoted(source)}; the Lock holds ${there}`,
  );
}

/** The request that created the package transaction may have come late. */
function notDeleted({ packageUid }: PackageTransaction, { packages }: Parts): readonly PackageFault[] {
  if (packageUid === undefined || packages.some(({ object }) => isTerminating(object))) return [];
  return [
    finalFault(
      'InvalidPackage',
      'the Package that made this package transaction is not being deleted: delete the Package, or this package transaction',
    ),
  ];
}

function requiredBy(source: string, others: readonly Installed[]): readonly PackageFault[] {
  return others.flatMap((one) =>
    one.dependencies
      .filter((dependency) => dependency.package === source)
      .map(({ constraints }) =>
        packageFault('RequiredByOthers', `${one.source} requires ${source} ${constraints}: delete ${one.source} first`),
      ),
  );
}

function keeps(ptx: PackageTransaction, { packages }: Parts): boolean {
  return [ptx, ...packages.map(({ object }) => ({ annotations: objectAt(object, 'metadata', 'annotations') }))].some(
    keepsObjects,
  );
}

/** The stage that makes the revisions Inactive. */
export async function readDeactivation(
  { reader, ptx }: DeletionContext,
  leaving: DeletedPackages,
  lock: JsonObject,
): Promise<Preparation> {
  const parts = await partsOf(reader, leaving, lock);
  if (ptx.isDryRun)
    return {
      kind: 'planned',
      plan: deletionPlan(lock, { source: leaving.sources[0] ?? '', ...parts, isKept: keeps(ptx, parts) }),
    };
  const items = activeIn(parts).map(namedPart);
  const prepared = stagesOf(ptx, [{ purpose: 'Deactivation', items, changesPerItem: 1 }], reader.gzip);
  const stored = await list(reader, configMaps, reader.namespace, { labelSelector: `${uidLabel}=${ptx.uid}` });
  return { kind: 'ready', prepared, existing: new Set(stored.map((one) => textAt(one, 'metadata', 'name') ?? '')) };
}

/** The revisions that are Active. */
export function activeIn({ revisions }: Pick<Parts, 'revisions'>): readonly Garbage[] {
  return revisions.filter(({ object }) => isActive(object) && !isTerminating(object));
}

/** An item of a stage. */
export function namedPart({ resource, object }: Garbage): { readonly kind: string; readonly name: string } {
  return { kind: resource.kind, name: textAt(object, 'metadata', 'name') ?? '' };
}

/** How many objects a call deletes at most. Of CRDs it deletes one: the count of its instances must not grow old. */
const mostAtOnce = 20;

/** Before the first deletion only the uses of all objects count. The objects of a Replace stay, so nothing keeps them. */
export async function readDeletionState(
  { reader, ptx }: DeletionContext,
  leaving: DeletedPackages,
  lock: JsonObject,
): Promise<DeletionState> {
  const parts = await partsOf(reader, leaving, lock);
  const usages = await protectedBy(reader, leaving.isReplaced ? holdersOf(parts) : allOf(parts));
  const isKept = leaving.isReplaced || keeps(ptx, parts);
  if (isForward(ptx.status))
    return nextDeletions(reader, { ...parts, usages, isKept, requirers: await requirersNow(reader, leaving, lock) });
  const inUse = isKept ? [] : await inTurn(parts.objects, (one) => instancesOf(reader, one));
  const uids = holdersOf(parts).map(uidOf);
  // A user may have kept the Package since the hook validated its Delete: the Package does not wait for the Delete any more.
  const unwanted = notDeleted(ptx, parts).map(({ message }) => message);
  return { objects: [], kept: [], inUse: [...unwanted, ...usages.values(), ...inUse.flat()], terminating: [], uids };
}

/** Package objects and revisions. */
export function holdersOf({ packages, revisions }: Parts): readonly Garbage[] {
  return [...packages, ...revisions];
}

function allOf(parts: Parts): readonly Garbage[] {
  return [...holdersOf(parts), ...parts.objects];
}

/**
 * The packages that require the package now, in words. A package may have come into the Lock since the first deletion. The objects of a
 * Replace stay, and its new packages are installed, so it goes on.
 */
async function requirersNow(
  reader: PackageReader,
  { sources: [source = ''], isReplaced }: DeletedPackages,
  lock: JsonObject,
): Promise<readonly string[]> {
  const entries = isReplaced ? [] : readLock(lock);
  const others = typeof entries === 'string' ? [] : entries.filter((one) => one.source !== source);
  if (requiredBy(source, others).length === 0) return [];
  return requiredBy(source, present(await withRemovals(reader, others))).map(({ message }) => message);
}

interface Going extends Parts {
  /** Why an object must stay, in words. */
  readonly usages: ReadonlyMap<Garbage, string>;
  readonly isKept: boolean;
  /** Why the whole package must stay, in words. Without its revisions a package is of no use to others. */
  readonly requirers: readonly string[];
}

/** Objects go before their revisions, and revisions before the package: each kind goes once nothing is left of the kind before. */
async function nextDeletions(reader: PackageReader, leaving: Going): Promise<DeletionState> {
  const { objects, revisions, packages, isKept, requirers } = leaving;
  const left = [objects, revisions, packages].find((some) => some.length > 0) ?? [];
  const terminating = left.filter(({ object }) => isTerminating(object)).map(partName);
  const going = left.filter(({ object }) => !isTerminating(object));
  const none = { objects: [], kept: [], inUse: [], terminating };
  if (left !== packages && left.length > 0 && requirers.length > 0) return { ...none, inUse: requirers };
  if (left === objects && isKept) return { ...none, kept: await keptOf(reader, going.slice(0, mostAtOnce), leaving) };
  // Crossplane creates a CRD again as long as its ManagedResourceDefinition is there.
  const managed = going.filter(({ resource }) => resource.kind === managedDefinition.kind);
  return { ...none, ...withoutFinalizers(await unused(reader, managed.length > 0 ? managed : going, leaving)) };
}

type Unused = Pick<DeletionState, 'objects' | 'inUse'>;

/** Crossplane does not take its finalizer from a revision that is paused. */
function withoutFinalizers({ objects, inUse }: Unused): Unused & Pick<DeletionState, 'held'> {
  const held = objects.filter(({ object }) => isPaused(object) && hasFinalizer(object));
  if (held.length === 0) return { objects, inUse };
  return { objects: [], inUse, held: held.map(({ resource, object }) => ({ resource, live: object })) };
}

async function unused(reader: PackageReader, going: readonly Garbage[], { usages }: Going): Promise<Unused> {
  const [objects, inUse]: [Garbage[], string[]] = [[], []];
  for (const one of going) {
    const uses = [usages.get(one), ...(await instancesOf(reader, one))].filter((use) => use !== undefined);
    inUse.push(...uses);
    const isDefinition = one.resource.kind === definitions.kind;
    if (uses.length === 0 && isDefinition) return { objects: [one], inUse };
    if (uses.length === 0) objects.push(one);
    if (objects.length === mostAtOnce) break;
  }
  return { objects, inUse };
}

/** The objects without their label, and without the owners that go. Without another revision, a package transaction would be the last owner. */
async function keptOf(reader: PackageReader, going: readonly Garbage[], parts: Parts): Promise<readonly Orphan[]> {
  const leaving = new Set(holdersOf(parts).map(uidOf));
  const found = await inTurn(going, async ({ resource, object }) => {
    const live = await find(reader, { resource, name: textAt(object, 'metadata', 'name') ?? '' });
    if (live === undefined) return [];
    const staying = ownersIn(live).filter((owner) => !leaving.has(textAt(owner, 'uid') ?? ''));
    const owners = staying.some(isRevision) ? staying : staying.filter((owner) => !isPackageTransaction(owner));
    return [{ resource, live: withPath(live, ['metadata', 'labels', revisionLabel], undefined), owners }];
  });
  return found.flat();
}
