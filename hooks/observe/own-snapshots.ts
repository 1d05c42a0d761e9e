// The snapshots of a Transaction that are there, whatever its status says: of a try whose answer was lost, and those to let go of.
import type { Reader } from '../cluster.ts';
import type { Failure } from '../model/failure.ts';
import { at, type JsonObject, textAt } from '../model/json.ts';
import type { Packer } from '../model/packer.ts';
import type { RollbackRef, Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { digestOf } from '../snapshots/chunks.ts';
import { isSnapshotOf, mostParts, partName, partNumber, snapshotNames } from '../snapshots/names.ts';
import { readHead } from '../snapshots/objects.ts';
import { configMaps, engine, uidLabel } from '../writes/resources.ts';
import type { StoredSnapshot } from './awaited.ts';
import { assemble } from './entries.ts';
import type { Presence } from './observation.ts';
import { read } from './read.ts';
import { readParts, type SnapshotSource } from './snapshot.ts';

type Trouble = { readonly kind: 'trouble'; readonly failure: Failure };

export type Found =
  | Extract<StoredSnapshot, { kind: 'stored' }>
  /** What lies in its place and is of no use. */
  | { readonly kind: 'none'; readonly incompleteParts: readonly JsonObject[] }
  | Trouble;

/**
 * What lies under a name that only our key gives: a complete snapshot of ours, as one try has stored it; or parts without the first,
 * or something that somebody has put there since. `taken` is a name that a part could not be created under.
 */
export async function findSnapshot(
  source: SnapshotSource,
  transaction: Transaction,
  base: string,
  nameInUse: string | undefined,
): Promise<Found> {
  const first = await readConfigMap(source.reader, transaction, base);
  if (first.kind === 'trouble') return first;
  if (first.kind === 'absent') return findIncompleteParts(source.reader, transaction, base, nameInUse);
  const head = readHead(first.object, transaction, base, source.packer);
  const parts = head === undefined ? undefined : await readParts(source.reader, transaction, base, head.parts);
  if (parts?.kind === 'trouble') return parts;
  const stored = parts?.kind === 'parts' ? adoptable(source, transaction, { base, ...head }, parts.objects) : undefined;
  return stored ?? { kind: 'none', incompleteParts: [first.object] };
}

function readConfigMap(reader: Reader, { namespace }: Transaction, name: string): Promise<Presence> {
  return read(reader, { resource: configMaps, namespace, name }, engine);
}

// Parts are written from the last one down.
async function findIncompleteParts(
  reader: Reader,
  transaction: Transaction,
  base: string,
  nameInUse: string | undefined,
): Promise<Found> {
  const last = nameInUse === undefined ? undefined : partNumber(nameInUse, base);
  const names = Array.from({ length: last ?? 0 }, (_, index) => partName(base, index + 1));
  const found = await Promise.all(names.map((name) => readConfigMap(reader, transaction, name)));
  const trouble = found.find((one) => one.kind === 'trouble');
  return trouble ?? { kind: 'none', incompleteParts: found.flatMap((one) => (one.kind === 'present' ? [one.object] : [])) };
}

interface Head {
  readonly base: string;
  readonly digest?: string;
}

// The digest of the whole is authentic: parts of another try are not among these.
function adoptable(
  { packer }: SnapshotSource,
  transaction: Transaction,
  { base, digest }: Head,
  objects: readonly JsonObject[],
): Extract<StoredSnapshot, { kind: 'stored' }> | undefined {
  const data = objects.map((object) => at(object, 'data') ?? {});
  if (digest === undefined || digestOf(data) !== digest) return undefined;
  const assembled = assemble(data, { transaction, base, packer });
  if (assembled.kind === 'broken') return undefined;
  return { kind: 'stored', ref: { name: base, digest, objects: objects.length }, entries: assembled.entries };
}

/** Labels are anybody's: more than these are not looked through at once. */
const mostListed = 500;

/** Every ConfigMap that is a part of a snapshot of that Transaction, as far as its label or its status leads there. */
export async function readOwnConfigMaps(
  { reader, packer }: Pick<SnapshotSource, 'reader' | 'packer'>,
  transaction: Transaction,
  { rollbackRef }: Pick<Status, 'rollbackRef'>,
): Promise<{ readonly kind: 'ok'; readonly objects: readonly JsonObject[] } | Trouble> {
  const isOurs = (object: JsonObject): boolean => isSnapshotOf(object, transaction, packer, rollbackRef);
  const selector = { labelSelector: `${uidLabel}=${transaction.uid}`, limit: mostListed };
  const listed = await reader.listMetadata(configMaps, transaction.namespace, engine, selector);
  if (listed.kind === 'failed' && listed.failure.reason !== 'AnswerTooLarge') return { kind: 'trouble', failure: listed.failure };
  const labelled =
    listed.kind === 'ok' && listed.complete
      ? listed.items.filter(isOurs).map((item) => textAt(item, 'metadata', 'name') ?? '')
      : possibleNames(transaction, packer);
  const names = [...new Set([...labelled, ...namedBy(rollbackRef)])];
  const found = await Promise.all(names.map((name) => readConfigMap(reader, transaction, name)));
  const trouble = found.find((one) => one.kind === 'trouble');
  if (trouble !== undefined) return trouble;
  return { kind: 'ok', objects: found.flatMap((one) => (one.kind === 'present' && isOurs(one.object) ? [one.object] : [])) };
}

// Where others have put so much under our label that it cannot be looked through, no deletion waits for them.
function possibleNames(transaction: Transaction, packer: Packer): readonly string[] {
  const parts = Array.from({ length: mostParts }, (_, part) => part);
  return snapshotNames(transaction, packer).flatMap((base) => parts.map((part) => partName(base, part)));
}

function namedBy(ref: RollbackRef | undefined): readonly string[] {
  return ref === undefined ? [] : Array.from({ length: Math.min(ref.objects, mostParts) }, (_, part) => partName(ref.name, part));
}
