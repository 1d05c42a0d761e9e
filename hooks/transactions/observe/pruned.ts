// The objects of a CRD that hold values which a change of its schema drops (checks/pruning.ts), or which the undo of the change drops.

import type { Failed } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { type Neighbour, neighbourOf } from '../checks/company.ts';
import { isPruned, pruningVersions, readableVersion } from '../checks/pruning.ts';
import { instancesOf, isDefinition } from '../model/crds.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { LockContext } from './begin.ts';
import { lookerOf, type Standing, type Staying, sorted } from './contents.ts';
import { allListed, type Looker, listAll } from './listing.ts';
import type { ItemView, Prepared, Presence } from './observation.ts';

/** Those that others lose by the change, in words. */
export async function prunedBy(
  { reader, looks, transaction }: Pick<LockContext, 'reader' | 'looks' | 'transaction'>,
  { resource }: Pick<SnapshotEntry, 'resource'>,
  { prior, expected }: Pick<Prepared, 'prior' | 'expected'>,
): Promise<readonly string[] | Failure> {
  if (!isDefinition(resource) || prior === undefined || expected === undefined) return [];
  const found = await listPruned(lookerOf({ reader, looks }, transaction), prior, expected);
  return found.kind === 'failed' ? found.failure : found.items.map(({ reference: { kind, name } }) => `${kind} ${name}`);
}

/** Those that others lose by the undo. */
export async function readPruned(
  standing: Standing,
  live: Presence,
): Promise<Partial<Pick<ItemView, 'contents' | 'ownContents' | 'contentsTrouble'>>> {
  const { source, transaction, entry } = standing;
  const { resource, target, prior } = entry;
  if (!isDefinition(resource) || entry.type === 'Delete' || live.kind !== 'present' || prior === undefined) return {};
  const found = await listPruned(lookerOf(source, transaction), live.object, prior);
  if (found.kind === 'failed') return { contentsTrouble: found.failure };
  const change = { before: live.object, after: prior };
  const isStillPruned = ({ after: { object } }: Staying): boolean =>
    pruningVersions(live.object, prior).some((version) => isPruned(object, change, version));
  return sorted(standing, { resource, target, object: live.object }, found.items, isStillPruned);
}

type Pruned = { readonly kind: 'known'; readonly items: readonly Neighbour[] } | Failed;

async function listPruned(looker: Looker, before: JsonObject, after: JsonObject): Promise<Pruned> {
  const found = await inTurn(pruningVersions(before, after), (version) => {
    const resource = { ...instancesOf(before), version: readableVersion(before, version) };
    const pick = (object: JsonObject) => (isPruned(object, { before, after }, version) ? [neighbourOf(resource, object)] : []);
    // What is picked depends on both schemas: another state of the CRD is another look.
    const key = `pruned ${version} ${resource.plural}.${resource.group} ${textAt(before, 'metadata', 'resourceVersion')}`;
    return looker.looks.once(key, () => listAll(looker, key, { resource, namespace: undefined, whole: true }, pick));
  });
  return allListed(found);
}
