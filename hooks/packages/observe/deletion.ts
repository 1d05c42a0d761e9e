// A package that is being deleted: whether anything needs it, and what is left of it. Everything is read live, so any process may go on.
// Between the count of instances and the deletion of their CRD lies one request of this call.
import type { Resource } from '../../objects/cluster.ts';
import { isTerminating } from '../../objects/content/ownership.ts';
import { at, type JsonObject, objectAt, objectsAt, textAt } from '../../objects/json.ts';
import { groupOf } from '../../objects/reference.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { controllerOf, ownersIn } from '../checks/conflicts.ts';
import { installedKinds } from '../checks/contents.ts';
import { finalFault, type PackageFault, packageFault } from '../model/fault.ts';
import { type Installed, present, readLock } from '../model/lock.ts';
import { packageLabel, sourceOfRevision } from '../model/names.ts';
import { packageKinds, quoted } from '../model/package.ts';
import { type Deletion, keepsObjects, type PackageTransaction } from '../model/package-transaction.ts';
import { readReference } from '../model/reference.ts';
import { hasFinalizer, isPaused } from '../writes/beside.ts';
import { isPackageTransaction } from '../writes/owners.ts';
import { configMaps, definitions, packagesOfKind, revisionsOfKind, uidLabel } from '../writes/resources.ts';
import { stagesOf } from '../writes/stages.ts';
import { resourceOf } from './objects.ts';
import type { DeletionState, Garbage, Orphan, Preparation, Validation } from './observation.ts';
import { managedDefinition } from './pauses.ts';
import { deletionPlan } from './planned.ts';
import { checkAll, type Progress } from './progress.ts';
import { find, firstObjects, list, type PackageReader, served } from './read.ts';
import { withRemovals } from './removed.ts';

interface DeletionContext {
  readonly reader: PackageReader;
  readonly ptx: PackageTransaction;
  readonly deletion: Deletion;
}

/** Valid if nothing needs the package, or if an earlier try has deleted a part of it. */
export async function readDeletable(context: DeletionContext, lock: JsonObject, progress: Progress): Promise<Validation> {
  const { reader, ptx, deletion } = context;
  const { source } = deletion;
  const entries = readLock(lock);
  if (typeof entries === 'string')
    return refused([finalFault('InvalidPackage', `${entries}: repair the Lock, by kubectl edit locks.pkg.crossplane.io lock`)]);
  const rest = entries.filter((one) => one.source !== source);
  const valid = { kind: 'valid', lock: rest.map(({ entry }) => entry) } as const;
  if (ptx.status.deletionTime !== undefined) return valid;
  if (rest.length === entries.length) return refused([notInstalled(source, entries)]);
  const parts = await readParts(context);
  const faults = [
    ...notDeleted(ptx, parts),
    ...requiredBy(source, present(await withRemovals(reader, rest))),
    ...[...(await protectedBy(reader, parts)).values()].map(useFault),
  ];
  if (faults.length > 0) return refused(faults);
  if (keeps(ptx, parts)) return valid;
  const inUse = await checkAll(parts.objects, nameOf, async (one) => (await instancesOf(reader, one)).map(useFault), progress);
  if (inUse === 'unfinished') return { kind: 'unfinished' };
  return inUse.length > 0 ? refused(inUse) : valid;
}

function refused(faults: readonly PackageFault[]): Validation {
  return { kind: 'refused', faults };
}

const useFault = (message: string): PackageFault => packageFault('ResourcesInUse', message);

function notInstalled(source: string, entries: readonly Installed[]): PackageFault {
  const there = entries.length === 0 ? 'no package' : entries.map((one) => one.source).join(', ');
  return finalFault(
    'InvalidPackage',
    `spec.delete.source: expected the source of an installed package, found ${quoted(source)}; the Lock holds ${there}`,
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

/** The objects of a package. */
interface Parts {
  readonly packages: readonly Garbage[];
  readonly revisions: readonly Garbage[];
  /** The objects that its revisions control, with their metadata. */
  readonly objects: readonly Garbage[];
}

async function readParts({ reader, ptx: { packageUid }, deletion: { source } }: DeletionContext): Promise<Parts> {
  // Another Package may have the name and the source since the one that made the package transaction is gone.
  const isMeant = (one: JsonObject): boolean =>
    packageUid === undefined ? sourceOf(one) === source : textAt(one, 'metadata', 'uid') === packageUid;
  const packages = await ofKinds(packageKinds.map(packagesOfKind), reader, isMeant);
  const names = new Set(packages.map(({ object }) => textAt(object, 'metadata', 'name')));
  const isOwn = (one: JsonObject): boolean =>
    sourceOfRevision(one) === source || names.has(textAt(one, 'metadata', 'labels', packageLabel));
  const revisions = await ofKinds(packageKinds.map(revisionsOfKind), reader, isOwn);
  const uids = new Set(revisions.map(({ object }) => textAt(object, 'metadata', 'uid')));
  const resources = await inTurn(installedKinds, async ({ apiVersion, kind }) => resourceOf(reader, { apiVersion, kind }));
  const all = await inTurn(
    resources.filter((one) => one !== undefined),
    async (resource) => (await list(reader, resource, undefined, {})).map((object) => ({ resource, object })),
  );
  const objects = all.flat().filter(({ object }) => uids.has(textAt(controllerOf(object), 'uid') ?? ''));
  return { packages, revisions, objects: uids.size === 0 ? [] : objects };
}

async function ofKinds(
  resources: readonly Resource[],
  reader: PackageReader,
  isWanted: (object: JsonObject) => boolean,
): Promise<readonly Garbage[]> {
  const found = await inTurn(resources, async (resource) => {
    const all = await list(reader, resource, undefined, { whole: true });
    return all.filter(isWanted).map((object) => ({ resource, object }));
  });
  return found.flat();
}

function sourceOf(object: JsonObject): string | undefined {
  return readReference(textAt(object, 'spec', 'package') ?? '')?.source;
}

function nameOf({ resource, object }: Garbage): string {
  return `${resource.kind} ${textAt(object, 'metadata', 'name')}`;
}

function keeps(ptx: PackageTransaction, { packages }: Parts): boolean {
  return [ptx, ...packages.map(({ object }) => ({ annotations: objectAt(object, 'metadata', 'annotations') }))].some(
    keepsObjects,
  );
}

const shownInstances = 3;

/** Why a CRD must stay, in words. */
async function instancesOf(reader: PackageReader, { resource, object }: Garbage): Promise<readonly string[]> {
  if (resource.kind !== definitions.kind) return [];
  const live = await find(reader, { resource, name: textAt(object, 'metadata', 'name') ?? '' });
  const version = objectsAt(live, 'spec', 'versions').find((one) => at(one, 'served') === true);
  if (live === undefined) return [];
  const what = `CRD ${textAt(live, 'metadata', 'name')}`;
  if (version === undefined) return [`${what} serves no version, so its instances cannot be counted: serve one, or keep it`];
  const { items, isMore } = await firstObjects(reader, kindIn(live, textAt(version, 'name') ?? ''));
  if (items.length === 0) return [];
  const names = items.slice(0, shownInstances).map((one) => {
    const [namespace, name] = [textAt(one, 'metadata', 'namespace'), textAt(one, 'metadata', 'name')];
    return quoted(namespace === undefined ? name : `${namespace}/${name}`);
  });
  const count = `${isMore ? 'at least ' : ''}${items.length} ${items.length === 1 ? 'instance' : 'instances'}`;
  return [`${what} has ${count}, such as ${names.join(', ')}: delete them first`];
}

function kindIn(definition: JsonObject, version: string): Resource {
  const [group = '', names] = [textAt(definition, 'spec', 'group'), at(definition, 'spec', 'names')];
  return {
    ...{ group, version, verbs: ['list'], statusSubresource: false },
    plural: textAt(names, 'plural') ?? '',
    kind: textAt(names, 'kind') ?? '',
    namespaced: textAt(definition, 'spec', 'scope') === 'Namespaced',
  };
}

/** https://docs.crossplane.io/latest/managed-resources/usages/. The last two are one kind in two versions of Crossplane. */
const usageKinds = [
  ['protection.crossplane.io/v1beta1', 'ClusterUsage'],
  ['apiextensions.crossplane.io/v1beta1', 'Usage'],
  ['apiextensions.crossplane.io/v1alpha1', 'Usage'],
] as const;

/** Objects of the package that a Usage protects, each with the reason in words. */
async function protectedBy(reader: PackageReader, parts: Parts): Promise<ReadonlyMap<Garbage, string>> {
  const targets = [...parts.packages, ...parts.revisions, ...parts.objects];
  const found = await inTurn(usageKinds, async ([apiVersion, kind]) => {
    const resource = await served(reader, apiVersion, kind);
    const usages = resource === undefined ? [] : await list(reader, resource, undefined, { whole: true });
    return usages.flatMap((usage) => {
      const used = targets.filter((one) => isUsed(at(usage, 'spec', 'of'), one));
      const name = quoted(textAt(usage, 'metadata', 'name'));
      return used.map((one) => [one, `${kind} ${name} protects ${nameOf(one)}: delete it first`] as const);
    });
  });
  return new Map(found.flat());
}

function isUsed(of: ReturnType<typeof at>, { resource, object }: Garbage): boolean {
  if (textAt(of, 'kind') !== resource.kind || groupOf(textAt(of, 'apiVersion') ?? '') !== resource.group) return false;
  const name = textAt(of, 'resourceRef', 'name');
  if (name !== undefined) return name === textAt(object, 'metadata', 'name');
  const labels = objectAt(object, 'metadata', 'labels');
  return Object.entries(objectAt(of, 'resourceSelector', 'matchLabels')).every(([key, value]) => labels[key] === value);
}

/** The stage that makes the revisions Inactive. */
export async function readDeactivation(context: DeletionContext, lock: JsonObject): Promise<Preparation> {
  const { reader, ptx, deletion } = context;
  const parts = await readParts(context);
  if (ptx.isDryRun) return { kind: 'planned', plan: deletionPlan(lock, { ...deletion, ...parts, isKept: keeps(ptx, parts) }) };
  const { revisions } = parts;
  const active = revisions.filter(({ object }) => textAt(object, 'spec', 'desiredState') === 'Active' && !isTerminating(object));
  const items = active.map(({ resource, object }) => ({ kind: resource.kind, name: textAt(object, 'metadata', 'name') ?? '' }));
  const prepared = stagesOf(ptx, [{ purpose: 'Deactivation', items, changesPerItem: 1 }], reader.gzip);
  const stored = await list(reader, configMaps, reader.namespace, { labelSelector: `${uidLabel}=${ptx.uid}` });
  return { kind: 'ready', prepared, existing: new Set(stored.map((one) => textAt(one, 'metadata', 'name') ?? '')) };
}

/** How many objects a call deletes at most. Of CRDs it deletes one: the count of its instances must not grow old. */
const mostAtOnce = 20;

/** Before the first deletion only the uses of all objects count. */
export async function readDeletionState(context: DeletionContext, lock: JsonObject): Promise<DeletionState> {
  const { reader, ptx } = context;
  const parts = await readParts(context);
  const usages = await protectedBy(reader, parts);
  const isKept = keeps(ptx, parts);
  if (ptx.status.deletionTime !== undefined)
    return nextDeletions(reader, { ...parts, usages, isKept, requirers: await requirersNow(context, lock) });
  const inUse = isKept ? [] : await inTurn(parts.objects, (one) => instancesOf(reader, one));
  return { objects: [], kept: [], inUse: [...usages.values(), ...inUse.flat()], terminating: [] };
}

/** The packages that require the package now, in words. A package may have come into the Lock since the first deletion. */
async function requirersNow({ reader, deletion: { source } }: DeletionContext, lock: JsonObject): Promise<readonly string[]> {
  const entries = readLock(lock);
  const others = typeof entries === 'string' ? [] : entries.filter((one) => one.source !== source);
  if (requiredBy(source, others).length === 0) return [];
  return requiredBy(source, present(await withRemovals(reader, others))).map(({ message }) => message);
}

interface Leaving extends Parts {
  /** Why an object must stay, in words. */
  readonly usages: ReadonlyMap<Garbage, string>;
  readonly isKept: boolean;
  /** Why the whole package must stay, in words. Without its revisions a package is of no use to others. */
  readonly requirers: readonly string[];
}

/** Objects go before their revisions, and revisions before the package: each kind goes once nothing is left of the kind before. */
async function nextDeletions(reader: PackageReader, leaving: Leaving): Promise<DeletionState> {
  const { objects, revisions, packages, isKept, requirers } = leaving;
  const left = [objects, revisions, packages].find((some) => some.length > 0) ?? [];
  const terminating = left.filter(({ object }) => isTerminating(object)).map(nameOf);
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

async function unused(reader: PackageReader, going: readonly Garbage[], { usages }: Leaving): Promise<Unused> {
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

/** The objects without the owners that go. */
async function keptOf(
  reader: PackageReader,
  going: readonly Garbage[],
  { revisions, packages }: Parts,
): Promise<readonly Orphan[]> {
  const leaving = new Set([...revisions, ...packages].map(({ object }) => textAt(object, 'metadata', 'uid')));
  const found = await inTurn(going, async ({ resource, object }) => {
    const live = await find(reader, { resource, name: textAt(object, 'metadata', 'name') ?? '' });
    if (live === undefined) return [];
    const owners = ownersIn(live).filter((owner) => !leaving.has(textAt(owner, 'uid')) && !isPackageTransaction(owner));
    return [{ resource, live, owners }];
  });
  return found.flat();
}
