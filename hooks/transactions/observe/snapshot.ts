// Reads a stored snapshot. A snapshot is broken if its digest is not that of the status, or if one entry is not authentic, whoever
// caused it. The engine expands, parses and trusts nothing before these checks.

import type { Packer, Reader } from '../../objects/cluster.ts';
import { at, type Json, type JsonObject, textAt } from '../../objects/json.ts';
import { weightOf } from '../../objects/measure.ts';
import { undoOrder } from '../checks/undo-order.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { UndoOrder } from '../model/item.ts';
import type { RollbackRef } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import type { CallReads } from '../reading/call-reads.ts';
import { digestOf } from '../snapshots/chunks.ts';
import { partName } from '../snapshots/names.ts';
import { isPartCount } from '../snapshots/objects.ts';
import { mostMemory } from '../snapshots/size.ts';
import { configMaps, engine } from '../writes/resources.ts';
import type { StoredSnapshot } from './awaited.ts';
import { assemble } from './entries.ts';
import { read } from './read.ts';

/** Bytes in memory of all cached snapshots: the largest one that can be stored fits. */
export const mostCached = mostMemory;

/** Snapshots that this process has verified, by Transaction uid. Snapshots are immutable, so later only their presence is read. */
export interface SnapshotCache {
  get(uid: string): CachedSnapshot | undefined;
  set(uid: string, snapshot: CachedSnapshot): void;
  delete(uid: string): void;
}

export interface CachedSnapshot {
  readonly digest: string;
  /** uid and resourceVersion of each verified ConfigMap. */
  readonly versions: readonly string[];
  readonly entries: readonly SnapshotEntry[];
  readonly order: UndoOrder;
  /** Bytes of all entries in memory. */
  readonly memory: number;
}

export interface SnapshotSource {
  readonly reader: Reader;
  readonly packer: Packer;
  readonly cache: SnapshotCache;
  readonly callReads: CallReads;
}

/** The snapshot that the status of a Transaction names. */
export async function readSnapshot(
  source: SnapshotSource,
  transaction: Transaction,
  ref: RollbackRef | undefined,
): Promise<StoredSnapshot> {
  if (ref === undefined) return { kind: 'broken', message: 'the status names no snapshot' };
  if (!isPartCount(ref.objects)) return { kind: 'broken', message: `no snapshot has ${ref.objects} ConfigMaps` };
  const cached = source.cache.get(transaction.uid);
  const known = cached?.digest === ref.digest ? cached : undefined;
  if (known !== undefined && (await isStillThere(source, transaction, ref, known.versions))) {
    return { kind: 'stored', ref, entries: known.entries };
  }
  const parts = await readParts(source.reader, transaction, ref.name, ref.objects);
  if (parts.kind !== 'parts') return parts;
  return verified(source, transaction, ref, parts.objects);
}

/** The snapshot in these ConfigMaps, in the order of their names, if it matches `ref`. A matching snapshot is cached. */
async function verified(
  { packer, cache }: Pick<SnapshotSource, 'packer' | 'cache'>,
  transaction: Transaction,
  ref: RollbackRef,
  objects: readonly JsonObject[],
): Promise<StoredSnapshot> {
  const data = objects.map(dataOf);
  const broken = (why: string): StoredSnapshot => ({
    kind: 'broken',
    message: `snapshot ${transaction.namespace}/${ref.name} ${why}`,
  });
  if (digestOf(data) !== ref.digest) return broken('is not the one that was stored: its digest differs');
  const assembled = await assemble(data, { transaction, base: ref.name, packer });
  if (assembled.kind === 'broken') return broken(assembled.why);
  const { entries } = assembled;
  cache.set(transaction.uid, cachedOf(entries, { digest: ref.digest, objects }));
  return { kind: 'stored', ref, entries };
}

/** The entries of the snapshot in these ConfigMaps, as this process remembers them. */
export function cachedOf(
  entries: readonly SnapshotEntry[],
  { digest, objects }: { readonly digest: string; readonly objects: readonly JsonObject[] },
): CachedSnapshot {
  const all = entries.flatMap(({ prior, expected, content }) => [prior, expected, content]);
  const memory = all.reduce((sum, object) => sum + weightOf(object).memory, 0);
  return { digest, versions: objects.map(versionOf), entries, order: undoOrder(entries), memory };
}

/** The order of an undo, with the snapshot if it was read for it. Without a snapshot nothing will be undone. */
export async function readOrder(
  source: SnapshotSource,
  transaction: Transaction,
  rollbackRef: RollbackRef | undefined,
): Promise<{ readonly snapshot: StoredSnapshot | undefined; readonly order: UndoOrder | undefined }> {
  const known = source.cache.get(transaction.uid);
  if (known !== undefined && known.digest === rollbackRef?.digest) return { snapshot: undefined, order: known.order };
  const snapshot = await readSnapshot(source, transaction, rollbackRef);
  return { snapshot, order: source.cache.get(transaction.uid)?.order };
}

/** The digest of the snapshot in these ConfigMaps. */
export function digestIn(objects: readonly JsonObject[]): string {
  return digestOf(objects.map(dataOf));
}

function dataOf(object: JsonObject): Json {
  return at(object, 'data') ?? {};
}

async function isStillThere(
  { reader }: SnapshotSource,
  { namespace }: Transaction,
  ref: RollbackRef,
  versions: readonly string[],
): Promise<boolean> {
  const names = Array.from({ length: ref.objects }, (_, part) => partName(ref.name, part));
  const answers = await Promise.all(names.map((name) => reader.getMetadata({ resource: configMaps, namespace, name }, engine)));
  return answers.every((answer, part) => answer.kind === 'ok' && versionOf(answer.object) === versions[part]);
}

function versionOf(object: JsonObject): string {
  return `${textAt(object, 'metadata', 'uid')}/${textAt(object, 'metadata', 'resourceVersion')}`;
}

type Parts = { readonly kind: 'parts'; readonly objects: readonly JsonObject[] } | Exclude<StoredSnapshot, { kind: 'stored' }>;

/** The parts of a snapshot; the caller limits `count`. */
export async function readParts(reader: Reader, { namespace }: Transaction, base: string, count: number): Promise<Parts> {
  const names = Array.from({ length: count }, (_, part) => partName(base, part));
  const found = await Promise.all(names.map((name) => read(reader, { resource: configMaps, namespace, name }, engine)));
  const trouble = found.find((part) => part.kind === 'trouble');
  if (trouble?.kind === 'trouble') return { kind: 'trouble', failure: trouble.failure };
  const objects = found.flatMap((part) => (part.kind === 'present' ? [part.object] : []));
  if (objects.length === names.length) return { kind: 'parts', objects };
  const missing = names.filter((_, index) => found[index]?.kind === 'absent');
  return { kind: 'broken', message: `snapshot ConfigMap ${missing.map((name) => `${namespace}/${name}`).join(', ')} is gone` };
}
