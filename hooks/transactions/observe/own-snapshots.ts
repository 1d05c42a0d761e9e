// Finds the snapshots of a Transaction that exist, whatever its status says: that of a try whose answer was lost, and those to
// delete.
import type { Packer, Reader } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import { at, type JsonObject, textAt } from '../../objects/json.ts';
import type { RollbackRef, Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { digestOf } from '../snapshots/chunks.ts';
import { isSnapshotOf, mostParts, partName, partNumber, snapshotNames } from '../snapshots/names.ts';
import { readHead } from '../snapshots/objects.ts';
import { discard } from '../snapshots/store.ts';
import { configMaps, engine, uidLabel } from '../writes/resources.ts';
import type { StoredSnapshot } from './awaited.ts';
import { assemble } from './entries.ts';
import type { Presence } from './observation.ts';
import { read } from './read.ts';
import { readParts, type SnapshotSource } from './snapshot.ts';

type Trouble = { readonly kind: 'trouble'; readonly failure: Failure };

export type Found =
  | Extract<StoredSnapshot, { kind: 'stored' }>
  /** Objects under the snapshot's names that are no complete snapshot. */
  | { readonly kind: 'none'; readonly incompleteParts: readonly JsonObject[] }
  | Trouble;

/**
 * Reads under a name that only our key gives. The engine finds one of three: a complete snapshot that one try of this Transaction
 * stored, parts without the first part, or another writer's object. `nameInUse`: the name under which a part could not be created.
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
  const stored = parts?.kind === 'parts' ? await adoptable(source, transaction, { base, ...head }, parts.objects) : undefined;
  return stored ?? { kind: 'none', incompleteParts: [first.object] };
}

function readConfigMap(reader: Reader, { namespace }: Transaction, name: string): Promise<Presence> {
  return read(reader, { resource: configMaps, namespace, name }, engine);
}

// The engine writes the parts from the last to the first.
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

// The digest of the whole is authentic: a part from another try does not fit it.
async function adoptable(
  { packer }: SnapshotSource,
  transaction: Transaction,
  { base, digest }: Head,
  objects: readonly JsonObject[],
): Promise<Extract<StoredSnapshot, { kind: 'stored' }> | undefined> {
  const data = objects.map((object) => at(object, 'data') ?? {});
  if (digest === undefined || digestOf(data) !== digest) return undefined;
  const assembled = await assemble(data, { transaction, base, packer });
  if (assembled.kind === 'broken') return undefined;
  return { kind: 'stored', ref: { name: base, digest, objects: objects.length }, entries: assembled.entries };
}

/** ConfigMaps that are listed at once, at most: anybody can use our label. */
const mostListed = 500;

/** Bytes of that list: anybody can put a megabyte of metadata beside our label. The parts of one snapshot take a tenth of that. */
const mostBytes = 1024 * 1024;

/** ConfigMaps that are in memory at once: whoever has seen their names can put other ones there, of a megabyte of keys. */
const mostWhole = 4;

interface OwnConfigMaps {
  readonly kind: 'ok';
  /** Those that something is left to do for. */
  readonly objects: readonly JsonObject[];
  /** There may be more ConfigMaps: after these are deleted, the next attempt finds them. */
  readonly hasMore: boolean;
}

/** The ConfigMaps that are parts of a snapshot of that Transaction, found by label or by the name in the status. */
export async function readOwnConfigMaps(
  { reader, packer }: Pick<SnapshotSource, 'reader' | 'packer'>,
  transaction: Transaction,
  { rollbackRef }: Pick<Status, 'rollbackRef'>,
): Promise<OwnConfigMaps | Trouble> {
  const isOurs = (object: JsonObject): boolean => isSnapshotOf(object, transaction, packer, rollbackRef);
  const selector = { labelSelector: `${uidLabel}=${transaction.uid}`, limit: mostListed, mostBytes };
  const listed = await reader.listMetadata(configMaps, transaction.namespace, engine, selector);
  if (listed.kind === 'failed' && listed.failure.reason !== 'AnswerTooLarge') return { kind: 'trouble', failure: listed.failure };
  const labelled =
    listed.kind === 'ok' && listed.complete
      ? listed.items.filter(isOurs).map((item) => textAt(item, 'metadata', 'name') ?? '')
      : possibleNames(transaction, packer);
  const names = [...new Set([...labelled, ...namedBy(rollbackRef)])];
  return readFew(names, (name) => readConfigMap(reader, transaction, name), isOurs);
}

async function readFew(
  names: readonly string[],
  readOne: (name: string) => Promise<Presence>,
  isOurs: (object: JsonObject) => boolean,
): Promise<OwnConfigMaps | Trouble> {
  const objects: JsonObject[] = [];
  for (const name of names) {
    if (objects.length === mostWhole) return { kind: 'ok', objects, hasMore: true };
    const found = await readOne(name);
    if (found.kind === 'trouble') return found;
    if (found.kind === 'present' && isOurs(found.object) && discard(found.object) !== undefined) objects.push(found.object);
  }
  return { kind: 'ok', objects, hasMore: false };
}

// Others may use our label so often, or with so much beside it, that the list is too long. A deletion does not wait for them: it
// reads the possible names instead.
function possibleNames(transaction: Transaction, packer: Packer): readonly string[] {
  const parts = Array.from({ length: mostParts }, (_, part) => part);
  return snapshotNames(transaction, packer).flatMap((base) => parts.map((part) => partName(base, part)));
}

function namedBy(ref: RollbackRef | undefined): readonly string[] {
  return ref === undefined ? [] : Array.from({ length: Math.min(ref.objects, mostParts) }, (_, part) => partName(ref.name, part));
}
