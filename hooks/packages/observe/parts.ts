// What is in the cluster of packages that leave: the package objects, their revisions, and the objects that the revisions hold.
import type { Resource } from '../../objects/cluster.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { isLeaving, ownersIn } from '../checks/conflicts.ts';
import { installedKinds } from '../checks/contents.ts';
import { packageLabel, sourceOfPackage, sourceOfRevision } from '../model/names.ts';
import { packageKinds } from '../model/package.ts';
import { packagesOfKind, revisionsOfKind } from '../writes/resources.ts';
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
  /** The names that the Lock has for their revisions. If such a revision is gone, its objects still name it as their controller. */
  readonly revisionNames?: readonly string[];
  /** The objects are those of a Replace: they stay, and lose each reference to a package or a revision that leaves. */
  readonly isReplaced: boolean;
}

/** The objects of packages. */
export interface Parts {
  readonly packages: readonly Garbage[];
  readonly revisions: readonly Garbage[];
  /** The objects that the revisions control, with their metadata. Of a Replace also those that they only own. */
  readonly objects: readonly Garbage[];
}

export async function readParts(reader: PackageReader, leaving: DeletedPackages): Promise<Parts> {
  const all = await readHolders(reader, { ...leaving, uids: undefined });
  const isListed = (one: Garbage): boolean => leaving.uids === undefined || leaving.uids.includes(uidOf(one));
  const held = { packages: all.packages.filter(isListed), revisions: all.revisions.filter(isListed) };
  // Crossplane makes the package object an owner, too.
  const owners = leaving.isReplaced ? [...held.revisions, ...held.packages] : held.revisions;
  const uids = new Set(owners.map(uidOf));
  const { revisionNames = [] } = leaving;
  if (uids.size + revisionNames.length === 0) return { ...held, objects: [] };
  const resources = await inTurn(installedKinds, async ({ apiVersion, kind }) => resourceOf(reader, { apiVersion, kind }));
  const listed = await inTurn(
    resources.filter((one) => one !== undefined),
    async (resource) => (await list(reader, resource, undefined, {})).map((object) => ({ resource, object })),
  );
  const living = new Set(all.revisions.map(uidOf));
  const isHolder = (owner: JsonObject): boolean => {
    const uid = textAt(owner, 'uid') ?? '';
    return uids.has(uid) || (isLeaving(owner, revisionNames) && !living.has(uid));
  };
  const isHeld = (object: JsonObject): boolean =>
    ownersIn(object).some((owner) => isHolder(owner) && (leaving.isReplaced || owner.controller === true));
  return { ...held, objects: listed.flat().filter(({ object }) => isHeld(object)) };
}

/** The package objects and their revisions. */
export async function readHolders(
  reader: PackageReader,
  { sources, packageUid, uids }: DeletedPackages,
): Promise<Pick<Parts, 'packages' | 'revisions'>> {
  const isSource = (source: string | undefined): boolean => source !== undefined && sources.includes(source);
  const isMeant = (one: JsonObject): boolean =>
    packageUid === undefined ? isSource(sourceOfPackage(one)) : textAt(one, 'metadata', 'uid') === packageUid;
  const isListed = (one: Garbage): boolean => uids === undefined || uids.includes(uidOf(one));
  const packages = await ofKinds(packageKinds.map(packagesOfKind), reader, isMeant);
  const names = new Set(packages.map(({ object }) => textAt(object, 'metadata', 'name')));
  const isOwn = (one: JsonObject): boolean =>
    isSource(sourceOfRevision(one)) || names.has(textAt(one, 'metadata', 'labels', packageLabel));
  return {
    packages: packages.filter(isListed),
    revisions: (await ofKinds(packageKinds.map(revisionsOfKind), reader, isOwn)).filter(isListed),
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
