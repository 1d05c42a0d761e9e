// The contents of all stages, from registries, by the digests that were resolved.
import { type JsonObject, textAt } from '../../objects/json.ts';
import { packagesOf } from '../model/holder.ts';
import type { PackageTransaction, Wanted } from '../model/package-transaction.ts';
import type { Registry, RegistryFailed } from '../registry.ts';
import { changedPackages } from '../writes/changed.ts';
import type { ChangedPackage, PackageObject, Released } from '../writes/changes.ts';
import { configMaps, familyLabel, uidLabel } from '../writes/resources.ts';
import { type Part, stagesOf } from '../writes/stages.ts';
import { leftOut } from './left-out.ts';
import { mostValues, objectsOf } from './objects.ts';
import type { Preparation } from './observation.ts';
import { list, type PackageReader } from './read.ts';

interface PreparationScene {
  readonly reader: PackageReader;
  readonly registry: Registry;
  readonly ptx: PackageTransaction;
  readonly wanted: Wanted;
  readonly lock: JsonObject;
  readonly isOver: () => boolean;
}

export async function readPreparation(scene: PreparationScene): Promise<Preparation> {
  const { reader, ptx, wanted, lock } = scene;
  const entries = packagesOf(lock).filter((one): one is JsonObject => typeof one === 'object');
  const changed = changedPackages(wanted, entries, ptx.status.proposed ?? []);
  const packages: ChangedPackage[] = [];
  const members: PackageObject[] = [];
  const room = { left: mostValues };
  for (const one of changed) {
    const read = await objectsOf(one.source, one.digest, scene.registry, room);
    if ('kind' in read) return unread(scene, read);
    const family = textAt(read.meta, 'metadata', 'labels', familyLabel);
    packages.push({ ...one, ...(family === undefined ? {} : { family }) });
    // What a Function holds is never installed.
    const own = one.kind === 'Function' ? [] : read.objects;
    members.push(...own.map((object) => ({ kind: one.kind, revision: one.revision, object })));
  }
  const found = await list(reader, configMaps, reader.namespace, { labelSelector: `${uidLabel}=${ptx.uid}` });
  const existing = new Set(found.map((object) => textAt(object, 'metadata', 'name') ?? ''));
  const released = await leftOut(reader, packages, members);
  const prepared = stagesOf(ptx, partsOf(packages, members, released), reader.gzip);
  return { kind: 'ready', prepared, existing };
}

function unread({ isOver }: PreparationScene, failed: RegistryFailed): Preparation {
  return isOver() ? { kind: 'unfinished' } : failed;
}

function partsOf(
  packages: readonly ChangedPackage[],
  members: readonly PackageObject[],
  released: readonly Released[],
): readonly Part[] {
  const items = packages.map((one) => ({ ...one }) as unknown as JsonObject);
  const objects = members.map((one) => ({ ...one }) as unknown as JsonObject);
  return [
    { purpose: 'Packages', items, changesPerItem: 1 },
    { purpose: 'Revisions', items, changesPerItem: 1 },
    { purpose: 'Objects', items: objects, changesPerItem: 1 },
    { purpose: 'Releases', items: released.map((one) => ({ ...one }) as unknown as JsonObject), changesPerItem: 1 },
    { purpose: 'Activation', items, changesPerItem: 2 },
  ];
}
