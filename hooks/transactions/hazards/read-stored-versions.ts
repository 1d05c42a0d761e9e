// The objects of a CRD that may be stored in a version that came with the change of the CRD (attribution/stored-versions.ts).

import type { Reader } from '../../objects/cluster.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { instancesOf, isDefinition, isStorageMoved, newStoredVersions, settledAt } from '../model/crds.ts';
import { isAfter } from '../model/others.ts';
import type { Transaction } from '../model/transaction.ts';
import type { ItemView, Presence } from '../observe/observation.ts';
import { listAll } from '../reading/listing.ts';
import { isWithoutObjects } from '../reading/served.ts';
import { definitions, serviceAccountOf } from '../writes/resources.ts';
import { dependentOf } from './dependents.ts';
import { lookerOf, type Standing, sorted } from './read-deleted.ts';
import { readPruned } from './read-pruned.ts';

type Found = Partial<Pick<ItemView, 'stored' | 'contents' | 'ownContents' | 'contentsTrouble'>>;

/** What the undo of a change of a CRD must know of its objects. */
export async function readStored(standing: Standing, live: Presence, now: number): Promise<Found> {
  const [pruned, written] = await Promise.all([readPruned(standing, live), readWritten(standing, live, now)]);
  return { ...pruned, ...written };
}

/** Those that were written since the change, where the undo takes a stored version away. */
async function readWritten(standing: Standing, live: Presence, now: number): Promise<Found> {
  const { source, transaction, status, entry } = standing;
  const isMoved =
    live.kind === 'present' && isDefinition(entry.resource) && newStoredVersions(live.object, entry.prior).length > 0;
  if (!isMoved || entry.prior === undefined) return {};
  if (now <= settledAt(live.object)) return { stored: { others: [], awaited: [] } };
  const since = status.items[entry.index]?.resourceVersion ?? textAt(entry.prior, 'metadata', 'resourceVersion');
  const resource = instancesOf(live.object);
  const written = (object: JsonObject) => (isBefore(object, since) ? [] : [dependentOf(resource, object)]);
  const listing = await listAll(lookerOf(source, transaction), 'stored', { resource, namespace: undefined }, written);
  switch (listing.kind) {
    case 'listed': {
      const { contents, ownContents } = sorted(
        standing,
        { resource: entry.resource, target: entry.target, object: live.object },
        listing.items,
        () => true,
      );
      return { stored: { others: contents, awaited: ownContents } };
    }
    case 'denied':
      return { stored: { others: [`any ${resource.kind} (the ServiceAccount may not list them)`], awaited: [] } };
    default:
      return { contentsTrouble: listing.failure };
  }
}

// Where a version is not known, the order is not: then it may have been written since.
function isBefore(object: JsonObject, since: string | undefined): boolean {
  const own = textAt(object, 'metadata', 'resourceVersion');
  return isAfter({ type: 'Update', resourceVersion: since }, own);
}

/** Whether the storage version of a CRD moves, and the undo can move it back: the kind has no objects, as far as the ServiceAccount can see. */
export async function canMoveBack(
  { reader, transaction }: { readonly reader: Reader; readonly transaction: Transaction },
  prior: JsonObject | undefined,
  expected: JsonObject | undefined,
): Promise<boolean> {
  if (prior === undefined || !isStorageMoved(prior, expected)) return false;
  const identity = serviceAccountOf(transaction);
  const kind = instancesOf(prior);
  const isGone = () => isWithoutObjects({ reader, identity }, kind);
  const [found, write] = await Promise.all([
    reader.listMetadata(kind, undefined, identity, { limit: 1 }),
    reader.allowed({ verb: 'update', group: definitions.group, resource: definitions.plural, subresource: 'status' }, identity),
  ]);
  const isEmpty = found.kind === 'ok' ? found.items.length === 0 : found.failure.kind === 'absent' && (await isGone());
  return isEmpty && write.kind === 'ok' && write.allowed;
}
