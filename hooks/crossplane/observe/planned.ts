// What a dry run answers: the packages and objects that change. The API server makes each object by a dry run, so that defaults and
// webhooks count. It raises the generation of an object if the content changes.
import { at, equalJson, type JsonObject, objectAt, textAt, withKey } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { controllerOf } from '../checks/conflicts.ts';
import { type Installed, readLock } from '../model/lock.ts';
import { nameInRevision, sourceOfPackage } from '../model/names.ts';
import { packageApiVersion } from '../model/package.ts';
import type { PackageTransaction, Wanted } from '../model/package-transaction.ts';
import { boundedPlan, type PackagePlan, type PlannedObject, type PlannedPackage } from '../model/plan.ts';
import { type ChangedPackage, installedObject, type PackageObject, type Released } from '../writes/changes.ts';
import { nameLabel, packagesOfKind, revisionLabel, revisionsOfKind, writeOf } from '../writes/resources.ts';
import type { WebhookService } from '../writes/webhooks.ts';
import { activeRevisions, resourceOf } from './objects.ts';
import type { Garbage } from './observation.ts';
import type { Parts } from './parts.ts';
import { find, type PackageReader, ReadFailed } from './read.ts';
import { readRetired } from './retired.ts';

interface Planning {
  readonly reader: PackageReader;
  readonly ptx: PackageTransaction;
  readonly wanted: Wanted;
  readonly lock: JsonObject;
  readonly packages: readonly ChangedPackage[];
  readonly objects: readonly PackageObject[];
  readonly released: readonly Released[];
  /** The packages that leave, of a Replace. */
  readonly left: Parts;
  readonly servers?: WebhookService | undefined;
  /** False if the revision stays Inactive, and its objects as they are. */
  readonly isActivated: boolean;
}

export async function readInstallPlan(planning: Planning): Promise<PackagePlan> {
  const { reader, ptx, wanted, lock, packages, objects, released } = planning;
  const leaving = replacedIn(planning);
  const [before, after] = [entriesOf(lock), entriesOf({ packages: ptx.status.proposed ?? [] })];
  const revisions = await inTurn(packages, (one) => revisionsOf(planning, one));
  const retired = await readRetired(reader, packages, wanted);
  const changed = await inTurn(objects, (one) => objectOf(planning, one), atOnce);
  const all = [
    ...retired.revisions.map((one): PlannedObject => ({ operation: 'Delete', ...nameOf(one), from: 'Inactive' })),
    ...released.map(
      ({ target, owner }): PlannedObject => ({
        operation: 'Release',
        ...referenceOf(target, textAt(target, 'name')),
        from: textAt(owner, 'name') ?? '',
      }),
    ),
    ...revisions.flat(),
    ...changed.flat(),
    ...leaving.objects,
  ];
  const unchanged = changed.filter((found) => found.length === 0).length;
  const named = [...leaving.packages, ...packages.map((one) => packageOf(one, before, after))];
  return boundedPlan({ packages: named, objects: all, unchanged });
}

/** The packages that leave, with their successors. The objects that the new packages take are in the list of their objects. */
function replacedIn({ ptx, lock, objects, left }: Planning): Listed {
  const taken = new Set(objects.map(({ object }) => keyOf(referenceOf(object, textAt(object, 'metadata', 'name')))));
  const staying = left.objects.filter((one) => !taken.has(keyOf(nameOf(one))));
  const lists = (ptx.status.replaced ?? []).map(({ source, by }) => {
    const isOwn = (one: Garbage): boolean => sourceOfPackage(one.object) === source;
    const { packages } = leavingLists(lock, { ...left, source, packages: left.packages.filter(isOwn), isKept: true });
    return packages.map((one): PlannedPackage => ({ ...one, replacedBy: by }));
  });
  return { ...leavingLists(lock, { ...left, objects: staying, packages: [], source: '', isKept: true }), packages: lists.flat() };
}

function keyOf({ kind, name }: Pick<PlannedObject, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}

const atOnce = 8;

type Entries = ReadonlyMap<string, Installed>;

/** The hook has read the Lock before. */
function entriesOf(lock: JsonObject): Entries {
  const read = readLock(lock);
  return new Map((typeof read === 'string' ? [] : read).map((entry) => [entry.source, entry]));
}

function packageOf({ kind, name, source }: ChangedPackage, before: Entries, after: Entries): PlannedPackage {
  const [old, next] = [before.get(source), after.get(source)];
  const isSame = old?.tag === next?.tag && (old?.digest === undefined || old.digest === next?.digest);
  return {
    operation: old === undefined ? 'Create' : isSame ? 'None' : 'Update',
    ...{ kind, name, source },
    ...versionOf('from', old),
    ...versionOf('to', next),
    requiredBy: requirersOf(source, after),
  };
}

function versionOf(key: 'from' | 'to', entry: Installed | undefined): { readonly from?: string; readonly to?: string } {
  return entry === undefined ? {} : { [key]: textAt(entry.entry, 'version') ?? '' };
}

function requirersOf(source: string, entries: Entries): PlannedPackage['requiredBy'] {
  return [...entries.values()].flatMap((entry) =>
    entry.dependencies
      .filter((dependency) => dependency.package === source)
      .map(({ constraints }) => ({ package: entry.source, constraints })),
  );
}

/** The revision of a package, and the revisions that become Inactive. */
async function revisionsOf({ reader, isActivated }: Planning, one: ChangedPackage): Promise<readonly PlannedObject[]> {
  const kind = `${one.kind}Revision`;
  const live = await find(reader, { resource: revisionsOfKind(one.kind), name: one.revision });
  const from = live === undefined ? {} : { from: textAt(live, 'spec', 'desiredState') ?? '' };
  const to = isActivated ? 'Active' : 'Inactive';
  const active = isActivated ? await activeRevisions(reader, one.kind, one) : [];
  const of = (name: string) => ({ apiVersion: packageApiVersion, kind, name });
  const own: readonly PlannedObject[] =
    from.from === to ? [] : [{ operation: live === undefined ? 'Create' : 'Update', ...of(one.revision), ...from, to }];
  const leaving = active.filter(({ name }) => name !== one.revision);
  return [
    ...own,
    ...leaving.map(({ name }): PlannedObject => ({ operation: 'Update', ...of(name), from: 'Active', to: 'Inactive' })),
  ];
}

/** Empty if the object stays as it is, with its controller. */
async function objectOf({ reader, ptx, wanted, servers }: Planning, one: PackageObject): Promise<readonly PlannedObject[]> {
  const { object, revision: to } = one;
  const name = textAt(object, 'metadata', 'name') ?? '';
  const resource = await resourceOf(reader, object);
  const live = resource === undefined ? undefined : await find(reader, { resource, name });
  const target = { ...referenceOf(object, name), to };
  if (resource === undefined || live === undefined) return [{ operation: 'Create', ...target }];
  const spec = await specOf(reader, wanted, one);
  const next = installedObject(one, live, { ...ptx, servers }, { spec });
  const answer = await reader.cluster.dryRun(writeOf({ resource, name }, next, reader.namespace, live));
  if (answer.kind === 'failed') throw new ReadFailed(answer.failure);
  const owner = textAt(controllerOf(live), 'name');
  const planned = { ...target, ...(owner === undefined ? {} : { from: owner }) };
  if (isChanged(live, answer.object)) return [{ operation: 'Update', ...planned }];
  return owner === to ? [] : [{ operation: 'HandOver', ...planned }];
}

async function specOf(reader: PackageReader, wanted: Wanted, { kind, name }: PackageObject): Promise<JsonObject> {
  if (name === wanted.name && kind === wanted.kind) return wanted.spec;
  return objectAt(await find(reader, { resource: packagesOfKind(kind), name }), 'spec');
}

/** Every package transaction sets its own label, and a handover sets that of the revision. */
function isChanged(live: JsonObject, next: JsonObject): boolean {
  const labels = (object: JsonObject): JsonObject =>
    withKey(withKey(objectAt(object, 'metadata', 'labels'), nameLabel, undefined), revisionLabel, undefined);
  const annotations = (object: JsonObject): JsonObject => objectAt(object, 'metadata', 'annotations');
  const isSame = at(live, 'metadata', 'generation') === at(next, 'metadata', 'generation');
  return !isSame || !equalJson(labels(live), labels(next)) || !equalJson(annotations(live), annotations(next));
}

function referenceOf(object: JsonObject, name = ''): Pick<PlannedObject, 'apiVersion' | 'kind' | 'name'> {
  return { apiVersion: textAt(object, 'apiVersion') ?? '', kind: textAt(object, 'kind') ?? '', name };
}

function nameOf({ resource: { group, version, kind }, object }: Garbage): Pick<PlannedObject, 'apiVersion' | 'kind' | 'name'> {
  return { apiVersion: `${group}/${version}`, kind, name: textAt(object, 'metadata', 'name') ?? '' };
}

/** The objects of a package that is deleted. */
interface Leaving {
  readonly source: string;
  readonly packages: readonly Garbage[];
  readonly revisions: readonly Garbage[];
  readonly objects: readonly Garbage[];
  /** The objects stay, without owners. */
  readonly isKept: boolean;
}

export function deletionPlan(lock: JsonObject, leaving: Leaving): PackagePlan {
  return boundedPlan({ ...leavingLists(lock, leaving), unchanged: 0 });
}

type Listed = Pick<PackagePlan, 'packages' | 'objects'>;

function leavingLists(lock: JsonObject, { source, packages, revisions, objects, isKept }: Leaving): Listed {
  const entry = entriesOf(lock).get(source);
  const of = (kind: string, name: string): PlannedPackage => {
    return { operation: 'Delete', kind, name, source, ...versionOf('from', entry), requiredBy: [] };
  };
  const named = packages.map(({ resource, object }) => of(resource.kind, textAt(object, 'metadata', 'name') ?? ''));
  const lost = entry === undefined ? [] : [of(textAt(entry.entry, 'kind') ?? '', nameInRevision(entry.name))];
  const gone = revisions.map((one): PlannedObject => {
    return { operation: 'Delete', ...nameOf(one), from: textAt(one.object, 'spec', 'desiredState') ?? '' };
  });
  const left = objects.map((one): PlannedObject => {
    return { operation: isKept ? 'Keep' : 'Delete', ...nameOf(one), from: textAt(controllerOf(one.object), 'name') ?? '' };
  });
  return { packages: named.length > 0 ? named : lost, objects: [...gone, ...left] };
}
