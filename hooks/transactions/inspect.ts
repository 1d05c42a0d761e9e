// The entrance for the command line: what would become of a Transaction, and what has become of one. It only reads: a Reader is all it
// is given. The stages of the engine are run, none is written again. What needs most of them is loaded when it is called.

import { isObject, type Json, type JsonObject } from '../objects/json.ts';
import { questionsOfContents } from './checks/permissions.ts';
import { staticFaults } from './checks/validity.ts';
import { isCollected } from './hazards/dependents.ts';
import type { readFailedLogs } from './inspect/failed-logs.ts';
import { finding } from './inspect/finding.ts';
import type { planOf } from './inspect/plan.ts';
import { mayQuoteSecrets, printed } from './inspect/printed.ts';
import type { statesOf } from './inspect/states.ts';
import type { Finding } from './inspection.ts';
import { decodeTransaction } from './model/transaction.ts';
import { releasesToUndo } from './undo/releases.ts';

export { isCollected, mayQuoteSecrets, printed, questionsOfContents };

/** What the Transaction alone shows: no cluster is needed. Pure. */
export function lint(object: Json): readonly Finding[] {
  if (!isObject(object)) return [{ reason: 'Invalid', message: 'expected a Transaction, found no object' }];
  return staticFaults(decodeTransaction(object)).map(finding);
}

/**
 * The objects of an existing Transaction: before, as released, and now. The command line does not have the engine's key. So it only
 * names sealed entries as sealed. Only the digest in the status shows that the other entries were not modified.
 */
export const states = async (...of: Parameters<typeof statesOf>) => (await import('./inspect/states.ts')).statesOf(...of);

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
export const failedLogs = async (...of: Parameters<typeof readFailedLogs>) =>
  (await import('./inspect/failed-logs.ts')).readFailedLogs(...of);

/** What the engine would do with the Transaction if it were created now. `object` names its namespace. Writes nothing. */
export const plan = async (...of: Parameters<typeof planOf>) => (await import('./inspect/plan.ts')).planOf(...of);
