// Snapshots as ConfigMaps: written once; the first part is written last and completes the snapshot.

import type { Packer, Write } from '../../objects/cluster.ts';
import { isTerminating } from '../../objects/content/ownership.ts';
import { at, isList, type JsonObject, textAt, withPath } from '../../objects/json.ts';
import type { Mutation } from '../../objects/mutation.ts';
import type { RollbackRef } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { configMaps, engine, engineManager, preconditionOf } from '../writes/resources.ts';
import { digestOf, distribute } from './chunks.ts';
import type { Encoded } from './codec.ts';
import { mostParts } from './names.ts';
import { configMapsOf, snapshotFinalizer } from './objects.ts';
import { mostBytes } from './size.ts';

/** The creates that store these entries under `name`, or the reason why they cannot be stored. */
export function storeWrites(
  transaction: Transaction,
  encoded: readonly Encoded[],
  name: string,
  packer: Packer,
): readonly Write[] | string {
  const parts = distribute(encoded);
  const size = encoded.reduce((sum, entry) => sum + entry.size, 0);
  if (size > mostBytes || parts.length > mostParts) return tooLarge(size, parts.length);
  const writes = configMapsOf(transaction, name, parts, packer).map(
    (object): Write => ({
      verb: 'create',
      identity: engine,
      location: { resource: configMaps, namespace: transaction.namespace, name: textAt(object, 'metadata', 'name') ?? '' },
      object,
      fieldManager: engineManager,
    }),
  );
  return writes.toReversed();
}

// A snapshot that could not be read back must not be stored: nothing could be undone from it.
function tooLarge(size: number, parts: number): string {
  return (
    `the states of the targets take ${size} bytes and fill ${parts} ConfigMaps, at most ${mostBytes} bytes and ${mostParts} ` +
    'ConfigMaps are allowed: split the Transaction'
  );
}

/** The reference to the ConfigMaps of these writes, for the status. */
export function refOf(name: string, writes: readonly Write[]): RollbackRef {
  const objects = writes.flatMap((write) => (write.verb === 'create' ? [write.object] : []));
  return { name, digest: digestOf(objects.map((object) => at(object, 'data') ?? {})), objects: objects.length };
}

/** Removes our finalizer, so that the garbage collector can delete the ConfigMap. */
export function unprotect(configMap: JsonObject): Write | undefined {
  const precondition = preconditionOf(configMap);
  const finalizers = at(configMap, 'metadata', 'finalizers');
  if (precondition === undefined || !isList(finalizers) || !finalizers.includes(snapshotFinalizer)) return undefined;
  const kept = finalizers.filter((finalizer) => finalizer !== snapshotFinalizer);
  const object = withPath(configMap, ['metadata', 'finalizers'], kept);
  return { ...baseOf(configMap), verb: 'update', object, precondition, fieldManager: engineManager };
}

function baseOf(configMap: JsonObject): Pick<Write, 'identity' | 'location'> {
  const namespace = textAt(configMap, 'metadata', 'namespace') ?? '';
  return { identity: engine, location: { resource: configMaps, namespace, name: textAt(configMap, 'metadata', 'name') ?? '' } };
}

/**
 * Deletes a part of a snapshot after removing its finalizer. For a part that is being deleted, removing the finalizer is enough.
 */
export function discard(configMap: JsonObject): Mutation | undefined {
  const write = unprotect(configMap);
  if (isTerminating(configMap)) return write === undefined ? undefined : { write };
  return write === undefined ? remove(configMap) : { write, next: remove };
}

function remove(configMap: JsonObject): Mutation | undefined {
  const precondition = preconditionOf(configMap);
  return precondition === undefined ? undefined : { write: { ...baseOf(configMap), verb: 'delete', precondition } };
}
