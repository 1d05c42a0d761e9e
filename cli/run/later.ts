// Finds the later Transactions of a namespace: those on the objects of a Transaction, and those with its field manager. Pure.
import { type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { groupOf } from '../../hooks/objects/reference.ts';
import { parseTime } from '../../hooks/objects/time.ts';
import { targetIn } from '../show/view.ts';

const nameOf = (object: JsonObject): string => textAt(object, 'metadata', 'name') ?? '';

/** The Transactions that are newer than the named Transaction, the newest first. */
export function newerThan(all: readonly JsonObject[], name: string): readonly JsonObject[] {
  const newestFirst = all.toSorted(compareNewest);
  const place = newestFirst.findIndex((one) => nameOf(one) === name);
  return newestFirst.slice(0, Math.max(0, place));
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

/** Names of the Transactions to undo first, in this order: those that changed its objects later, and those on top of them. */
export function laterOn(all: readonly JsonObject[], name: string): readonly string[] {
  const base = all.find((one) => nameOf(one) === name);
  if (base === undefined) return [];
  const reached = new Set(targetsOf(base));
  const found: string[] = [];
  for (const later of newerThan(all, name).filter(isNotUndone).toReversed()) {
    const targets = targetsOf(later);
    if (!targets.some((target) => reached.has(target))) continue;
    for (const target of targets) reached.add(target);
    found.unshift(nameOf(later));
  }
  return found;
}

/** Whether a change of the Transaction may be in the cluster. */
function isNotUndone(object: JsonObject): boolean {
  const states = listAt(object, 'status', 'items').map((item) => textAt(item, 'state') ?? '');
  return states.some((state) => ['Applying', 'Applied', 'Restoring', 'NotRestored'].includes(state));
}

function targetsOf(object: JsonObject): readonly string[] {
  const own = textAt(object, 'metadata', 'namespace') ?? '';
  return listAt(object, 'spec', 'changes')
    .map(targetIn)
    .map(({ apiVersion, kind, namespace = own, name }) => [groupOf(apiVersion), kind, namespace, name].join('|'));
}
