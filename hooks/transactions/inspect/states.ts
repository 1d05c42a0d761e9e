// The objects that a Transaction changed, as it left them and as they are now. One entry that cannot be read hides no other.
import { ownersAt } from '../../objects/content/owners.ts';
import { at, type JsonObject } from '../../objects/json.ts';
import { identityOf } from '../../objects/reference.ts';
import { foreign } from '../../objects/words.ts';
import { isMade, type ReleasedObject, sinceRelease } from '../attribution/since.ts';
import type { DriftedField, ObjectState, StatesParts } from '../inspection.ts';
import { isSealed, type SnapshotEntry } from '../model/entry.ts';
import type { RollbackRef } from '../model/status.ts';
import { decodeTransaction, longestManager, type Transaction } from '../model/transaction.ts';
import { placesOf } from '../observe/entries.ts';
import { read } from '../observe/read.ts';
import { readParts } from '../observe/snapshot.ts';
import { digestOf, textsOf } from '../snapshots/chunks.ts';
import { openForm, readEntry } from '../snapshots/codec.ts';
import { unverifiedDrift } from '../snapshots/drift.ts';
import { isPartCount } from '../snapshots/objects.ts';
import { locationOf } from '../writes/change.ts';
import { engine } from '../writes/resources.ts';
import { fieldChange, hidingOf, type Masking, outermost } from './masks.ts';

export async function statesOf(parts: StatesParts, object: JsonObject): Promise<readonly ObjectState[]> {
  const transaction = decodeTransaction(object);
  const found = await storedTexts(parts, transaction, transaction.status?.rollbackRef);
  return Promise.all(
    lastChanges(transaction).map((index) =>
      typeof found === 'string' ? unknown(transaction, index, found) : stateOf(parts, { transaction, found, index }),
    ),
  );
}

/** One change for each object: the last one that is made, or else the first one, whose prior state the undo restores. */
function lastChanges(transaction: Transaction): readonly number[] {
  const placed = transaction.changes.map(({ target }, index) => ({
    index,
    key: identityOf({ ...target, namespace: target.namespace ?? transaction.namespace }),
  }));
  return [...Map.groupBy(placed, ({ key }) => key).values()].map((same) => {
    const made = same.findLast(({ index }) => isMade(transaction, index));
    return (made ?? same[0])?.index ?? 0;
  });
}

interface Stored {
  readonly base: string;
  readonly texts: ReadonlyMap<number, string>;
}

/** The entries as text, or why there is no entry. */
async function storedTexts(
  { reader }: StatesParts,
  transaction: Transaction,
  ref: RollbackRef | undefined,
): Promise<Stored | string> {
  if (ref === undefined || !isPartCount(ref.objects)) return 'no state is stored: nothing was changed';
  const parts = await readParts(reader, transaction, ref.name, ref.objects);
  if (parts.kind === 'broken') return parts.message;
  if (parts.kind !== 'parts') return `the snapshot cannot be read (${parts.failure.reason})`;
  const data = parts.objects.map((object) => at(object, 'data') ?? {});
  if (digestOf(data) !== ref.digest) return `snapshot ${transaction.namespace}/${ref.name} was modified`;
  return { base: ref.name, texts: textsOf(data) };
}

function unknown({ changes }: Transaction, index: number, why: string): ObjectState {
  return { index, target: changes[index]?.target ?? unknownTarget, state: 'unknown', fields: [], why };
}

const unknownTarget = { apiVersion: '', kind: '', name: '' };

interface Place {
  readonly transaction: Transaction;
  readonly found: Stored;
  readonly index: number;
}

async function stateOf(parts: StatesParts, place: Place): Promise<ObjectState> {
  const { transaction, found, index } = place;
  const text = found.texts.get(index);
  if (text === undefined) return unknown(transaction, index, `the snapshot has no entry for spec.changes[${index}]`);
  const target = transaction.changes[index]?.target ?? unknownTarget;
  if (text.startsWith('sealed:')) return { index, target, state: 'sealed', fields: [], why: 'sealed by the engine' };
  const entry = entryIn(parts, place, text);
  return entry === undefined
    ? unknown(transaction, index, `the entry for spec.changes[${index}] cannot be read`)
    : compared(parts, transaction, entry);
}

// The command believes an entry that must be sealed in no other form.
function entryIn({ expand }: StatesParts, { transaction, found, index }: Place, text: string): SnapshotEntry | undefined {
  const { form, stored } = openForm(text);
  const plain = form === 'compressed' ? expand(stored) : form === 'plain' ? stored : undefined;
  const change = transaction.changes[index];
  if (plain === undefined || change === undefined) return undefined;
  const [entry] = placesOf(change.target, transaction).flatMap((target) => {
    const place = { transaction, base: found.base, index, target };
    return isSealed(place, transaction) ? [] : (readEntry(plain, place)?.entry ?? []);
  });
  return entry;
}

async function compared({ reader }: StatesParts, transaction: Transaction, entry: SnapshotEntry): Promise<ObjectState> {
  const { index, target, resource } = entry;
  const live = await read(reader, locationOf(target, resource), engine);
  if (live.kind === 'trouble') return unknown(transaction, index, `the object cannot be read (${live.failure.reason})`);
  const now = live.kind === 'present' ? live.object : undefined;
  const drift = unverifiedDrift(transaction.status?.items[index]?.drift);
  const since = sinceRelease({ transaction, entry, live: now, isMade: isMade(transaction, index), drift });
  return { index, target, state: since.state, fields: fieldsOf(since, now, hidingOf(target, transaction.changes[index])) };
}

/** `now`: with its managedFields, which name who made each change. */
function fieldsOf(
  { paths, versions, kinds }: ReleasedObject,
  now: JsonObject | undefined,
  hiding: Masking,
): readonly DriftedField[] {
  return outermost(paths).map((path) => ({
    ...fieldChange(path, versions, { hiding, before: versions.before, kinds }),
    by: [...new Set(ownersAt(now, path).map(({ name }) => foreign(name, longestManager)))],
  }));
}
