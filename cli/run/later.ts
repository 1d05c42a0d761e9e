// Finds later Transactions: those on the objects of a Transaction, and those with its field manager.
import { type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { groupOf } from '../../hooks/objects/reference.ts';
import { parseTime } from '../../hooks/objects/time.ts';
import type { Session } from '../cluster/session.ts';
import { listVisibleTransactions, type TransactionName } from '../cluster/transactions.ts';
import { targetIn, writtenChanges } from '../show/view.ts';

const nameOf = (object: JsonObject): string => textAt(object, 'metadata', 'name') ?? '';
const namespaceOf = (object: JsonObject): string => textAt(object, 'metadata', 'namespace') ?? '';

/** The Transactions that are newer than `base`, which is one of them, the newest first. */
export function newerThan(all: readonly JsonObject[], base: JsonObject): readonly JsonObject[] {
  const newestFirst = all.toSorted(compareNewest);
  return newestFirst.slice(0, newestFirst.indexOf(base));
}

// Times of a status and of an object are whole seconds. If two Transactions ended in one second, the versions of their objects order
// them: the API server counts versions up.
function compareNewest(left: JsonObject, right: JsonObject): number {
  return (
    endOf(right) - endOf(left) || compareVersions(newestWrite(right), newestWrite(left)) || createdOf(right) - createdOf(left)
  );
}

function compareVersions(left: bigint, right: bigint): number {
  return left === right ? 0 : left > right ? 1 : -1;
}

function createdOf(object: JsonObject): number {
  return parseTime(textAt(object, 'metadata', 'creationTimestamp')) ?? 0;
}

/**
 * When the changes of a Transaction were applied. A running Transaction is newer than all others. The completion of a Failed
 * Transaction is the end of its rollback, so its start counts.
 */
function endOf(object: JsonObject): number {
  const key = { Committed: 'completionTime', RolledBack: 'startTime', Failed: 'startTime' }[
    textAt(object, 'status', 'phase') ?? ''
  ];
  return (key === undefined ? undefined : parseTime(textAt(object, 'status', key))) ?? Number.MAX_SAFE_INTEGER;
}

function newestWrite(object: JsonObject): bigint {
  const versions = listAt(object, 'status', 'items').map((item) => textAt(item, 'resourceVersion') ?? '');
  return versions.filter((one) => /^\d+$/.test(one)).reduce((most, one) => (BigInt(one) > most ? BigInt(one) : most), 0n);
}

/**
 * The Transactions to undo first, in this order: those that changed its objects later, and those on top of them. Transactions of other
 * namespaces count if the user may list them. Throws a Problem.
 */
export async function laterOn(session: Session, wanted: TransactionName): Promise<readonly JsonObject[]> {
  const { objects: all } = await listVisibleTransactions(session, wanted.namespace);
  const base = all.find((one) => nameOf(one) === wanted.name && namespaceOf(one) === wanted.namespace);
  if (base === undefined) return [];
  const reached = new Set(targetsOf(base));
  const found: JsonObject[] = [];
  for (const later of newerThan(all, base).filter(isNotUndone).toReversed()) {
    const targets = targetsOf(later);
    if (!targets.some((target) => reached.has(target))) continue;
    for (const target of targets) reached.add(target);
    found.unshift(later);
  }
  return found;
}

/** The name of a Transaction, for a reader who works in that namespace. */
export function nameWithin(namespace: string, object: JsonObject): string {
  return namespaceOf(object) === namespace ? nameOf(object) : `${namespaceOf(object)}/${nameOf(object)}`;
}

/** Whether a change of the Transaction may be in the cluster. */
function isNotUndone(object: JsonObject): boolean {
  const states = listAt(object, 'status', 'items').map((item) => textAt(item, 'state') ?? '');
  return states.some((state) => ['Applying', 'Applied', 'Restoring', 'NotRestored'].includes(state));
}

function targetsOf(object: JsonObject): readonly string[] {
  const own = namespaceOf(object);
  return writtenChanges(object)
    .map(targetIn)
    .map(({ apiVersion, kind, namespace = own, name }) => [groupOf(apiVersion), kind, namespace, name].join('|'));
}
