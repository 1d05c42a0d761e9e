// The contents of all stages, read from registries by the digests that the hook resolved.
import { type JsonObject, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { controllerOf } from '../checks/conflicts.ts';
import { present, readLock } from '../model/lock.ts';
import { isRevisionOf } from '../model/names.ts';
import { isActive, isManual } from '../model/package.ts';
import type { PackageTransaction, Wanted } from '../model/package-transaction.ts';
import type { RegistryFailed } from '../registry.ts';
import type { Pause } from '../writes/beside.ts';
import { type Changed, changedPackages } from '../writes/changed.ts';
import type { ChangedPackage, PackageObject, Released } from '../writes/changes.ts';
import { configMaps, definitions, familyLabel, revisionsOfKind, uidLabel } from '../writes/resources.ts';
import { type Part, stagesOf } from '../writes/stages.ts';
import type { WebhookService } from '../writes/webhooks.ts';
import { activeIn, leavingOf, namedPart } from './deletion.ts';
import { imageOf, unsignedPackages } from './image-configs.ts';
import type { Images } from './images.ts';
import { mostValues, objectsOf } from './objects.ts';
import type { Preparation } from './observation.ts';
import { type InstalledObject, installedObjects } from './owners.ts';
import { type Parts, readParts } from './parts.ts';
import { managedDefinition, pausesOf } from './pauses.ts';
import { readInstallPlan } from './planned.ts';
import { type Progress, unlessOver } from './progress.ts';
import { find, list, type PackageReader } from './read.ts';
import { withRemovals } from './removed.ts';

interface PreparationContext {
  readonly reader: PackageReader;
  readonly registry: Images;
  readonly ptx: PackageTransaction;
  readonly wanted: Wanted;
  readonly lock: JsonObject;
  readonly progress: Progress;
  readonly isBeside?: boolean;
  /** Of a dry run. */
  readonly servers?: WebhookService | undefined;
}

/** An ImageConfig may have come since the hook resolved the tree: images are verified again before the first write. */
export async function readPreparation(context: PreparationContext): Promise<Preparation> {
  const changed = await changedNow(context);
  const { registry, progress } = context;
  const unsigned = await unsignedPackages(registry, changed, progress);
  if (unsigned === 'unfinished') return { kind: 'unfinished' };
  if ('kind' in unsigned) return unlessOver(progress.isOver, unsigned);
  const [fault] = unsigned;
  return fault === undefined
    ? readContents(context, changed)
    : { kind: 'failed', failure: { kind: 'invalid', message: fault.message } };
}

async function readContents(context: PreparationContext, changed: readonly Changed[]): Promise<Preparation> {
  const { reader, ptx, registry, progress } = context;
  const isActivated = await isToActivate(context, changed);
  const read = await readObjects(registry, isActivated ? changed : changed.filter(({ isRoot }) => isRoot));
  if ('kind' in read) return unlessOver(progress.isOver, read);
  const { packages, objects } = isActivated ? read : { ...read, objects: [] };
  const released = isActivated ? await leftOut(reader, packages, objects) : [];
  const leaving = leavingOf(ptx);
  const left = leaving === undefined ? noParts : await readParts(reader, leaving);
  if (ptx.isDryRun)
    return { kind: 'planned', plan: await readInstallPlan({ ...context, packages, objects, released, left, isActivated }) };
  const found = await list(reader, configMaps, reader.namespace, { labelSelector: `${uidLabel}=${ptx.uid}` });
  const existing = new Set(found.map((object) => textAt(object, 'metadata', 'name') ?? ''));
  const [activated, taken] = isActivated ? [packages, objects] : [[], []];
  const pauses = context.isBeside === true ? await pausesOf(reader, { packages: activated, objects: taken, left }) : [];
  const deactivated = [...left.packages, ...activeIn(left)].map(namedPart);
  const prepared = stagesOf(ptx, partsOf({ packages, pauses, objects, released, deactivated, activated }), reader.gzip);
  return { kind: 'ready', prepared, existing };
}

const noParts: Parts = { packages: [], revisions: [], objects: [] };

/** With `revisionActivationPolicy: Manual` a revision stays Inactive until a user makes it Active. */
async function isToActivate({ reader, wanted }: PreparationContext, changed: readonly Changed[]): Promise<boolean> {
  // The revision takes the place of one that is Active.
  if (!isManual(wanted.spec) || wanted.replaces !== undefined) return true;
  const name = changed.find(({ isRoot }) => isRoot)?.revision ?? '';
  const live = await find(reader, { resource: revisionsOfKind(wanted.kind), name });
  return isActive(live);
}

type ReadObjects = Pick<StageParts, 'packages' | 'objects'>;

async function readObjects(registry: Images, changed: readonly Changed[]): Promise<ReadObjects | RegistryFailed> {
  const packages: ChangedPackage[] = [];
  const objects: PackageObject[] = [];
  const room = { left: mostValues };
  for (const one of changed) {
    const read = await objectsOf(one.source, one.digest, registry, room);
    if ('kind' in read) return read;
    packages.push(packageOf(one, read.meta, registry));
    // The hook never installs an object that a Function holds.
    const own = one.kind === 'Function' ? [] : read.objects;
    objects.push(...own.map((object) => ({ kind: one.kind, name: one.name, revision: one.revision, object })));
  }
  return { packages, objects };
}

function packageOf(one: Changed, meta: JsonObject | undefined, images: Images): ChangedPackage {
  const family = textAt(meta, 'metadata', 'labels', familyLabel);
  return { ...one, ...(family === undefined ? {} : { family }), imageConfigs: images.applied(imageOf(one)) };
}

async function changedNow({ reader, ptx, wanted, lock }: PreparationContext): Promise<readonly Changed[]> {
  // The Lock is as it was resolved, so it can be read.
  const entries = readLock(lock);
  const installed = typeof entries === 'string' ? [] : present(await withRemovals(reader, entries));
  const before = installed.map(({ entry }) => entry);
  return changedPackages(wanted, before, ptx.status.proposed ?? []);
}

interface StageParts {
  readonly packages: readonly ChangedPackage[];
  readonly pauses: readonly Pause[];
  readonly objects: readonly PackageObject[];
  readonly released: readonly Released[];
  /** Package objects that become Manual, and revisions that become Inactive, of a Replace. */
  readonly deactivated: readonly object[];
  /** The packages whose revision becomes Active. */
  readonly activated: readonly ChangedPackage[];
}

function partsOf({ packages, pauses, objects, released, deactivated, activated }: StageParts): readonly Part[] {
  const stored = (items: readonly object[]) => items as unknown as readonly JsonObject[];
  const items = stored(packages);
  return [
    { purpose: 'Packages', items, changesPerItem: 1 },
    { purpose: 'Revisions', items, changesPerItem: 1 },
    { purpose: 'Pauses', items: stored(pauses), changesPerItem: 1 },
    { purpose: 'Objects', items: stored(objects), changesPerItem: 1 },
    { purpose: 'Releases', items: stored(released), changesPerItem: 1 },
    { purpose: 'Deactivation', items: stored(deactivated), changesPerItem: 1 },
    { purpose: 'Activation', items: stored(activated), changesPerItem: 2 },
  ];
}

/**
 * Objects that a new version leaves out, and that a revision of its package still controls. `objects`: the objects that these
 * packages hold now. If the revision in control is gone, the object needs no release.
 */
async function leftOut(
  reader: PackageReader,
  packages: readonly ChangedPackage[],
  objects: readonly PackageObject[],
): Promise<readonly Released[]> {
  const held = new Set(objects.flatMap(({ object }) => [keyOf(textAt(object, 'kind'), object), ...managedBy(object)]));
  const others = (await installedObjects(reader)).filter(({ resource, object }) => !held.has(keyOf(resource.kind, object)));
  const kinds = [...new Set(packages.map(({ kind }) => kind))];
  const own = await inTurn(kinds, async (kind) => {
    const revisions = others.length === 0 ? [] : await list(reader, revisionsOfKind(kind), undefined, { whole: true });
    const ofKind = packages.filter((one) => one.kind === kind);
    return revisions.filter((one) => ofKind.some((changed) => isRevisionOf(changed, textAt(one, 'metadata', 'name') ?? '', one)));
  });
  const uids = new Set(own.flat().map((one) => textAt(one, 'metadata', 'uid')));
  return others.flatMap((one) => releasedFrom(one, uids));
}

/** Crossplane makes a ManagedResourceDefinition of the CRD, and gives it our label. */
function managedBy(object: JsonObject): readonly string[] {
  return textAt(object, 'kind') === definitions.kind ? [keyOf(managedDefinition.kind, object)] : [];
}

function keyOf(kind: string | undefined, object: JsonObject): string {
  return `${kind} ${textAt(object, 'metadata', 'name')}`;
}

function releasedFrom({ resource, object }: InstalledObject, uids: ReadonlySet<string | undefined>): readonly Released[] {
  const owner = controllerOf(object);
  if (owner === undefined || !uids.has(textAt(owner, 'uid'))) return [];
  const { group, version, kind } = resource;
  return [{ target: { apiVersion: `${group}/${version}`, kind, name: textAt(object, 'metadata', 'name') ?? '' }, owner }];
}
