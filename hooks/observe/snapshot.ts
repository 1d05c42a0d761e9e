// Reading a stored snapshot back. What does not have the digest that the status names is broken, whoever made it so.
import type { Reader } from '../cluster.ts';
import type { Failure } from '../model/failure.ts';
import { at, type JsonObject, textAt } from '../model/json.ts';
import { digestOf, textsOf } from '../model/pieces.ts';
import type { Reference } from '../model/reference.ts';
import { decodeEntry, isSnapshotOf, type Packer, partName, partsOfSnapshot, type SnapshotEntry } from '../model/snapshot.ts';
import type { RollbackRef } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { configMaps, engine, uidLabel } from '../writes/resources.ts';
import type { Presence, StoredSnapshot } from './observation.ts';
import { presenceOf, read } from './read.ts';
import type { Sightings } from './sightings.ts';

/** Snapshots that were read and verified in this process, by Transaction uid: they are immutable, so only their presence is read again. */
export interface SnapshotCache {
  get(uid: string): CachedSnapshot | undefined;
  set(uid: string, snapshot: CachedSnapshot): void;
  delete(uid: string): void;
}

export interface CachedSnapshot {
  readonly digest: string;
  /** uid and resourceVersion of each ConfigMap, as verified. */
  readonly versions: readonly string[];
  readonly entries: readonly SnapshotEntry[];
  /** Characters of the entries. */
  readonly size: number;
}

export interface SnapshotSource {
  readonly reader: Reader;
  readonly packer: Packer;
  readonly cache: SnapshotCache;
  readonly sightings: Sightings;
}

/** The snapshot that the status of a Transaction names. */
export async function readSnapshot(
  source: SnapshotSource,
  transaction: Transaction,
  ref: RollbackRef | undefined,
): Promise<StoredSnapshot> {
  if (ref === undefined) return { kind: 'broken', message: 'the status names no snapshot' };
  const cached = source.cache.get(transaction.uid);
  const known = cached?.digest === ref.digest ? cached : undefined;
  if (known !== undefined && (await isStillThere(source, transaction, ref, known.versions))) {
    return { kind: 'stored', ref, entries: known.entries };
  }
  const parts = await readParts(source.reader, transaction, ref.name, ref.objects);
  if (parts.kind !== 'parts') return parts;
  return verified(source, transaction, ref, parts.objects);
}

/** The snapshot in these ConfigMaps, in the order of their names, if it is the one that `ref` names: then it is kept in memory. */
export function verified(
  { packer, cache }: Pick<SnapshotSource, 'packer' | 'cache'>,
  transaction: Transaction,
  ref: RollbackRef,
  objects: readonly JsonObject[],
): StoredSnapshot {
  const stored = assembled(objects, ref.name, transaction, packer);
  if (stored.kind !== 'stored') return stored;
  const { entries } = stored;
  if (stored.ref.digest !== ref.digest) {
    return {
      kind: 'broken',
      message: `snapshot ${transaction.namespace}/${ref.name} is not the one that was stored: its digest differs`,
    };
  }
  const size = JSON.stringify(entries).length;
  cache.set(transaction.uid, { digest: ref.digest, versions: objects.map(versionOf), entries, size });
  return stored;
}

async function isStillThere(
  { reader, sightings }: SnapshotSource,
  { uid, namespace }: Transaction,
  ref: RollbackRef,
  versions: readonly string[],
): Promise<boolean> {
  const names = Array.from({ length: ref.objects }, (_, part) => partName(ref.name, part));
  const looks = names.map((name, part) =>
    sightings.look(`snapshot ${uid} ${versions[part]}`, async (): Promise<Presence> => {
      const found = presenceOf(await reader.getMetadata({ resource: configMaps, namespace, name }, engine));
      return found.kind === 'present' && versionOf(found.object) !== versions[part] ? { kind: 'absent' } : found;
    }),
  );
  return (await Promise.all(looks)).every(({ kind }) => kind === 'present');
}

function versionOf(object: JsonObject): string {
  return `${textAt(object, 'metadata', 'uid')}/${textAt(object, 'metadata', 'resourceVersion')}`;
}

type Parts = { readonly kind: 'parts'; readonly objects: readonly JsonObject[] } | Exclude<StoredSnapshot, { kind: 'stored' }>;

async function readParts(reader: Reader, { namespace }: Transaction, base: string, count: number): Promise<Parts> {
  const names = Array.from({ length: Math.min(count, 1000) }, (_, part) => partName(base, part));
  const found = await Promise.all(names.map((name) => read(reader, { resource: configMaps, namespace, name }, engine)));
  const trouble = found.find((part) => part.kind === 'trouble');
  if (trouble?.kind === 'trouble') return { kind: 'trouble', failure: trouble.failure };
  const objects = found.flatMap((part) => (part.kind === 'present' ? [part.object] : []));
  if (objects.length === names.length) return { kind: 'parts', objects };
  const missing = names.filter((_, index) => found[index]?.kind === 'absent');
  return { kind: 'broken', message: `snapshot ConfigMap ${missing.map((name) => `${namespace}/${name}`).join(', ')} is gone` };
}

/** Puts the parts of a snapshot together; broken when an entry is missing or cannot be opened. */
function assembled(objects: readonly JsonObject[], name: string, transaction: Transaction, packer: Packer): StoredSnapshot {
  const data = objects.map((object) => at(object, 'data') ?? {});
  const texts = textsOf(data);
  const entries = transaction.changes.map((change, index) => {
    const text = texts.get(index);
    const target = storedTarget(change.target, transaction);
    const decoded = target.map((candidate) =>
      text !== undefined ? decodeEntry(text, index, candidate, { uid: transaction.uid, packer }) : undefined,
    );
    return decoded.find((entry) => entry !== undefined);
  });
  const broken = entries.indexOf(undefined);
  if (broken >= 0) {
    return {
      kind: 'broken',
      message:
        `snapshot ${transaction.namespace}/${name} has no readable entry for spec.changes[${broken}]: ` +
        (texts.get(broken)?.startsWith('sealed:') === true
          ? 'somebody changed it, or the key that sealed it is no longer in the Secret of the engine'
          : 'somebody changed it'),
    };
  }
  const ref = { name, digest: digestOf(data), objects: objects.length };
  return { kind: 'stored', ref, entries: entries.filter((entry) => entry !== undefined) };
}

// The identity that an entry is sealed to comes from the spec, never from the ConfigMap: as a namespaced or a cluster-scoped kind.
function storedTarget({ apiVersion, kind, name, namespace }: Reference, transaction: Transaction): readonly Reference[] {
  return [
    { apiVersion, kind, name, namespace: namespace ?? transaction.namespace },
    { apiVersion, kind, name },
  ];
}

export type Found =
  | { readonly kind: 'none'; readonly leftovers: readonly JsonObject[] }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'snapshot'; readonly stored: StoredSnapshot }
  | { readonly kind: 'trouble'; readonly failure: Failure };

/** What lies under the name that a snapshot shall have: ours and complete, somebody else's, or parts of ours without the first. */
export async function findSnapshot(source: SnapshotSource, transaction: Transaction, name: string): Promise<Found> {
  const first = await read(source.reader, { resource: configMaps, namespace: transaction.namespace, name }, engine);
  if (first.kind === 'trouble') return first;
  if (first.kind === 'present' && !isSnapshotOf(first.object, transaction)) return { kind: 'foreign' };
  if (first.kind === 'absent') return findLeftovers(source.reader, transaction, name);
  const parts = await readParts(source.reader, transaction, name, partsOfSnapshot(first.object));
  return {
    kind: 'snapshot',
    stored: parts.kind === 'parts' ? assembled(parts.objects, name, transaction, source.packer) : parts,
  };
}

async function findLeftovers(reader: Reader, transaction: Transaction, name: string): Promise<Found> {
  const all = await readOwnConfigMaps(reader, transaction);
  if (all.kind === 'trouble') return all;
  const leftovers = all.objects.filter((object) => (textAt(object, 'metadata', 'name') ?? '').startsWith(`${name}-`));
  return { kind: 'none', leftovers };
}

/** Every ConfigMap that carries the label of the Transaction: all parts of its snapshot, under whichever name. */
export async function readOwnConfigMaps(
  reader: Reader,
  transaction: Transaction,
): Promise<{ readonly kind: 'ok'; readonly objects: readonly JsonObject[] } | Extract<Presence, { kind: 'trouble' }>> {
  const selector = { labelSelector: `${uidLabel}=${transaction.uid}` };
  const listed = await reader.listMetadata(configMaps, transaction.namespace, engine, selector);
  if (listed.kind === 'failed') return { kind: 'trouble', failure: listed.failure };
  const names = listed.items.map((item) => textAt(item, 'metadata', 'name') ?? '');
  const found = await Promise.all(
    names.map((name) => read(reader, { resource: configMaps, namespace: transaction.namespace, name }, engine)),
  );
  const trouble = found.find((one) => one.kind === 'trouble');
  if (trouble?.kind === 'trouble') return trouble;
  return { kind: 'ok', objects: found.flatMap((one) => (one.kind === 'present' ? [one.object] : [])) };
}
