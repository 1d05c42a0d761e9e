// Reads the contents that lie in ConfigMaps and Secrets, as the ServiceAccount, before the first write. The engine checks and tries
// the content that it reads here, stores it with the snapshot, and sends it. It reads no source again. It parses only content that
// has the digest that the spec requires.
import { createHash } from 'node:crypto';
import type { Clock, Manifests, Reader } from '../../objects/cluster.ts';
import { type Failure, lateTurn } from '../../objects/failure.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { limits } from '../../objects/limits.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { withEncodedStrings } from '../../objects/secret-data.ts';
import type { Fault } from '../checks/fault.ts';
import { mismatchFault, missingKeyFault, type Sourced, tooMuchFault, unfitFault, unreadFault } from '../checks/sources.ts';
import { sourcedFaults } from '../checks/validity.ts';
import type { Change } from '../model/change.ts';
import { type Source, sourceOf } from '../model/source.ts';
import type { Transaction } from '../model/transaction.ts';

import { configMaps, secrets, serviceAccountOf } from '../writes/resources.ts';
import { createPatience, type Patience } from './patience.ts';

/** A Transaction whose changes have the content of their sources. */
export interface Filled {
  readonly transaction: Transaction;
  readonly faults: readonly Fault[];
  readonly trouble?: Failure;
}

/** Made for one call. */
export interface Sources {
  /** The Transaction with the content that its sources hold; with `isWanted`, only for some changes. */
  fill(reader: Reader, transaction: Transaction, isWanted?: (change: Change) => boolean): Promise<Filled>;
  /** Forgets the contents that were read. */
  drop(): void;
}

type Content =
  | { readonly kind: 'content'; readonly object: JsonObject }
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'trouble'; readonly failure: Failure };

/** The same sentence for each source: a status that changes wakes Metacontroller at once. */
const late = lateTurn('the YAML of its sources is read after that of other Transactions');

/** Objects that are in memory at once while they are read. */
const mostAtOnce = 4;

export function createSources(manifests: Manifests, clock: Pick<Clock, 'monotonic'>): Sources {
  const patience = createPatience(clock);
  const known = new Map<number, Content>();
  let spec = '';
  return {
    async fill(reader, transaction, isWanted = () => true) {
      if (transaction.specDigest !== spec) known.clear();
      spec = transaction.specDigest;
      const wanted = sourcedOf(transaction).filter(({ change }) => isWanted(change));
      const unread = wanted.filter(({ index }) => known.get(index)?.kind !== 'content');
      const read = await readAll({ manifests, patience, reader, transaction }, unread);
      for (const [index, content] of read) known.set(index, content);
      return filled(transaction, new Map(wanted.flatMap(({ index }) => entryIn(known, index))));
    },
    drop: () => known.clear(),
  };
}

interface SourcedChange extends Sourced {
  readonly change: Change;
}

function sourcedOf({ changes }: Transaction): readonly SourcedChange[] {
  return changes.flatMap((change, index) => {
    const source = sourceOf(change);
    return source === undefined ? [] : [{ index, change, source }];
  });
}

function entryIn<Value>(map: ReadonlyMap<number, Value>, index: number): readonly (readonly [number, Value])[] {
  const value = map.get(index);
  return value === undefined ? [] : [[index, value]];
}

function filled(transaction: Transaction, contents: ReadonlyMap<number, Content>): Filled {
  if (contents.size === 0) return { transaction, faults: [] };
  const found = [...contents.values()];
  const trouble = found.find((one) => one.kind === 'trouble');
  const changes = transaction.changes.map((change, index): Change => {
    const content = contents.get(index);
    return content?.kind === 'content' ? { ...change, content: withEncodedStrings(content.object, change.target) } : change;
  });
  const unreadable = found.flatMap((one) => (one.kind === 'fault' ? [one.fault] : []));
  const whole = { ...transaction, changes };
  return {
    transaction: whole,
    faults: [...unreadable, ...sourcedFaults(whole)],
    ...(trouble === undefined ? {} : { trouble: trouble.failure }),
  };
}

interface Reading {
  readonly manifests: Manifests;
  readonly patience: Patience;
  readonly reader: Reader;
  readonly transaction: Transaction;
}

type Contents = readonly (readonly [index: number, content: Content])[];

/** Each object is read once, however many of its keys are sources. */
async function readAll(reading: Reading, sourced: readonly Sourced[]): Promise<Contents> {
  const objects = Map.groupBy(sourced, ({ source: { kind, name } }) => `${kind}/${name}`);
  const room = { bytes: limits.sources.value, values: limits.sourcesValues.value };
  const read = await inTurn([...objects.values()], (one) => readObject({ ...reading, room }, one), mostAtOnce);
  return read.flat().toSorted(([left], [right]) => left - right);
}

type InRoom = Reading & { readonly room: { bytes: number; values: number } };

async function readObject(reading: InRoom, sourced: readonly Sourced[]): Promise<Contents> {
  const { reader, transaction } = reading;
  const [{ source } = { source: { kind: 'ConfigMap', name: '' } }] = sourced;
  const resource = source.kind === 'Secret' ? secrets : configMaps;
  const location = { resource, namespace: transaction.namespace, name: source.name };
  const answer = await reader.get(location, serviceAccountOf(transaction));
  const contents: [number, Content][] = [];
  for (const one of sourced) {
    const content =
      answer.kind === 'ok' ? await contentIn(answer.object, one, reading) : unread(one, answer.failure, transaction);
    contents.push([one.index, content]);
  }
  return contents;
}

function unread(one: Sourced, failure: Failure, transaction: Transaction): Content {
  if (failure.kind === 'transient') return { kind: 'trouble', failure };
  return refused(unreadFault(one, failure, transaction));
}

async function contentIn(object: JsonObject, one: Sourced, reading: InRoom): Promise<Content> {
  const { manifests, transaction, room } = reading;
  const packed = bytesIn(object, one.source);
  if (packed === undefined) return refused(missingKeyFault(one, transaction));
  if (room.bytes < 0) return refused(tooMuchFault(one, 'bytes'));
  const unpacked = await manifests.unpack(packed, limits.source.value);
  if (unpacked.kind === 'unreadable') return refused(unfitFault(one, unpacked.why, transaction));
  room.bytes -= unpacked.bytes.length;
  return room.bytes < 0 ? refused(tooMuchFault(one, 'bytes')) : objectIn(unpacked.bytes, one, reading);
}

// The digest is that of the unpacked bytes: the engine parses only the content that the spec names.
async function objectIn(bytes: Uint8Array, one: Sourced, { manifests, patience, transaction, room }: InRoom): Promise<Content> {
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  if (one.source.digest !== undefined && one.source.digest !== digest) return refused(mismatchFault(one, digest, transaction));
  const read = await patience((wait) => manifests.parse(bytes, transaction, wait));
  if (read === 'late') return { kind: 'trouble', failure: late };
  if (read.kind === 'unreadable') return refused(unfitFault(one, read.why, transaction));
  room.values -= read.values;
  return room.values < 0 ? refused(tooMuchFault(one, 'values')) : { kind: 'content', object: read.object };
}

function refused(fault: Fault): Content {
  return { kind: 'fault', fault };
}

function bytesIn(object: JsonObject, { kind, key }: Source): Uint8Array | undefined {
  const [data, binary] = [textAt(object, 'data', key), textAt(object, 'binaryData', key)];
  if (kind === 'ConfigMap' && data !== undefined) return Buffer.from(data);
  const base64 = kind === 'Secret' ? data : binary;
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64');
}
