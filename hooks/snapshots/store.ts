// Snapshots as ConfigMaps: written once, the first part (which makes the snapshot complete) last.

import type { Write } from '../cluster.ts';
import { isTerminating } from '../content/ownership.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { at, isList, type JsonObject, textAt, withPath } from '../model/json.ts';
import type { Packer } from '../model/packer.ts';
import type { RollbackRef } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import type { Mutation } from '../writes/mutation.ts';
import { configMaps, engine, engineManager, preconditionOf } from '../writes/resources.ts';
import { digestOf, distribute } from './chunks.ts';
import { encodeEntry, mostBytes } from './codec.ts';
import { mostParts } from './names.ts';
import { configMapsOf, snapshotFinalizer } from './objects.ts';

/** The creates that store these entries under `name`, or in words why they cannot be stored. */
export function storeWrites(
  transaction: Transaction,
  entries: readonly SnapshotEntry[],
  name: string,
  packer: Packer,
): readonly Write[] | string {
  const encoded = entries.map((entry) => encodeEntry(entry, { transaction, base: name }, packer));
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

// What could not be read again must not be stored: nothing would be undone from it.
function tooLarge(size: number, parts: number): string {
  return (
    `the states of the targets take ${size} bytes and fill ${parts} ConfigMaps, at most ${mostBytes} bytes and ${mostParts} ` +
    'ConfigMaps are allowed: split the Transaction'
  );
}

/** What the status shall say of the ConfigMaps that these writes have stored. */
export function refOf(name: string, writes: readonly Write[]): RollbackRef {
  const objects = writes.flatMap((write) => (write.verb === 'create' ? [write.object] : []));
  return { name, digest: digestOf(objects.map((object) => at(object, 'data') ?? {})), objects: objects.length };
}

/** Takes our finalizer off: the garbage collector may have the ConfigMap now. */
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

/** Deletes a part of a snapshot, its finalizer first; one that is being deleted already goes with its finalizer. */
export function discard(configMap: JsonObject): Mutation | undefined {
  const write = unprotect(configMap);
  if (isTerminating(configMap)) return write === undefined ? undefined : { write };
  return write === undefined ? remove(configMap) : { write, next: remove };
}

function remove(configMap: JsonObject): Mutation | undefined {
  const precondition = preconditionOf(configMap);
  return precondition === undefined ? undefined : { write: { ...baseOf(configMap), verb: 'delete', precondition } };
}
