// The composition that a rollback made before its locks, kept as the entries of the snapshot that it leads to. Under all locks it counts if
// nothing that it rests on has changed: the Transactions to undo, the other Transactions of the objects, and the objects. Then no undo is
// evaluated again. What is not kept, or has changed, is composed again.
import { createHash } from 'node:crypto';
import { isSameState } from '../../objects/content/ownership.ts';
import { textAt } from '../../objects/json.ts';
import { identityOf, type Reference } from '../../objects/reference.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { Others } from '../model/other-transactions.ts';
import type { Presence, RollbackObject, RollbackObjects } from '../observe/observation.ts';
import type { ObserveContext } from '../observe/observe.ts';
import { findOthers } from '../observe/other-transactions.ts';
import { readLive } from '../observe/read.ts';
import { cachedOf } from '../observe/snapshot.ts';
import type { Releases } from './releases.ts';

/** An object of the composition, with all that other Transactions change of it. */
export interface KeptObject {
  readonly entry: SnapshotEntry;
  readonly others: Others;
}

export function keepComposition(
  { source, transaction }: ObserveContext,
  releases: Releases,
  objects: readonly KeptObject[],
): void {
  const entries = objects.map(({ entry }) => entry);
  source.cache.set(transaction.uid, cachedOf(entries, { digest: basisOf(releases, objects), objects: [] }));
}

/** The states of the kept composition; undefined if it does not count. Read while all locks are held. */
export async function keptObjects(observing: ObserveContext, releases: Releases): Promise<RollbackObjects | undefined> {
  const { source, transaction } = observing;
  const kept = source.cache.get(transaction.uid);
  if (kept === undefined) return undefined;
  const targets = kept.entries.map(({ target }) => target);
  const found = await Promise.all(kept.entries.map((entry) => withOthers(observing, releases, targets, entry)));
  const known = found.filter((one) => one !== undefined);
  if (known.length < found.length || basisOf(releases, known) !== kept.digest) return undefined;
  const read = await inTurn(kept.entries, async (entry) => unmoved(entry, await readLive(source.reader, transaction, entry)));
  const objects = read.filter((one) => one !== undefined);
  return objects.length < read.length ? undefined : new Map(objects.map((one) => [identityOf(one.target), one]));
}

async function withOthers(
  { source, transaction, namespaces, carry }: ObserveContext,
  { listed }: Releases,
  targets: readonly Reference[],
  entry: SnapshotEntry,
): Promise<KeptObject | undefined> {
  const since = ['kept', ...carry.acquired];
  const others = await findOthers({ source, transaction, namespaces, targets, since, known: listed }, entry.target, 'all');
  return others.kind === 'found' ? { entry, others: others.found } : undefined;
}

// The spec, which says what the user decided, cannot change.
function basisOf({ base, undone, composed }: Releases, objects: readonly KeptObject[]): string {
  const releases = [base, ...undone, ...composed].map((one) => [one?.uid, one?.resourceVersion]);
  const changes = objects.map(({ entry, others }) => [identityOf(entry.target), others.changes]);
  const text = JSON.stringify([releases, changes], (_key, value) => (value instanceof Set ? [...value] : value));
  return createHash('sha256').update(text).digest('hex');
}

// Controllers may have written its status. What was recreated may look the same.
function unmoved({ target, resource, prior, expected }: SnapshotEntry, found: Presence): RollbackObject | undefined {
  if (found.kind === 'trouble') return undefined;
  const live = found.kind === 'present' ? found.object : undefined;
  const isOther = ['uid', 'deletionTimestamp'].some((key) => textAt(prior, 'metadata', key) !== textAt(live, 'metadata', key));
  return !isOther && isSameState(prior, live, resource) ? { target, now: prior, after: expected, live } : undefined;
}
