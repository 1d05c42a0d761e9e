// The Lock is a queue: of the package transactions that are ready for it, those with a number go first, the lowest number first, then
// the oldest. Ready is a package transaction whose stored status waits for nothing but the Lock. So a pause, another Package, a
// registry or a trouble of one keeps no other package transaction from the Lock.
import { at, type JsonObject, objectsAt, textAt } from '../../objects/json.ts';
import { holderOf } from '../model/holder.ts';
import { type PackageTransaction, readPackageTransaction } from '../model/package-transaction.ts';
import { conditionOf, millisecondsOf } from '../model/status.ts';
import { packageTransactions } from '../writes/resources.ts';
import type { LockQueue } from './observation.ts';
import { list, type PackageReader } from './read.ts';
import type { ReadOnce } from './read-once.ts';

/** After so long without a write of the free Lock, any other may take it: the process that serves the first in the queue may have stopped. */
const patienceMs = 60_000;

export type Ready = Pick<PackageTransaction, 'uid' | 'name' | 'createdAt'> & { readonly number: number | undefined };

async function readReady(reader: PackageReader, now: number): Promise<readonly Ready[]> {
  const all = await list(reader, packageTransactions, undefined, { whole: true, keep: inQueue });
  return all.flatMap((object) => {
    const ptx = readPackageTransaction(object);
    return isReady(object, ptx, now) ? [placeOf(ptx)] : [];
  });
}

/** Each status of one that has run holds a whole Lock, up to 1 MB of it. */
function inQueue(object: JsonObject): JsonObject {
  const members = ['phase', 'retryTime', 'transactionNumber', 'conditions'].map(
    (key) => [key, at(object, 'status', key)] as const,
  );
  return {
    metadata: at(object, 'metadata') ?? {},
    status: Object.fromEntries(members.filter(([, value]) => value !== undefined)) as JsonObject,
  };
}

function isReady(object: JsonObject, { status, isDeleting }: PackageTransaction, now: number): boolean {
  if (status.phase !== 'Waiting' || isDeleting || millisecondsOf(status.retryTime) > now) return false;
  const isWaiting = textAt(conditionOf(object, 'Validated'), 'reason') === 'WaitingForLock';
  return isWaiting && textAt(conditionOf(object, 'Synced'), 'status') === 'True';
}

function placeOf({ name, uid, createdAt, status }: PackageTransaction): Ready {
  return { name, uid, createdAt, number: status.number };
}

function compare(left: Ready, right: Ready): number {
  const last = Number.MAX_SAFE_INTEGER;
  return (left.number ?? last) - (right.number ?? last) || left.createdAt - right.createdAt || (left.name < right.name ? -1 : 1);
}

interface Asking {
  readonly ptx: PackageTransaction;
  readonly lock: JsonObject;
  readonly now: number;
}

/** Undefined if this one takes the Lock as soon as it is free. */
export async function readBefore(
  reader: PackageReader,
  queue: ReadOnce<readonly Ready[]>,
  { ptx, lock, now }: Asking,
): Promise<LockQueue | undefined> {
  const holder = holderOf(lock)?.uid;
  if (holder === undefined && now > lastWriteOf(lock) + patienceMs) return undefined;
  const others = (await queue(() => readReady(reader, now))).filter(({ uid }) => uid !== ptx.uid && uid !== holder);
  const before = others.filter((one) => compare(one, placeOf(ptx)) < 0).toSorted(compare);
  return before[0] && { count: before.length, first: before[0].name };
}

function lastWriteOf(lock: JsonObject): number {
  return Math.max(0, ...objectsAt(lock, 'metadata', 'managedFields').map((one) => millisecondsOf(textAt(one, 'time'))));
}
