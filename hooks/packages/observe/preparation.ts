// The contents of all stages, from registries, by the digests that were resolved.
import { type JsonObject, textAt } from '../../objects/json.ts';
import type { Preparation } from '../decide/preparing.ts';
import { packagesOf } from '../model/holder.ts';
import type { PackageTransaction, Wanted } from '../model/package-transaction.ts';
import { changedPackages } from '../plan/changed.ts';
import type { ChangedPackage, Member, Released } from '../plan/changes.ts';
import { configMaps, familyLabel, uidLabel } from '../plan/resources.ts';
import { type Part, stagesOf } from '../plan/stages.ts';
import type { Registry, RegistryFailed } from '../registry.ts';
import { leftOut } from './left-out.ts';
import { membersOf, mostValues } from './members.ts';
import { type Looker, list } from './reading.ts';

interface PreparationScene {
  readonly looker: Looker;
  readonly registry: Registry;
  readonly ptx: PackageTransaction;
  readonly wanted: Wanted;
  readonly lock: JsonObject;
  readonly isOver: () => boolean;
}

export async function readPreparation(scene: PreparationScene): Promise<Preparation> {
  const { looker, ptx, wanted, lock } = scene;
  const entries = packagesOf(lock).filter((one): one is JsonObject => typeof one === 'object');
  const changed = changedPackages(wanted, entries, ptx.status.proposed ?? []);
  const packages: ChangedPackage[] = [];
  const members: Member[] = [];
  const room = { left: mostValues };
  for (const one of changed) {
    const read = await membersOf(one.source, one.digest, scene.registry, room);
    if ('kind' in read) return unread(scene, read);
    const family = textAt(read.meta, 'metadata', 'labels', familyLabel);
    packages.push({ ...one, ...(family === undefined ? {} : { family }) });
    // What a Function holds is never installed.
    const own = one.kind === 'Function' ? [] : read.members;
    members.push(...own.map((object) => ({ kind: one.kind, revision: one.revision, object })));
  }
  const found = await list(looker, configMaps, looker.namespace, { labelSelector: `${uidLabel}=${ptx.uid}` });
  const existing = new Set(found.map((object) => textAt(object, 'metadata', 'name') ?? ''));
  const released = await leftOut(looker, packages, members);
  const prepared = stagesOf(ptx, partsOf(packages, members, released), looker.gzip);
  return { kind: 'ready', prepared, existing };
}

function unread({ isOver }: PreparationScene, failed: RegistryFailed): Preparation {
  return isOver() ? { kind: 'unfinished' } : failed;
}

function partsOf(
  packages: readonly ChangedPackage[],
  members: readonly Member[],
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
