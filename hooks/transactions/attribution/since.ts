// The state in which a Transaction left an object, and the fields that others have changed since. Two kinds of values are no change by
// others. The API server sets the values that no field manager owns. Kubernetes' controllers write the values of a fixed table, and a
// HorizontalPodAutoscaler scales.
import { isOfControllers } from '../../objects/content/derived.ts';
import { type ListKinds, listKindsOf, valueAt } from '../../objects/content/lists.ts';
import { differences } from '../../objects/content/merge.ts';
import { isUnclaimed, ownersAt } from '../../objects/content/owners.ts';
import { field, type Path, pathText } from '../../objects/content/path.ts';
import { isObject, type Json, type JsonObject } from '../../objects/json.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { wasApplied } from '../model/item.ts';
import { bearsOurWrite, isOwnMark } from '../model/marks.ts';
import { managersOfChange, type Transaction } from '../model/transaction.ts';
import type { Drift } from '../snapshots/drift.ts';
import { isCounter, writtenState } from './attribute.ts';
import { withDrift } from './drift.ts';
import { asKept } from './kept-scale.ts';
import { countedOf } from './uncounted.ts';

interface Left {
  readonly transaction: Transaction;
  readonly entry: SnapshotEntry;
  readonly live: JsonObject | undefined;
  /** Whether the change is made, and not undone. */
  readonly isMade: boolean;
  /** Of the status. */
  readonly drift: readonly Drift[];
}

type ReleasedState = 'asReleased' | 'changed' | 'deleted' | 'created';

export interface ReleasedObject {
  readonly state: ReleasedState;
  /** What others have changed, in the versions that count. */
  readonly paths: readonly Path[];
  readonly versions: Readonly<Record<'before' | 'after' | 'now', JsonObject | undefined>>;
  readonly kinds: ListKinds;
}

/** What has become of an object that could be read. */
export function sinceRelease(left: Left): ReleasedObject {
  const { transaction, live } = left;
  const entry = withKeptScale(left.entry, live, transaction);
  const released = releasedState({ ...left, entry });
  const kinds = listKindsOf(entry.prior, entry.expected, live);
  const counted = (object: JsonObject | undefined): JsonObject | undefined => object && countedOf(object, entry);
  const versions = { before: counted(entry.prior), after: counted(released), now: counted(live) };
  const both = live !== undefined && released !== undefined ? { transaction, entry, released, now: live } : undefined;
  const paths = both === undefined ? [] : changedIn(both, versions, kinds);
  return { state: stateFrom(released, live, paths.length > 0), paths, versions, kinds };
}

/** Whether the change is made, and not undone. */
export function isMade({ status }: Transaction, index: number): boolean {
  const item = status?.items[index];
  return item !== undefined && wasApplied(item) && item.progress.kind !== 'restored';
}

// The number that the change has kept was sent as it was found then, perhaps later than the snapshot. Another manager's is an edit.
function withKeptScale(entry: SnapshotEntry, now: JsonObject | undefined, transaction: Transaction): SnapshotEntry {
  const { forward } = managersOfChange(transaction, transaction.changes[entry.index]);
  const owners = ownersAt(now, (entry.keepsScale?.path ?? []).map(field));
  const isOurs = owners.every(({ name, subresource }) => name === forward || subresource === 'scale');
  return isOurs ? asKept(entry, now) : entry;
}

function stateFrom(released: JsonObject | undefined, now: JsonObject | undefined, differs: boolean): ReleasedState {
  if (now === undefined) return released === undefined ? 'asReleased' : 'deleted';
  if (released === undefined) return 'created';
  return differs ? 'changed' : 'asReleased';
}

/** Undefined if the Transaction left no object. */
function releasedState({ transaction, entry, live, isMade, drift }: Left): JsonObject | undefined {
  if (!isMade) return withDrift(entry, drift).prior;
  const managers = managersOfChange(transaction, transaction.changes[entry.index]);
  const evidence = { entry, live, managers, drift, recorded: true, isSealed: false };
  const written = entry.expected && writtenState(evidence, listKindsOf(entry.prior, entry.expected, live));
  return isObject(written) ? written : undefined;
}

interface Drifted {
  readonly transaction: Transaction;
  readonly entry: SnapshotEntry;
  readonly released: JsonObject;
  readonly now: JsonObject;
}

function changedIn(drifted: Drifted, { after, now }: ReleasedObject['versions'], kinds: ListKinds): readonly Path[] {
  return changedFields(after, now, kinds).filter((path) => !isCounter(path) && !isLeft(path, drifted, kinds));
}

/** The fields in which two contents differ: what plans, results and undos count as changed. Marks of the engine are no content. */
export function changedFields(before: Json | undefined, after: Json | undefined, kinds: ListKinds): readonly Path[] {
  return differences(before, after, kinds).filter((path) => !isOwn(path));
}

/** Whether the path names the object, or is that of our own mark. */
export function isOwn(path: Path): boolean {
  return isOwnMark(path) || own.includes(pathText(path));
}

const metadata = field('metadata');
const own: readonly string[] = [
  [field('apiVersion')],
  [field('kind')],
  [metadata, field('name')],
  [metadata, field('namespace')],
].map(pathText);

/** Whether the difference at the path is no change by another client. */
function isLeft(path: Path, { transaction, entry, released, now }: Drifted, kinds: ListKinds): boolean {
  if (valueAt(now, path, kinds) === undefined) return isUncounted(released, path, kinds);
  return isUncounted(now, path, kinds) || isOurs(path, { transaction, entry, now });
}

function isUncounted(object: Json, path: Path, kinds: ListKinds): boolean {
  return isUnclaimed(object, path, kinds) || isOfControllers(object, path);
}

// Without a dry run, the API server may store a sent value in another form.
function isOurs(path: Path, { transaction, entry, now }: Omit<Drifted, 'released'>): boolean {
  const managers = managersOfChange(transaction, transaction.changes[entry.index]);
  if (!entry.approximate || !bearsOurWrite(now, managers)) return false;
  return ownersAt(now, path).every(({ name }) => name === managers.forward);
}
