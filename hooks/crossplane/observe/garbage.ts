// What may be deleted once a package transaction ends: its stages and their contents, and finished package transactions beyond the
// history.

import { isTerminating } from '../../objects/content/ownership.ts';
import { at, type JsonObject, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { historyLimitOf, holderOf } from '../model/holder.ts';
import { packageLabel } from '../model/names.ts';
import { ownName, packageUidLabel } from '../model/own.ts';
import { kindOf } from '../model/package.ts';
import { type PackageTransaction, readPackageTransaction } from '../model/package-transaction.ts';
import { isTerminal, millisecondsOf } from '../model/status.ts';
import { packagesOfKind, packageTransactions, revisionsOfKind, uidLabel } from '../writes/resources.ts';
import { isUndone, phaseOf } from '../writes/stages.ts';
import { findLock, madeFor, stagesMadeBy, uidForm } from './lock-state.ts';
import { type Garbage, isOlder, keptFor } from './observation.ts';
import { findMetadata, list, type PackageReader } from './read.ts';

/** If an undo left an object, its stages stay, so that the undo can be tried again. */
export async function garbageOf(reader: PackageReader, { uid, status }: PackageTransaction): Promise<readonly Garbage[]> {
  if (status.outcome?.step === 'Rollback') return [];
  return madeFor(reader, uid);
}

/**
 * Stages and contents of its failed tries, which are undone. Each call holds all stages, so the stages of many tries would be too
 * much for one call. Stages of the next try are younger: that try may be under way in another process.
 */
export async function garbageOfTries(
  reader: PackageReader,
  { uid, status }: PackageTransaction,
  now: number,
): Promise<readonly Garbage[]> {
  if (status.failures === 0) return [];
  return (await madeFor(reader, uid)).filter((one) => isOlder(one, keptFor, now) && !isTerminating(one.object));
}

/**
 * What previous package transactions left: the oldest finished ones beyond the history, and objects of a package transaction that
 * was removed by force.
 */
export async function garbageOfPrevious(reader: PackageReader, now: number): Promise<readonly Garbage[]> {
  // This list is read before the list of package transactions: every object that is made belongs to a package transaction that
  // exists.
  const made = await madeFor(reader);
  const lock = await findLock(reader);
  const limit = lock === undefined ? 0 : historyLimitOf(lock);
  const all = await list(reader, packageTransactions, undefined, limit === 0 ? {} : finishedOnes);
  const present = new Set(all.map((object) => textAt(object, 'metadata', 'uid')));
  const holder = lock === undefined ? undefined : holderOf(lock)?.uid;
  const orphans = made.filter((one) => !present.has(makerOf(one)) && makerOf(one) !== holder);
  const beyond = limit === 0 ? [] : await withoutPresent(reader, historyBeyond(all, limit));
  return [...beyond, ...(await atRest(reader, orphans, now))];
}

/** Each status holds a whole Lock, up to 1 MB of it. The hook keeps only the parts of each status that history needs. */
const finishedOnes = {
  whole: true,
  keep(object: JsonObject): JsonObject {
    const members = ['phase', 'outcome', 'completionTime', 'transactionNumber'].map((key) => [key, at(object, 'status', key)]);
    return {
      metadata: at(object, 'metadata') ?? {},
      spec: { dryRun: isDryRun(object), kind: at(object, 'spec', 'install', 'package', 'kind') ?? '' },
      status: Object.fromEntries(members.filter(([, value]) => value !== undefined)),
    };
  },
} as const;

/**
 * The oldest finished package transactions, if there are more than the Lock allows. Dry runs count for themselves, so that they leave
 * the history of changes as it is.
 */
function historyBeyond(all: readonly JsonObject[], limit: number): readonly Garbage[] {
  const over = all.filter((object) => isOver(object) && !isTerminating(object));
  return [...Map.groupBy(over, isDryRun).values()].flatMap((some) => {
    const oldestFirst = some.toSorted((left, right) => endOf(left) - endOf(right));
    return oldestFirst.slice(0, Math.max(0, some.length - limit)).map((object) => ({ resource: packageTransactions, object }));
  });
}

function isDryRun(object: JsonObject): boolean {
  return at(object, 'spec', 'dryRun') === true;
}

/**
 * Without those that failed for the present generation of the Package that made them: the Package would make each of them again, and
 * the failures of many Packages would never end.
 */
async function withoutPresent(reader: PackageReader, beyond: readonly Garbage[]): Promise<readonly Garbage[]> {
  const found = await inTurn(beyond, async (one) => ((await isPresent(reader, one)) ? [] : [one]));
  return found.flat();
}

async function isPresent(reader: PackageReader, { object }: Garbage): Promise<boolean> {
  const [uid, name] = [packageUidLabel, packageLabel].map((label) => textAt(object, 'metadata', 'labels', label));
  const kind = kindOf(textAt(object, 'spec', 'kind'));
  if (uid === undefined || name === undefined || kind === undefined || textAt(object, 'status', 'phase') !== 'Failed')
    return false;
  const live = await findMetadata(reader, { resource: packagesOfKind(kind), name });
  if (live === undefined || textAt(live, 'metadata', 'uid') !== uid) return false;
  const own = textAt(object, 'metadata', 'name');
  if (ownName(kind, live) === own) return true;
  const revisions = await list(reader, revisionsOfKind(kind), undefined, { labelSelector: `${packageLabel}=${name}` });
  return revisions.some((one) => ownName(kind, live, textAt(one, 'metadata', 'uid')) === own);
}

function makerOf({ object }: Garbage): string {
  return textAt(object, 'metadata', 'labels', uidLabel) ?? '';
}

/** Stages and contents of package transactions that have nothing under way and nothing left to undo. An undo needs the stages. */
async function atRest(reader: PackageReader, orphans: readonly Garbage[], now: number): Promise<readonly Garbage[]> {
  const found: Garbage[] = [];
  for (const [uid, own] of Map.groupBy(orphans, makerOf)) {
    const isYoung = own.some((one) => !isOlder(one, keptFor, now));
    if (isYoung || !uidForm.test(uid)) continue;
    const made = await stagesMadeBy(reader, uid);
    if (made.every((stage) => phaseOf(stage) === 'Committed' || isUndone(stage))) found.push(...own);
  }
  return found;
}

/** If the undo of a package transaction left an object, it is kept: its status names the object. */
function isOver(object: JsonObject): boolean {
  const { phase, outcome } = readPackageTransaction(object).status;
  return isTerminal(phase) && outcome?.step !== 'Rollback';
}

function endOf(object: JsonObject): number {
  const { completionTime, number = 0 } = readPackageTransaction(object).status;
  // Times are in whole seconds. Numbers order the package transactions that end within one second.
  return millisecondsOf(completionTime) + Math.min(number, 999_999) / 1_000_000;
}
