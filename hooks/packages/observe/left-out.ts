// Objects that a new version leaves out: a revision of its package still controls them.
import { type JsonObject, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { controllerOf } from '../checks/conflicts.ts';
import { isRevisionOf } from '../model/revision.ts';
import type { ChangedPackage, PackageObject, Released } from '../writes/changes.ts';
import { revisionsOfKind } from '../writes/resources.ts';
import { type InstalledObject, installedObjects } from './owners.ts';
import { list, type PackageReader } from './read.ts';

/** `objects`: what these packages hold now. What a revision controls that is gone needs no release. */
export async function leftOut(
  reader: PackageReader,
  packages: readonly ChangedPackage[],
  objects: readonly PackageObject[],
): Promise<readonly Released[]> {
  const held = new Set(objects.map(({ object }) => keyOf(textAt(object, 'kind'), object)));
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

function keyOf(kind: string | undefined, object: JsonObject): string {
  return `${kind} ${textAt(object, 'metadata', 'name')}`;
}

function releasedFrom({ resource, object }: InstalledObject, uids: ReadonlySet<string | undefined>): readonly Released[] {
  const owner = controllerOf(object);
  if (owner === undefined || !uids.has(textAt(owner, 'uid'))) return [];
  const { group, version, kind } = resource;
  return [{ target: { apiVersion: `${group}/${version}`, kind, name: textAt(object, 'metadata', 'name') ?? '' }, owner }];
}
