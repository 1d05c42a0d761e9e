// What is in the cluster of packages that leave: the package objects, their revisions, and the objects that the revisions hold.
import type { Resource } from '../../objects/cluster.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { controllerOf, isLeaving, ownersIn } from '../checks/conflicts.ts';
import { installedKinds } from '../checks/contents.ts';
import { packageLabel, sourceOfPackage, sourceOfRevision } from '../model/names.ts';
import { packageKinds } from '../model/package.ts';
import { packagesOfKind, revisionLabel, revisionsOfKind } from '../writes/resources.ts';
import { resourceOf } from './objects.ts';
import type { Garbage } from './observation.ts';
import { list, type PackageReader } from './read.ts';

/** The packages that leave. */
export interface DeletedPackages {
  readonly sources: readonly string[];
  /** The uid of the Package that made the package transaction: another one may have its name and its source. */
  readonly packageUid?: string | undefined;
  /** If given, only package objects and revisions with these uids leave: others were made since the first deletion. */
  readonly uids?: readonly string[] | undefined;
  /** The names that the Lock has for their revisions. */
  readonly installed?: readonly string[];
  /** The objects are those of a Replace: they stay, and lose each reference to a package or a revision that leaves. */
  readonly isReplaced: boolean;
}

/** The objects of packages. */
export interface Parts {
  readonly packages: readonly Garbage[];
  readonly revisions: readonly Garbage[];
  /**
   * The objects that the revisions control, with their metadata. Of a Replace also those that they only own. Of a Delete also those
   * with the label of the revision and without another controller: somebody may have deleted the revision, and the garbage collector
   * takes the reference to it away.
   */
  readonly objects: readonly Garbage[];
}

export async function readParts(reader: PackageReader, leaving: DeletedPackages): Promise<Parts> {
  const all = await readHolders(reader, leaving);
  const isListed = (one: Garbage): boolean => leaving.uids === undefined || leaving.uids.includes(uidOf(one));
  const held = { packages: all.packages.filter(isListed), revisions: all.revisions.filter(isListed) };
  // A revision that was made since the first deletion has the objects.
  const later = new Set(all.revisions.filter((one) => !isListed(one)).map(({ object }) => textAt(object, 'metadata', 'name')));
  const names = (leaving.installed ?? []).filter((name) => !later.has(name));
  // Crossplane makes the package object an owner, too.
  const owners = leaving.isReplaced ? [...held.revisions, ...held.packages] : held.revisions;
  const uids = new Set(owners.map(uidOf));
  if (uids.size + names.length === 0) return { ...held, objects: [] };
  const resources = await inTurn(installedKinds, async ({ apiVersion, kind }) => resourceOf(reader, { apiVersion, kind }));
  const objects = await inTurn(
    resources.filter((one) => one !== undefined),
    async (resource) => (await list(reader, resource, undefined, {})).map((object) => ({ resource, object })),
  );
  const isHeld = (object: JsonObject): boolean =>
    leaving.isReplaced
      ? ownersIn(object).some((owner) => uids.has(textAt(owner, 'uid') ?? ''))
      : uids.has(textAt(controllerOf(object), 'uid') ?? '') || isLabelled(object, names);
  return { ...held, objects: objects.flat().filter(({ object }) => isHeld(object)) };
}

/** Whether the object has the label of one of these revisions, and no other owner controls it. */
function isLabelled(object: JsonObject, names: readonly string[]): boolean {
  const controller = controllerOf(object);
  const isFree = controller === undefined || isLeaving(controller, names);
  return isFree && names.includes(textAt(object, 'metadata', 'labels', revisionLabel) ?? '');
}

/** The package objects and their revisions, also those that were made since the first deletion. */
export async function readHolders(
  reader: PackageReader,
  { sources, packageUid }: DeletedPackages,
): Promise<Pick<Parts, 'packages' | 'revisions'>> {
  const isSource = (source: string | undefined): boolean => source !== undefined && sources.includes(source);
  const isMeant = (one: JsonObject): boolean =>
    packageUid === undefined ? isSource(sourceOfPackage(one)) : textAt(one, 'metadata', 'uid') === packageUid;
  const packages = await ofKinds(packageKinds.map(packagesOfKind), reader, isMeant);
  const names = new Set(packages.map(({ object }) => textAt(object, 'metadata', 'name')));
  const isOwn = (one: JsonObject): boolean =>
    isSource(sourceOfRevision(one)) || names.has(textAt(one, 'metadata', 'labels', packageLabel));
  return {
    packages,
    revisions: await ofKinds(packageKinds.map(revisionsOfKind), reader, isOwn),
  };
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

export function uidOf({ object }: Garbage): string {
  return textAt(object, 'metadata', 'uid') ?? '';
}

export function partName({ resource, object }: Garbage): string {
  return `${resource.kind} ${textAt(object, 'metadata', 'name')}`;
}
