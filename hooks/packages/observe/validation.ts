// Reads the tree from registries, compares it with the cluster, and tries every write by a dry run.
import { type JsonObject, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { lostEntry, otherKind, otherName, sharedNames, takenName } from '../checks/names.ts';
import { finalFault, type PackageFault, packageFault } from '../model/fault.ts';
import { type Installed, readLock } from '../model/lock.ts';
import { kindOf } from '../model/package.ts';
import type { PackageTransaction, Wanted } from '../model/package-transaction.ts';
import type { Version } from '../model/version.ts';
import type { Registry, RegistryFailed } from '../registry.ts';
import { changedPackages } from '../writes/changed.ts';
import { packagesOfKind } from '../writes/resources.ts';
import { compareWithLive, type Live, leavingIn, liveVersionOf } from './comparison.ts';
import { digestedByRegistries, digestedByRevisions } from './digests.ts';
import { dryRunAll } from './dry-run.ts';
import { activeRevisions, objectsOf, resourceOf } from './objects.ts';
import type { NotRead, Validation } from './observation.ts';
import type { Progress } from './progress.ts';
import { find, type PackageReader } from './read.ts';
import { readTree, type Tree, type TreePackage } from './tree.ts';

interface TreeScene {
  readonly reader: PackageReader;
  readonly registry: Registry;
  readonly wanted: Wanted;
  readonly lock: JsonObject;
  readonly crossplane: Version | undefined;
}

interface ValidationScene extends TreeScene {
  readonly ptx: PackageTransaction;
  readonly progress: Progress;
}

/** Before the Lock is taken: layers stay in the cache. What is refused now may be valid once the Lock is held. */
export async function readAhead(scene: TreeScene, isOver: () => boolean): Promise<NotRead | undefined> {
  const entries = readLock(scene.lock);
  const tree = typeof entries === 'string' ? undefined : await treeOf(scene, entries);
  if (tree?.kind !== 'failed') return undefined;
  return isOver() ? { kind: 'unfinished' } : tree;
}

function treeOf({ wanted, registry, crossplane }: TreeScene, installed: readonly Installed[]): Promise<Tree> {
  const isSet = (field: string): boolean => wanted.spec[field] === true;
  return readTree(
    {
      name: wanted.name,
      kind: wanted.kind,
      reference: wanted.reference,
      installed,
      skipsDependencies: isSet('skipDependencyResolution'),
      crossplane,
      ignoresCrossplane: isSet('ignoreCrossplaneConstraints'),
    },
    registry,
  );
}

export async function readValidation(scene: ValidationScene): Promise<Validation> {
  const entries = readLock(scene.lock);
  if (typeof entries === 'string')
    return refused(packageFault('InvalidPackage', `${entries}: repair the Lock, by kubectl edit locks.pkg.crossplane.io lock`));
  const other = await otherPackage(scene);
  if (other !== undefined) return refused(other);
  const installed = await digestedByRevisions(scene.reader, entries);
  const tree = await treeOf(scene, installed);
  if (tree.kind === 'failed') return scene.progress.isOver() ? { kind: 'unread' } : tree;
  if (tree.kind === 'refused') return tree;
  const names = await namesTaken(scene, tree.lock, installed);
  if (names.length > 0) return { kind: 'refused', faults: names };
  return (await compared(scene, tree.packages)) ?? tried(scene, tree.packages, tree.lock);
}

/** Package objects that are, or would be, of another source. */
async function namesTaken(
  { reader, wanted, lock }: ValidationScene,
  proposed: readonly JsonObject[],
  installed: readonly Installed[],
): Promise<readonly PackageFault[]> {
  const changed = changedPackages(wanted, packagesIn(lock), proposed);
  const taken = await inTurn(changed, async (one) => {
    const live = await find(reader, { resource: packagesOfKind(one.kind), name: one.name });
    const found = textAt(live, 'spec', 'package');
    const others = takenName(one, found);
    if (installed.some(({ source }) => source === one.source)) return others;
    const active = await activeRevisions(reader, one.kind, one);
    const lost = { packages: active.map(({ packageName }) => packageName), live: found };
    return [...others, ...lostEntry(one, lost)];
  });
  const root = changed.find(({ isRoot }) => isRoot);
  const former = installed.find(({ source }) => source === wanted.reference.source);
  const kinds = new Map(installed.map(({ source, entry }) => [source, kindOf(textAt(entry, 'kind') ?? textAt(entry, 'type'))]));
  const changing = changed.flatMap((one) => otherKind(one, kinds.get(one.source)));
  return [...sharedNames(changed), ...taken.flat(), ...changing, ...(root === undefined ? [] : otherName(root, former?.name))];
}

/** Undefined if no object of the packages breaks what is there. */
async function compared(scene: ValidationScene, packages: readonly TreePackage[]): Promise<Validation | undefined> {
  const { reader, registry, progress } = scene;
  const locked = new Set(packagesIn(scene.lock).map((entry) => textAt(entry, 'name') ?? ''));
  const faults = await compareWithLive(packages, {
    registry,
    live: liveOf(reader),
    locked,
    leaving: leavingIn(packages),
    progress,
  });
  if (faults === 'unfinished') return { kind: 'unfinished' };
  if ('kind' in faults) return unread(scene, faults);
  return faults.length > 0 ? { kind: 'refused', faults } : undefined;
}

function refused(fault: PackageFault): Validation {
  return { kind: 'refused', faults: [fault] };
}

/** A registry that does not answer before the time of the call is over is asked again in the next call. */
function unread({ progress }: ValidationScene, failed: RegistryFailed): Validation {
  return progress.isOver() ? { kind: 'unfinished' } : failed;
}

async function otherPackage({ reader, wanted }: ValidationScene): Promise<PackageFault | undefined> {
  const { kind, name, uid } = wanted;
  const live = uid === undefined ? undefined : await find(reader, { resource: packagesOfKind(kind), name });
  const found = textAt(live, 'metadata', 'uid');
  if (uid === undefined || found === uid) return undefined;
  return finalFault('InvalidPackage', `${kind} ${name}: expected uid ${uid}, found ${found ?? 'no such object'}`);
}

function liveOf(reader: PackageReader): Live {
  return async (object) => {
    const { kind, name } = object;
    const resource = await resourceOf(reader, { apiVersion: liveVersionOf(object), kind });
    return resource === undefined ? undefined : find(reader, { resource, name });
  };
}

async function tried(scene: ValidationScene, packages: readonly TreePackage[], lock: readonly JsonObject[]): Promise<Validation> {
  const sources = new Set(changedPackages(scene.wanted, packagesIn(scene.lock), lock).map(({ source }) => source));
  for (const held of packages.filter(({ source }) => sources.has(source))) {
    const found = await triedPackage(scene, held);
    if (found !== undefined) return found;
  }
  return { kind: 'valid', lock: await digestedByRegistries(scene.registry, lock) };
}

/** Undefined if each of its objects can be made. */
async function triedPackage(scene: ValidationScene, held: TreePackage): Promise<Validation | undefined> {
  const { reader, registry, ptx, progress } = scene;
  const { source, digest, revision, contents } = held;
  if (contents === undefined || contents.objects.length === 0 || digest === undefined) return undefined;
  const read = await objectsOf(source, digest, registry);
  if ('kind' in read) return unread(scene, read);
  const objects = read.objects.map((object) => ({ kind: contents.meta.kind, revision, object }));
  const faults = await dryRunAll(reader, objects, ptx, progress);
  if (faults === 'unfinished') return { kind: 'unfinished' };
  return faults.length > 0 ? { kind: 'refused', faults } : undefined;
}

function packagesIn(lock: JsonObject): readonly JsonObject[] {
  const installed = readLock(lock);
  return typeof installed === 'string' ? [] : installed.map(({ entry }) => entry);
}
