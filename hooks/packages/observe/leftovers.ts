// What may be deleted once a package transaction ends: its stages and their contents, and finished ones beyond the history.
import { at, type JsonObject, textAt } from '../../model/json.ts';
import { isUnderDeletion, type Leftover } from '../decide/ending.ts';
import { isUndone, phaseOf } from '../decide/undo.ts';
import { historyLimitOf, holderOf } from '../model/holder.ts';
import { type PackageTransaction, readPackageTransaction } from '../model/package-transaction.ts';
import { isTerminal, millisecondsOf } from '../model/status.ts';
import { packageTransactions, uidLabel } from '../plan/resources.ts';
import { type Looker, list } from './reading.ts';
import { madeFor, madeForAll, readTheLock, stagesMadeBy, uidForm } from './standing.ts';

/** Where an undo left something its stages stay, so that it can be tried again. */
export async function leftoversOf(looker: Looker, { uid, status }: PackageTransaction): Promise<readonly Leftover[]> {
  if (status.outcome?.step === 'Rollback') return [];
  return madeFor(looker, uid);
}

/**
 * Stages and contents of its failed tries, which are undone: each call holds all stages, so those of many tries would be too much for
 * one. What the next try makes is younger: it may be under way in another process.
 */
export async function leftByTries(looker: Looker, { uid, status }: PackageTransaction): Promise<readonly Leftover[]> {
  if (status.failures === 0 || status.retryTime === undefined) return [];
  const isOlder = ({ object }: Leftover): boolean =>
    millisecondsOf(textAt(object, 'metadata', 'creationTimestamp')) < millisecondsOf(status.retryTime);
  return (await madeFor(looker, uid)).filter((one) => isOlder(one) && !isUnderDeletion(one.object));
}

/** What former ones left: the oldest finished ones beyond the history, and what belongs to one that was removed by force. */
export async function leftByFormer(looker: Looker, ptx: PackageTransaction, now: number): Promise<readonly Leftover[]> {
  // Before the list of package transactions: whatever is made belongs to one that is there.
  const made = await madeForAll(looker);
  const lock = await readTheLock(looker);
  const limit = lock === undefined ? 0 : historyLimitOf(lock);
  const all = await list(looker, packageTransactions, undefined, limit === 0 ? {} : finishedOnes);
  const present = new Set(all.map((object) => textAt(object, 'metadata', 'uid')));
  const holder = lock === undefined ? undefined : holderOf(lock)?.uid;
  const orphans = made.filter((one) => !present.has(makerOf(one)) && makerOf(one) !== holder);
  const beyond = limit === 0 ? [] : historyBeyond(all, ptx.uid, limit);
  return [...beyond, ...(await atRest(looker, orphans, now))];
}

/** Each status holds a whole Lock, up to 1 MB of it: few in an answer, which may have 64 MiB, and of each only what history needs. */
const finishedOnes = {
  whole: true,
  page: 20,
  keep(object: JsonObject): JsonObject {
    const members = ['phase', 'outcome', 'completionTime', 'transactionNumber'].map((key) => [key, at(object, 'status', key)]);
    return {
      metadata: at(object, 'metadata') ?? {},
      status: Object.fromEntries(members.filter(([, value]) => value !== undefined)),
    };
  },
} as const;

/** The oldest finished ones, where there are more than the Lock says, this one and those that end at the same time included. */
function historyBeyond(all: readonly JsonObject[], uid: string, limit: number): readonly Leftover[] {
  const over = all.filter((object) => isOver(object) && textAt(object, 'metadata', 'uid') !== uid);
  const ending = all.filter((object) => readPackageTransaction(object).status.phase === 'Cleaning').map(uidOf);
  const count = over.length + new Set([...ending, uid]).size;
  const oldestFirst = over.toSorted((left, right) => endOf(left) - endOf(right));
  return oldestFirst.slice(0, Math.max(0, count - limit)).map((object) => ({ resource: packageTransactions, object }));
}

function uidOf(object: JsonObject): string {
  return textAt(object, 'metadata', 'uid') ?? '';
}

function makerOf({ object }: Leftover): string {
  return textAt(object, 'metadata', 'labels', uidLabel) ?? '';
}

/** ms after which no request of one that was removed can be late. */
const oldEnough = 600_000;

/** Those of which nothing is under way, and nothing is left to undo: its stages are the way back. */
async function atRest(looker: Looker, orphans: readonly Leftover[], now: number): Promise<readonly Leftover[]> {
  const found: Leftover[] = [];
  for (const [uid, own] of Map.groupBy(orphans, makerOf)) {
    const isYoung = own.some(({ object }) => now - millisecondsOf(textAt(object, 'metadata', 'creationTimestamp')) < oldEnough);
    if (isYoung || !uidForm.test(uid)) continue;
    const made = await stagesMadeBy(looker, uid);
    if (made.every((stage) => phaseOf(stage) === 'Committed' || isUndone(stage))) found.push(...own);
  }
  return found;
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
