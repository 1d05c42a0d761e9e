// The entrance for the command line: what would become of a Transaction, and what has become of one. It only reads: a Reader is all it
// is given. The stages of the engine are run, none is written again.

import { isObject, type Json, type JsonObject } from '../objects/json.ts';
import type { Fault } from './checks/fault.ts';
import { fault } from './checks/fault.ts';
import { questionsOfContents } from './checks/permissions.ts';
import { staticFaults } from './checks/validity.ts';
import { autoscalersOf } from './inspect/autoscalers.ts';
import { heldLocks, plannedChange } from './inspect/changes.ts';
import { readFailedLogs } from './inspect/failed-logs.ts';
import { survey } from './inspect/preflight.ts';
import { mayQuoteSecrets, printed } from './inspect/printed.ts';
import { saidOfUndo } from './inspect/rights.ts';
import { statesOf } from './inspect/states.ts';
import type { FailedLog, Finding, LogParts, ObjectState, Plan, PlanParts, StatesParts } from './inspection.ts';
import { decodeTransaction } from './model/transaction.ts';
import { releasesToUndo } from './undo/releases.ts';

export { mayQuoteSecrets, printed, questionsOfContents };

/** What the Transaction alone shows: no cluster is needed. Pure. */
export function lint(object: Json): readonly Finding[] {
  if (!isObject(object)) return [finding(fault('Invalid', 'expected a Transaction, found no object'))];
  return staticFaults(decodeTransaction(object)).map(finding);
}

/**
 * The objects of an existing Transaction: before, as released, and now. The command line does not have the engine's key. So it only
 * names sealed entries as sealed. Only the digest in the status shows that the other entries were not modified.
 */
export function states(parts: StatesParts, object: JsonObject): Promise<readonly ObjectState[]> {
  return statesOf(parts, object);
}

/**
 * The Transactions that a rollback would undo, by name, the newest first; or why the engine would refuse it. `all`: those of its
 * namespace. Pure.
 */
export function wouldUndo(
  object: JsonObject,
  all: readonly JsonObject[],
): { readonly names: readonly string[] } | { readonly faults: readonly Finding[] } {
  const own = decodeTransaction(object);
  const found = releasesToUndo(own, own.rollback ?? nowhere, all.map(decodeTransaction));
  return 'faults' in found ? { faults: found.faults.map(finding) } : { names: found.undone.map(({ name }) => name) };
}

const nowhere = { to: '', keep: [], overwrite: [], isPartial: false };

/** What failed containers have printed, of the objects whose gates are open. What cannot be read is left out. */
export function failedLogs(parts: LogParts, object: JsonObject): Promise<readonly FailedLog[]> {
  return readFailedLogs(parts, object);
}

/** What the engine would do with the Transaction if it were created now. `object` names its namespace. Writes nothing. */
export async function plan(parts: PlanParts, object: JsonObject): Promise<Plan> {
  const found = await survey(parts, object);
  const { transaction, refusal, also, trouble, gaps, needs, locks, unseen, now, prepared } = found;
  const scaled = await autoscalersOf(parts, found);
  const { namespace, name, serviceAccountName } = transaction;
  const ofUndo = saidOfUndo(gaps, parts.actAs === 'caller' ? 'you' : `ServiceAccount ${namespace}/${serviceAccountName}`);
  const marked = (one: Fault): Finding => ({ ...finding(one), ...(ofUndo.has(one.message) ? { for: 'undo' } : {}) });
  return {
    ...{ namespace, name, serviceAccountName, exact: parts.actAs === 'serviceAccount', gaps, needs },
    verdict: refusal.length > 0 ? 'refused' : trouble !== undefined ? 'unknown' : 'accepted',
    refusal: refusal.map(marked),
    also: also.map(marked),
    ...(trouble === undefined ? {} : { trouble }),
    changes: prepared.map((one) => plannedChange(one, transaction, scaled.items)),
    locks: heldLocks(locks, prepared, transaction, now),
    unseen: [...unseen, ...scaled.unseen],
  };
}

function finding({ reason, message, item }: Fault): Finding {
  return item === undefined ? { reason, message } : { index: item, reason, message };
}
