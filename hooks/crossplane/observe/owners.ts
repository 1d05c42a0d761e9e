// Installed objects whose owners are gone. If a user deletes a Package and applies it again, it has another uid, and a package
// transaction is deleted one day. Then the object has no owner left. The garbage collector would delete the object, and with it
// every instance. `manifests/packages` has a policy that refuses this. The hook finds such references here, so that nothing depends
// on that policy for long.

import type { Resource } from '../../objects/cluster.ts';
import { isTerminating } from '../../objects/content/ownership.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { installedKinds } from '../checks/contents.ts';
import { packageKinds } from '../model/package.ts';
import { deletionOf, type PackageTransaction } from '../model/package-transaction.ts';
import { type LiveOwners, livingOwners, ownerKey } from '../writes/owners.ts';
import { nameLabel, packagesOfKind, packageTransactions, revisionsOfKind } from '../writes/resources.ts';
import { resourceOf } from './objects.ts';
import type { Orphan } from './observation.ts';
import { find, list, type PackageReader } from './read.ts';

/** An installed object with its metadata only. */
export interface InstalledObject {
  readonly resource: Resource;
  readonly object: JsonObject;
}

/** The installed objects of packages, except revisions. */
export async function installedObjects(reader: PackageReader): Promise<readonly InstalledObject[]> {
  const resources = await inTurn(installedKinds, async ({ apiVersion, kind }) => resourceOf(reader, { apiVersion, kind }));
  return labelled(
    reader,
    resources.filter((one) => one !== undefined),
  );
}

async function labelled(reader: PackageReader, resources: readonly Resource[]): Promise<readonly InstalledObject[]> {
  const found = await inTurn(resources, async (resource) => {
    const objects = await list(reader, resource, undefined, { labelSelector: nameLabel });
    return objects.map((object) => ({ resource, object }));
  });
  return found.flat();
}

/** How many objects one call reads whole and writes. */
const mostOrphans = 50;

/** The installed objects and the revisions, with the metadata of each, and their living owners. */
export interface Owned {
  readonly objects: readonly InstalledObject[];
  /** Packages, revisions and package transactions that exist, and stay. */
  readonly owners: LiveOwners;
}

export async function readOwned(reader: PackageReader): Promise<Owned> {
  // An owner is made before the objects that it owns. If the hook lists the owners last, it finds every owner that exists.
  const objects = [...(await installedObjects(reader)), ...(await labelled(reader, packageKinds.map(revisionsOfKind)))];
  return { objects, owners: await liveOwners(reader) };
}

/** Whether its status alone says that no installed object has this finished package transaction as its owner. */
export function ownsNothing(ptx: PackageTransaction): boolean {
  const { phase, outcome } = ptx.status;
  const isUndone = phase === 'Failed' && outcome?.step !== 'Deletion' && outcome?.reason !== 'RollbackIncomplete';
  return deletionOf(ptx) !== undefined || isUndone;
}

/** The first orphans. `leaving`: the uid of a package transaction that is deleted with this call. */
export async function readOrphans(
  reader: PackageReader,
  { objects, owners: all }: Owned,
  leaving?: string,
): Promise<readonly Orphan[]> {
  const owners = new Map([...all].filter(([, uid]) => uid !== leaving));
  const orphans = objects.filter(({ object }) => livingOwners(object, owners) !== undefined).slice(0, mostOrphans);
  const whole = await inTurn(orphans, async ({ resource, object }) => {
    const live = await find(reader, { resource, name: textAt(object, 'metadata', 'name') ?? '' });
    const living = live === undefined ? undefined : livingOwners(live, owners);
    return live === undefined || living === undefined ? [] : [{ resource, live, owners: living }];
  });
  return whole.flat();
}

async function liveOwners(reader: PackageReader): Promise<LiveOwners> {
  const kinds = [...packageKinds.flatMap((kind) => [revisionsOfKind(kind), packagesOfKind(kind)]), packageTransactions];
  const found = await inTurn(kinds, async (resource) => {
    const staying = (await list(reader, resource, undefined, {})).filter((one) => !isTerminating(one));
    return staying.map((object) => {
      const [name = '', uid = ''] = [textAt(object, 'metadata', 'name'), textAt(object, 'metadata', 'uid')];
      return [ownerKey(resource.kind, name), uid] as const;
    });
  });
  return new Map(found.flat());
}
