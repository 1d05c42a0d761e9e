// The Lock is a queue: of the package transactions that are ready for it, those with a number go first, the lowest number first, then
// the oldest. Ready is a package transaction whose stored status waits for nothing but the Lock. So a pause, another Package, a
// registry or a trouble of one keeps no other from the Lock.
import { at, type JsonObject, objectsAt, textAt } from '../../objects/json.ts';
import { type PackageTransaction, readPackageTransaction } from '../model/package-transaction.ts';
import { conditionOf, millisecondsOf } from '../model/status.ts';
import { packageTransactions } from '../writes/resources.ts';
import { list, type PackageReader } from './read.ts';
import type { ReadOnce } from './read-once.ts';

/**
 * ms since the last write of a free Lock, after which nobody waits for the first in the queue any more: the process that serves it may
 * have stopped.
 */
const patience = 60_000;

export interface Ready {
  readonly name: string;
  readonly uid: string;
  readonly place: Place;
}

type Place = Pick<PackageTransaction, 'createdAt' | 'name'> & { readonly number: number | undefined };

async function readReady(reader: PackageReader, now: number): Promise<readonly Ready[]> {
  const all = await list(reader, packageTransactions, undefined, { whole: true, keep: inQueue });
  return all.filter((one) => isReady(one, now)).map((one) => ({ ...placeOf(one), place: placeOf(one) }));
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

function isReady(object: JsonObject, now: number): boolean {
  const { status, isDeleting } = readPackageTransaction(object);
  if (status.phase !== 'Waiting' || isDeleting || millisecondsOf(status.retryTime) > now) return false;
  const isWaiting = textAt(conditionOf(object, 'Validated'), 'reason') === 'WaitingForLock';
  return isWaiting && textAt(conditionOf(object, 'Synced'), 'status') === 'True';
}

function placeOf(object: JsonObject) {
  const { name, uid, createdAt, status } = readPackageTransaction(object);
  return { name, uid, createdAt, number: status.number };
}

function compare(left: Place, right: Place): number {
  const last = Number.MAX_SAFE_INTEGER;
  return (left.number ?? last) - (right.number ?? last) || left.createdAt - right.createdAt || (left.name < right.name ? -1 : 1);
}

interface Asking {
  readonly ptx: PackageTransaction;
  /** Free. */
  readonly lock: JsonObject;
  readonly now: number;
}

/** The name of the package transaction that takes the Lock before this one. Undefined if this one is the first. */
export async function firstBefore(
  reader: PackageReader,
  queue: ReadOnce<readonly Ready[]>,
  { ptx, lock, now }: Asking,
): Promise<string | undefined> {
  const lastWrite = Math.max(
    0,
    ...objectsAt(lock, 'metadata', 'managedFields').map((one) => millisecondsOf(textAt(one, 'time'))),
  );
  if (now > lastWrite + patience) return undefined;
  const own: Place = { name: ptx.name, createdAt: ptx.createdAt, number: ptx.status.number };
  const others = (await queue(() => readReady(reader, now))).filter(({ uid }) => uid !== ptx.uid);
  return others.toSorted((left, right) => compare(left.place, right.place)).find(({ place }) => compare(place, own) < 0)?.name;
}
