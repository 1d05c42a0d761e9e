// What may be deleted once a package transaction ends: its stages and their contents, and finished ones beyond the history.
import { type JsonObject, textAt } from '../../model/json.ts';
import type { Leftover } from '../decide/ending.ts';
import { historyLimitOf } from '../model/holder.ts';
import { type PackageTransaction, readPackageTransaction } from '../model/package-transaction.ts';
import { isTerminal, millisecondsOf } from '../model/status.ts';
import { packageTransactions } from '../plan/resources.ts';
import { type Looker, list } from './reading.ts';
import { madeFor, readTheLock } from './standing.ts';

/** Where an undo left something its stages stay, so that it can be tried again. */
export async function leftoversOf(looker: Looker, { uid, status }: PackageTransaction): Promise<readonly Leftover[]> {
  if (status.outcome?.step === 'Rollback') return [];
  return madeFor(looker, uid);
}

/** The oldest finished ones, where there are more than the Lock says, this one included. */
export async function historyBeyond(looker: Looker, { uid }: PackageTransaction): Promise<readonly Leftover[]> {
  const lock = await readTheLock(looker);
  const limit = lock === undefined ? 0 : historyLimitOf(lock);
  if (limit === 0) return [];
  const all = await list(looker, packageTransactions, undefined, { whole: true });
  const others = all.filter((object) => isOver(object) && textAt(object, 'metadata', 'uid') !== uid);
  const oldestFirst = others.toSorted((left, right) => endOf(left) - endOf(right));
  return oldestFirst
    .slice(0, Math.max(0, others.length + 1 - limit))
    .map((object) => ({ resource: packageTransactions, object }));
}

/** One whose undo left something is kept: its status says what. */
function isOver(object: JsonObject): boolean {
  const { phase, outcome } = readPackageTransaction(object).status;
  return isTerminal(phase) && outcome?.step !== 'Rollback';
}

function endOf(object: JsonObject): number {
  const { completionTime, number = 0 } = readPackageTransaction(object).status;
  // Times are in whole seconds; numbers order those that end in one.
  return millisecondsOf(completionTime) + Math.min(number, 999_999) / 1_000_000;
}
