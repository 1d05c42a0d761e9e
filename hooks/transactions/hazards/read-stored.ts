// The objects that lose by a change of their CRD. Some hold values that a schema drops. Others may be stored in a version that the
// undo takes away (attribution/stored-versions.ts).

import { instancesOf, isDefinition, newStoredVersions, settledAt } from '../../objects/definitions.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { isPruned, pruningVersions, readableVersion } from '../../objects/pruning.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { isAfter } from '../model/other-transactions.ts';
import { allListed, listAll } from '../reading/listing.ts';
import { isWithoutObjects } from '../reading/served.ts';
import { definitions } from '../writes/resources.ts';
import { dependentOf } from './dependents.ts';
import type { Hazards } from './hazards.ts';
import { type HazardContext, type Staying, sorted } from './read-context.ts';

interface States {
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
}

type Found = Partial<Hazards>;

/** The objects that hold values which the schema of `after` drops. */
export async function readValues(context: HazardContext, { before = {}, after = {} }: States): Promise<Found> {
  const { lister } = context;
  const schemas = { before, after };
  const found = await inTurn(pruningVersions(before, after), (version) => {
    const resource = { ...instancesOf(before), version: readableVersion(before, version) };
    const pick = (object: JsonObject) => (isPruned(object, schemas, version) ? [dependentOf(resource, object)] : []);
    // The picked parts depend on both schemas: another state of the CRD is another list.
    const key = `pruned ${version} ${resource.plural}.${resource.group} ${textAt(before, 'metadata', 'resourceVersion')}`;
    return lister.callReads.once(key, () => listAll(lister, key, { resource, namespace: undefined, whole: true }, pick));
  });
  const listed = allListed(found);
  if (listed.kind === 'failed') return { trouble: listed.failure };
  const isStillPruned = ({ after: { object } }: Staying): boolean =>
    pruningVersions(before, after).some((version) => isPruned(object, schemas, version));
  return sorted(context, listed.items, isStillPruned);
}

/** The objects that were written since the change, if its undo takes a stored version away. */
export async function readWritten(context: HazardContext, live: JsonObject, prior: JsonObject, now: number): Promise<Found> {
  const { lister, entry, undo } = context;
  if (!isDefinition(entry.resource) || newStoredVersions(live, prior).length === 0) return {};
  const stored = { now, others: [], awaited: [] };
  if (now <= settledAt(live)) return { stored };
  const since = undo?.status.items[entry.index]?.resourceVersion ?? textAt(prior, 'metadata', 'resourceVersion');
  const resource = instancesOf(live);
  const written = (object: JsonObject) => (isBefore(object, since) ? [] : [dependentOf(resource, object)]);
  const listing = await listAll(lister, 'stored', { resource, namespace: undefined }, written);
  switch (listing.kind) {
    case 'listed': {
      const { lost, awaited } = sorted(context, listing.items, () => true);
      return { stored: { now, others: lost, awaited } };
    }
    case 'denied':
      return { stored: { ...stored, others: [`any ${resource.kind} (the ServiceAccount may not list them)`] } };
    default:
      return { trouble: listing.failure };
  }
}

// If a version is not known, the order is not known: then the object may have been written since.
function isBefore(object: JsonObject, since: string | undefined): boolean {
  const own = textAt(object, 'metadata', 'resourceVersion');
  return isAfter({ type: 'Update', resourceVersion: since }, own);
}

/** Whether an undo can move the storage version back: the kind has no objects, as far as the ServiceAccount can see. */
export async function readMovesBack({ lister, undo }: HazardContext, { before = {} }: States): Promise<Found> {
  if (undo !== undefined) return {};
  const { reader, identity } = lister;
  const kind = instancesOf(before);
  const [found, write] = await Promise.all([
    reader.listMetadata(kind, undefined, identity, { limit: 1 }),
    reader.allowed({ verb: 'update', group: definitions.group, resource: definitions.plural, subresource: 'status' }, identity),
  ]);
  const isEmpty =
    found.kind === 'ok' ? found.items.length === 0 : found.failure.kind === 'absent' && (await isWithoutObjects(lister, kind));
  return { movesBack: isEmpty && write.kind === 'ok' && write.allowed };
}
