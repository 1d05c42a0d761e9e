// The state in which a Transaction left an object, and the fields that others have changed since. Two kinds of values are no change by
// others. The API server sets the values that no field manager owns. Kubernetes' controllers write the values of a fixed table, and a
// HorizontalPodAutoscaler scales.
import { isOfControllers } from '../../objects/content/derived.ts';
import { type ListKinds, listKindsOf, valueAt } from '../../objects/content/lists.ts';
import { differences } from '../../objects/content/merge.ts';
import { isUnclaimed, ownersAt } from '../../objects/content/owners.ts';
import type { Path } from '../../objects/content/path.ts';
import { isObject, type Json, type JsonObject } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import { isCounter, writtenState } from '../attribution/attribute.ts';
import { withDrift } from '../attribution/drift.ts';
import { countedOf } from '../attribution/uncounted.ts';
import type { DriftedField } from '../inspection.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { bearsOurWrite } from '../model/marks.ts';
import { longestManager, managersOfChange, type Transaction } from '../model/transaction.ts';
import { unverifiedDrift } from '../snapshots/drift.ts';
import { fieldChange, hidingOf, isOwn, outermost } from './masks.ts';

interface Left {
  readonly transaction: Transaction;
  readonly entry: SnapshotEntry;
  readonly live: JsonObject | undefined;
  /** Whether the change is made, and not undone. */
  readonly isMade: boolean;
}

/** Undefined if the Transaction left no object. */
export function releasedState({ transaction, entry, live, isMade }: Left): JsonObject | undefined {
  const drift = unverifiedDrift(transaction.status?.items[entry.index]?.drift);
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

export function driftedFields(drifted: Drifted): readonly DriftedField[] {
  const { transaction, entry, released, now } = drifted;
  const kinds = listKindsOf(entry.prior, entry.expected, now);
  const counted = (object: JsonObject | undefined): JsonObject | undefined => object && countedOf(object, entry);
  const versions = { before: counted(entry.prior), after: counted(released), now: counted(now) };
  const hiding = hidingOf(entry.target, transaction.changes[entry.index]);
  const paths = differences(versions.after, versions.now, kinds).filter(
    (path) => !isOwn(path) && !isCounter(path) && !isLeft(path, drifted, kinds),
  );
  return outermost(paths).map((path) => ({
    ...fieldChange(path, versions, { hiding, before: versions.before, kinds }),
    by: [...new Set(ownersAt(now, path).map(({ name }) => foreign(name, longestManager)))],
  }));
}

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
