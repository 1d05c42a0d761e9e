// What a Transaction has stored of its targets, and what they are now. Entry by entry: one that cannot be read hides no other.
import { contentOf } from '../../objects/content/content.ts';
import { isDerived } from '../../objects/content/derived.ts';
import { listKindsOf } from '../../objects/content/lists.ts';
import { differences } from '../../objects/content/merge.ts';
import { isUnclaimed } from '../../objects/content/owners.ts';
import { at, type JsonObject } from '../../objects/json.ts';
import type { ChangeStates, StatesParts } from '../inspection.ts';
import { isSealed, type SnapshotEntry } from '../model/entry.ts';
import type { Item } from '../model/item.ts';
import type { RollbackRef } from '../model/status.ts';
import { decodeTransaction, type Transaction } from '../model/transaction.ts';
import { placesOf } from '../observe/entries.ts';
import { read } from '../observe/read.ts';
import { readParts } from '../observe/snapshot.ts';
import { digestOf, textsOf } from '../snapshots/chunks.ts';
import { openForm, readEntry } from '../snapshots/codec.ts';
import { isPartCount } from '../snapshots/objects.ts';
import { locationOf } from '../writes/change.ts';
import { engine } from '../writes/resources.ts';
import { fieldChanges, hidingOf } from './masks.ts';

export async function statesOf(parts: StatesParts, object: JsonObject): Promise<readonly ChangeStates[]> {
  const transaction = decodeTransaction(object);
  const found = await storedTexts(parts, transaction, transaction.status?.rollbackRef);
  return Promise.all(
    transaction.changes.map((_, index) =>
      typeof found === 'string' ? unreadable(transaction, index, found) : stateOf(parts, { transaction, found, index }),
    ),
  );
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

function unreadable({ changes }: Transaction, index: number, why: string): ChangeStates {
  return { index, target: changes[index]?.target ?? nobody, kind: 'unreadable', fields: [], why };
}

const nobody = { apiVersion: '', kind: '', name: '' };

interface Place {
  readonly transaction: Transaction;
  readonly found: Stored;
  readonly index: number;
}

async function stateOf(parts: StatesParts, place: Place): Promise<ChangeStates> {
  const { transaction, found, index } = place;
  const text = found.texts.get(index);
  if (text === undefined) return unreadable(transaction, index, `the snapshot has no entry for spec.changes[${index}]`);
  const target = transaction.changes[index]?.target ?? nobody;
  if (text.startsWith('sealed:')) return { index, target, kind: 'sealed', fields: [], why: 'hidden: sealed by the engine' };
  const entry = entryIn(parts, place, text);
  return entry === undefined
    ? unreadable(transaction, index, `the entry for spec.changes[${index}] cannot be read`)
    : compared(parts, transaction, entry);
}

// What must be sealed is believed in no other form.
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

async function compared({ reader }: StatesParts, transaction: Transaction, entry: SnapshotEntry): Promise<ChangeStates> {
  const { index, target, resource, prior, expected, approximate } = entry;
  const live = await read(reader, locationOf(target, resource), engine);
  if (live.kind === 'trouble')
    return { index, target, kind: 'hidden', fields: [], why: `the object cannot be read (${live.failure.reason})` };
  const now = live.kind === 'present' ? live.object : undefined;
  const hiding = hidingOf(target, transaction.changes[index]);
  const fields = fieldChanges({ before: prior, after: expected, now }, { resource, hiding, withNow: true });
  const isMade = wasMade(transaction.status?.items[index]);
  // Without a dry run the expected state lacks defaults.
  const told = approximate ? fields.filter(({ before, after }) => before !== undefined || after !== undefined) : fields;
  const left = isMade ? expected : prior;
  const isAsLeft = isMade && approximate ? told.every(isAsExpected) : isSame(left, now, resource);
  return { index, target, kind: 'shown', isAsLeft, fields: told };
}

function isAsExpected({ after, now }: ChangeStates['fields'][number]): boolean {
  return JSON.stringify(after) === JSON.stringify(now);
}

function wasMade(item: Item | undefined): boolean {
  return item?.progress.kind === 'applied' || item?.progress.kind === 'notRestored';
}

/**
 * A value that no manager owns counts as left. The API server draws such a value again for each request, for example a cluster IP
 * or a node port. A value that a controller of Kubernetes derives also counts as left.
 */
function isSame(left: JsonObject | undefined, now: JsonObject | undefined, resource: SnapshotEntry['resource']): boolean {
  if (left === undefined || now === undefined) return left === now;
  const kinds = listKindsOf(left, now);
  return differences(contentOf(left, resource), contentOf(now, resource), kinds).every(
    (path) => isUnclaimed(now, path, kinds) || isDerived(now, path),
  );
}
