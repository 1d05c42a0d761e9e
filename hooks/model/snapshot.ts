// What is stored before anything is changed: of every target the state before and the state expected after its change.
//
// One immutable ConfigMap, or several where one would be too large. A digest over all entries is kept in the status, so that a
// second snapshot or an edited one is refused. Secrets, and objects that readers of the Transaction's namespace may not be
// able to read, are sealed.
import { at, isObject, type Json, type JsonObject, parseJson, textAt } from './json.ts';
import type { Datum, EncodedEntry } from './pieces.ts';
import { identityOf, type Reference, snapshotKey } from './reference.ts';
import type { ChangeType, Transaction } from './transaction.ts';

/** How a target is served; the part of a resource that its undo needs when discovery has forgotten the kind. */
export interface StoredResource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly statusSubresource: boolean;
}

export interface SnapshotEntry {
  readonly index: number;
  readonly type: ChangeType;
  readonly target: Reference;
  readonly resource: StoredResource;
  /** Absent when the object did not exist. */
  readonly prior?: JsonObject;
  /** Absent when the object will not exist. */
  readonly expected?: JsonObject;
  /** True where no dry run was possible: expected lacks defaults. */
  readonly approximate: boolean;
}

/** Turns text into what may be stored and back; `context` binds it to its place. */
export interface Packer {
  compress(text: string): string;
  expand(compressed: string): string | undefined;
  seal(text: string, context: string): string;
  open(sealed: string, context: string): string | undefined;
}

/** On Leases and snapshots: `namespace/name` of the Transaction that they belong to. */
export const transactionAnnotation = 'tx.janus.io/transaction';

export const snapshotFinalizer = 'tx.janus.io/snapshot';

const compressAbove = 2_048;

/** Whether readers of the Transaction's namespace must not learn the content of a target. */
export function isSealed(target: Reference, transactionNamespace: string): boolean {
  return (target.apiVersion === 'v1' && target.kind === 'Secret') || target.namespace !== transactionNamespace;
}

export function sealContext(uid: string, index: number, target: Reference): string {
  return `${uid}/${index}/${identityOf(target)}`;
}

/** An entry as text, and its readable name. */
export function encodeEntry(entry: SnapshotEntry, transaction: Transaction, packer: Packer): EncodedEntry {
  const text = JSON.stringify(entry);
  const key = snapshotKey(entry.target).replaceAll(/[^\w.-]/g, '-');
  if (isSealed(entry.target, transaction.namespace)) {
    return {
      index: entry.index,
      key,
      text: `sealed:${packer.seal(text, sealContext(transaction.uid, entry.index, entry.target))}`,
    };
  }
  return { index: entry.index, key, text: text.length > compressAbove ? `compressed:${packer.compress(text)}` : text };
}

/** Undefined when the stored text is not the entry of that change. */
export function decodeEntry(text: string, index: number, target: Reference, context: EntryContext): SnapshotEntry | undefined {
  const plain = unpack(text, sealContext(context.uid, index, target), context.packer);
  const wire = plain === undefined ? undefined : parsed(plain);
  const isWhole = isObject(at(wire, 'resource')) && textAt(wire, 'target', 'apiVersion') !== undefined;
  if (at(wire, 'index') !== index || !isWhole) return undefined;
  const entry = wire as unknown as SnapshotEntry;
  return identityOf(entry.target) === identityOf(target) ? entry : undefined;
}

export interface EntryContext {
  readonly uid: string;
  readonly packer: Packer;
}

function unpack(text: string, context: string, packer: Packer): string | undefined {
  if (text.startsWith('sealed:')) return packer.open(text.slice('sealed:'.length), context);
  return text.startsWith('compressed:') ? packer.expand(text.slice('compressed:'.length)) : text;
}

function parsed(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

export function partName(base: string, part: number): string {
  return part === 0 ? base : `${base}-${part}`;
}

/** The names under which a Transaction's snapshot may lie: the second when somebody else has the first. */
export function snapshotNames(transaction: Pick<Transaction, 'name' | 'uid'>): readonly [string, string] {
  const longest = 253 - '-rollback-999'.length;
  const uid = transaction.uid.slice(0, 8);
  return [`${transaction.name.slice(0, longest)}-rollback`, `${transaction.name.slice(0, longest - 9)}-${uid}-rollback`];
}

/** The ConfigMaps to store, the first one (which makes the snapshot complete) first. */
export function configMapsOf(
  transaction: Transaction,
  base: string,
  parts: readonly (readonly Datum[])[],
): readonly JsonObject[] {
  return parts.map((part, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: partName(base, index),
      namespace: transaction.namespace,
      labels: { 'app.kubernetes.io/managed-by': 'janus', 'tx.janus.io/transaction-uid': transaction.uid },
      annotations: {
        'tx.janus.io/parts': String(parts.length),
        [transactionAnnotation]: `${transaction.namespace}/${transaction.name}`,
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
    data: Object.fromEntries(part),
  }));
}

/** Whether a ConfigMap is a part of this Transaction's snapshot. */
export function isSnapshotOf(configMap: JsonObject, transaction: Pick<Transaction, 'uid'>): boolean {
  return textAt(configMap, 'metadata', 'labels', 'tx.janus.io/transaction-uid') === transaction.uid;
}

export function partsOfSnapshot(first: JsonObject): number {
  return Number.parseInt(textAt(first, 'metadata', 'annotations', 'tx.janus.io/parts') ?? '1', 10);
}
