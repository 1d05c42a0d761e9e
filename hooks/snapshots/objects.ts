// The ConfigMaps of a snapshot. The first one is written last and makes it complete: its annotations say, and prove, how many parts
// there are and what all of them hold together, so that parts of several tries are never mixed.
import { type JsonObject, textAt } from '../model/json.ts';
import type { Packer } from '../model/packer.ts';
import type { Transaction } from '../model/transaction.ts';
import { type Datum, digestOf } from './chunks.ts';
import { mostParts, partName } from './names.ts';

/** On Leases and snapshots: `namespace/name` of the Transaction that they belong to. */
export const transactionAnnotation = 'tx.janus.io/transaction';

export const snapshotFinalizer = 'tx.janus.io/snapshot';

/** The ConfigMaps to store, the first one (which makes the snapshot complete) first. */
export function configMapsOf(
  transaction: Transaction,
  base: string,
  parts: readonly (readonly Datum[])[],
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

// The spec, too: it may be edited while nothing but the snapshot says that the Transaction has begun.
function headContext({ uid, specDigest }: Transaction, base: string, parts: number): string {
  return JSON.stringify(['snapshot', uid, base, specDigest, parts]);
}

/** What the first ConfigMap of a snapshot says of the whole; undefined where it is not authentic, and nothing of it is believed. */
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

/** Whether a snapshot can have so many ConfigMaps. */
export function isPartCount(count: number): boolean {
  return Number.isInteger(count) && count >= 1 && count <= mostParts;
}
