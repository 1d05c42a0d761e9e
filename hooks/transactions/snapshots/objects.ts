// The ConfigMaps of a snapshot. The engine writes the first ConfigMap last, and that completes the snapshot. Its annotations state,
// with a tag as proof, the number of parts and the digest of all parts. So parts of several tries never mix.

import type { Packer } from '../../objects/cluster.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import type { Transaction } from '../model/transaction.ts';
import { type DataEntry, digestOf } from './chunks.ts';
import { mostParts, partName } from './names.ts';

/** On Leases and snapshots: `namespace/name` of their Transaction. */
export const transactionAnnotation = 'tx.janus.io/transaction';

export const snapshotFinalizer = 'tx.janus.io/snapshot';

/** The ConfigMaps to store. The first ConfigMap in the list completes the snapshot. */
export function configMapsOf(
  transaction: Transaction,
  base: string,
  parts: readonly (readonly DataEntry[])[],
  packer: Packer,
): readonly JsonObject[] {
  const data = parts.map((part) => Object.fromEntries(part));
  const head = headOf(transaction, base, data, packer);
  return data.map((one, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: partName(base, index),
      namespace: transaction.namespace,
      labels: { 'app.kubernetes.io/managed-by': 'janus', 'tx.janus.io/transaction-uid': transaction.uid },
      annotations: {
        [transactionAnnotation]: `${transaction.namespace}/${transaction.name}`,
        ...(index === 0 ? head : {}),
      },
      finalizers: [snapshotFinalizer],
      ownerReferences: [
        {
          apiVersion: 'tx.janus.io/v1alpha1',
          kind: 'Transaction',
          name: transaction.name,
          uid: transaction.uid,
          controller: false,
        },
      ],
    },
    immutable: true,
    data: one,
  }));
}

const headAnnotations = { parts: 'tx.janus.io/parts', digest: 'tx.janus.io/digest', tag: 'tx.janus.io/tag' } as const;

function headOf(transaction: Transaction, base: string, data: readonly JsonObject[], packer: Packer): JsonObject {
  const [parts, digest] = [data.length, digestOf(data)];
  const tag = packer.tag(digest, headContext(transaction, base, parts));
  return { [headAnnotations.parts]: String(parts), [headAnnotations.digest]: digest, [headAnnotations.tag]: tag };
}

// The spec digest is part of it: until the status names the snapshot, a user may edit the spec.
function headContext({ uid, specDigest }: Transaction, base: string, parts: number): string {
  return JSON.stringify(['snapshot', uid, base, specDigest, parts]);
}

/** What the first ConfigMap of a snapshot says of the whole; undefined if it is not authentic. */
export function readHead(
  first: JsonObject,
  transaction: Transaction,
  base: string,
  packer: Packer,
): { readonly parts: number; readonly digest: string } | undefined {
  const read = (name: string): string => textAt(first, 'metadata', 'annotations', name) ?? '';
  const [parts, digest] = [Number(read(headAnnotations.parts)), read(headAnnotations.digest)];
  if (!isPartCount(parts)) return undefined;
  return packer.isTagged(digest, read(headAnnotations.tag), headContext(transaction, base, parts))
    ? { parts, digest }
    : undefined;
}

/** Whether a snapshot can have that many ConfigMaps. */
export function isPartCount(count: number): boolean {
  return Number.isInteger(count) && count >= 1 && count <= mostParts;
}
