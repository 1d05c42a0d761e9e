// Finds the later Transactions on the objects of a Transaction, and how to get them out of the way of its undo.
import { at, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { groupOf } from '../../hooks/objects/reference.ts';
import { parseTime } from '../../hooks/objects/time.ts';
import { wouldUndo } from '../../hooks/transactions/inspect.ts';
import type { Session } from '../cluster/session.ts';
import { listVisibleTransactions, type TransactionName } from '../cluster/transactions.ts';
import type { UndoFirst } from '../show/undo.ts';
import { rollbacksOf } from '../show/undone.ts';
import { targetIn, viewOf, writtenChanges } from '../show/view.ts';

const nameOf = (object: JsonObject): string => textAt(object, 'metadata', 'name') ?? '';
const uidOf = (object: JsonObject): string => textAt(object, 'metadata', 'uid') ?? '';
const namespaceOf = (object: JsonObject): string => textAt(object, 'metadata', 'namespace') ?? '';

/** The Transactions that are newer than `base`, which is one of them, the newest first. */
function newerThan(all: readonly JsonObject[], base: JsonObject): readonly JsonObject[] {
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
  const { all, base } = await around(session, wanted);
  return base === undefined ? [] : laterAmong(all, base);
}

/** What is in the way of its undo, and how the user gets it out of the way. Throws a Problem. */
export async function undoFirstOf(session: Session, wanted: TransactionName): Promise<UndoFirst> {
  const { all, base } = await around(session, wanted);
  if (base === undefined) return { undoFirst: [] };
  const later = laterAmong(all, base);
  const undoneBy = undoneAmong(all).get(uidOf(base));
  const to = stayingBelow(all, base, later);
  return {
    undoFirst: later.map((one) => nameWithin(wanted.namespace, one)),
    ...(to === undefined ? {} : { to }),
    ...(undoneBy === undefined ? {} : { undoneBy }),
  };
}

async function around(session: Session, { namespace, name }: TransactionName) {
  const { objects: all } = await listVisibleTransactions(session, namespace);
  return { all, base: all.find((one) => nameOf(one) === name && namespaceOf(one) === namespace) };
}

function laterAmong(all: readonly JsonObject[], base: JsonObject): readonly JsonObject[] {
  const undone = undoneAmong(all);
  const reached = new Set(targetsOf(base));
  const found: JsonObject[] = [];
  // A rollback is in the way only of what it has undone: what is older is as it was before.
  const isOnTop = (one: JsonObject): boolean =>
    isNotUndone(one) && !undone.has(uidOf(one)) && (!isRollback(one) || undoneIn(one).includes(uidOf(base)));
  for (const later of newerThan(all, base).filter(isOnTop).toReversed()) {
    const targets = targetsOf(later);
    if (!targets.some((target) => reached.has(target))) continue;
    for (const target of targets) reached.add(target);
    found.unshift(later);
  }
  return found;
}

const isRollback = (object: JsonObject): boolean => at(object, 'spec', 'rollback') !== undefined;

const undoneIn = (rollback: JsonObject): readonly string[] => viewOf(rollback).rollback?.undone.map(({ uid }) => uid) ?? [];

const undoneAmong = (all: readonly JsonObject[]) => rollbacksOf(all.filter(isRollback).map(viewOf));

/** The Transaction that stays if one rollback undoes the Transaction and all later ones; undefined if one of them is of another app. */
function stayingBelow(all: readonly JsonObject[], base: JsonObject, later: readonly JsonObject[]): string | undefined {
  const [namespace, manager] = [namespaceOf(base), textAt(base, 'spec', 'fieldManager')];
  const own = all.filter((one) => namespaceOf(one) === namespace && textAt(one, 'spec', 'fieldManager') === manager);
  if (manager === undefined || later.length === 0 || !later.every((one) => own.includes(one))) return undefined;
  const found = wouldUndo(rollbackTo('', base), own);
  const line = 'names' in found ? found.names : [];
  if (!line.includes(nameOf(base))) return undefined;
  const isCommitted = (name: string): boolean =>
    own.some((one) => nameOf(one) === name && textAt(one, 'status', 'phase') === 'Committed');
  return line.slice(line.indexOf(nameOf(base)) + 1).find(isCommitted) ?? '';
}

/** A rollback in the line of `like`. */
export function rollbackTo(to: string, like: JsonObject): JsonObject {
  const [serviceAccountName = '', fieldManager = ''] = ['serviceAccountName', 'fieldManager'].map((key) =>
    textAt(like, 'spec', key),
  );
  return {
    ...{ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { namespace: namespaceOf(like) } },
    spec: { serviceAccountName, fieldManager, rollback: { to } },
  };
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
