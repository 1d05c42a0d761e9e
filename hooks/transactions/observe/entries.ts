// Decodes the entries in the ConfigMaps of a snapshot. If one entry is not authentic, the whole snapshot is broken.

import type { Packer } from '../../objects/cluster.ts';
import type { Json } from '../../objects/json.ts';
import type { Reference } from '../../objects/reference.ts';
import { inOwnTurns, ownTurn } from '../../objects/requests/loop-turns.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { Transaction } from '../model/transaction.ts';
import { textsOf } from '../snapshots/chunks.ts';
import { type Decoded, decoding, openEntry, type Place, readEntry } from '../snapshots/codec.ts';
import { mostBytes, mostMemory } from '../snapshots/size.ts';
import { kept } from './comparing.ts';

interface EntriesContext {
  readonly transaction: Transaction;
  /** Name of the first ConfigMap. */
  readonly base: string;
  readonly packer: Packer;
}

type Assembled =
  | { readonly kind: 'entries'; readonly entries: readonly SnapshotEntry[]; readonly memory: number }
  | { readonly kind: 'broken'; readonly why: string };

/** Bytes: more than the engine stores, so that what it has stored is never too much. */
const mostReadBack = mostMemory * 1.1;

/** Characters of a stored text that is unpacked and parsed within some ms. */
const unpackedAtOnce = 8 * 1024;

/** Any error while stored text is read means a broken snapshot: stored text must never stop the engine. */
export async function assemble(data: readonly Json[], context: EntriesContext): Promise<Assembled> {
  const texts = textsOf(data);
  const entries: SnapshotEntry[] = [];
  let [left, memory] = [mostBytes, 0];
  for (const [index, { target }] of context.transaction.changes.entries()) {
    const text = texts.get(index);
    const decoded = await decodedInTurn(text, { index, target }, { ...context, left });
    if (decoded === undefined) return { kind: 'broken', why: whyUnreadable(index, text) };
    entries.push(decoded.entry);
    left -= decoded.size;
    memory += decoded.memory;
    if (memory > mostReadBack) return { kind: 'broken', why: `takes more than ${mostReadBack} bytes of memory` };
  }
  return { kind: 'entries', entries, memory };
}

async function decodedInTurn(
  text: string | undefined,
  { index, target }: { readonly index: number; readonly target: Reference },
  context: Decoding,
): Promise<Decoded | undefined> {
  if (text === undefined) return undefined;
  // Packed, it is a tenth of what it holds, or less.
  const isLong = text.length > unpackedAtOnce;
  try {
    if (isLong) await ownTurn();
    for (const { plain, place } of open(text, index, target, context)) {
      const found = isLong ? await inOwnTurns(decoding(plain, place)) : readEntry(plain, place);
      if (found !== undefined) return { ...found, entry: await withKept(found.entry) };
    }
  } catch {
    // Stored text must never stop the engine.
  }
  return undefined;
}

async function withKept(entry: SnapshotEntry): Promise<SnapshotEntry> {
  return entry.expected === undefined ? entry : { ...entry, expected: await kept(entry.expected, entry.prior) };
}

function whyUnreadable(index: number, text: string | undefined): string {
  const key = /^(sealed|plain|compressed):1\./.test(text ?? '') ? ', or its key is no longer in the Secret of the engine' : '';
  return `has no readable entry for spec.changes[${index}]: it was modified${key}`;
}

type Decoding = EntriesContext & { readonly left: number };

interface Opened {
  readonly plain: string;
  readonly place: Place;
}

function open(text: string, index: number, target: Reference, context: Decoding): readonly Opened[] {
  const { transaction, base, packer, left } = context;
  const places = placesOf(target, transaction).map((one): Place => ({ transaction, base, index, target: one }));
  return places.flatMap((place) => {
    const plain = openEntry(text, place, packer, left);
    return plain === undefined ? [] : [{ plain, place }];
  });
}

// The spec decides which object an entry belongs to, never the ConfigMap. The kind may be namespaced or cluster-scoped: both are
// tried.
export function placesOf({ apiVersion, kind, name, namespace }: Reference, transaction: Transaction): readonly Reference[] {
  return [
    { apiVersion, kind, name, namespace: namespace ?? transaction.namespace },
    { apiVersion, kind, name },
  ];
}
