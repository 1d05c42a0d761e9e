// Reads the Transaction as it is now, whatever the body of a call says of it.
//
// I13. A call only triggers: the engine requests, writes and reports nothing that only the body of a call says.
import type { Location, Reader } from '../../objects/cluster.ts';
import { at, isObject, type JsonObject, textAt } from '../../objects/json.ts';
import type { Status } from '../model/status.ts';
import { decodeTransaction, type Transaction } from '../model/transaction.ts';
import { engine, transactions } from '../writes/resources.ts';
import { type Listed, type Owner, readOwnLeases } from './read.ts';

interface LiveTransaction {
  readonly kind: 'live';
  readonly transaction: Transaction;
  readonly status: Status;
  readonly now: number;
}

/** Why there is no Transaction to work on. */
export type NotLive =
  | { readonly kind: 'gone' }
  /** Why the Transaction cannot be read, for the log. */
  | { readonly kind: 'unreadable'; readonly because: string }
  /** This engine does not write such a status. It leaves the status unchanged and does nothing because of it. */
  | { readonly kind: 'foreign'; readonly status: JsonObject; readonly isBeingDeleted: boolean; readonly now: number };

export async function readTransaction(
  reader: Reader,
  { namespace, name, uid }: Pick<Required<Location>, 'namespace' | 'name'> & { readonly uid: string },
): Promise<LiveTransaction | NotLive> {
  const answer = await reader.get({ resource: transactions, namespace, name }, engine);
  if (answer.kind === 'ok')
    return textAt(answer.object, 'metadata', 'uid') === uid ? decoded(answer.object, answer.serverTime) : { kind: 'gone' };
  if (answer.failure.kind === 'absent') return { kind: 'gone' };
  return { kind: 'unreadable', because: `the Transaction cannot be read: ${answer.failure.reason}` };
}

/** The stored status counts, never the status of the call (I13). */
function decoded(object: JsonObject, now: number): LiveTransaction | NotLive {
  const transaction = decodeTransaction(object);
  const { status } = transaction;
  if (status !== undefined) return { kind: 'live', transaction, status, now };
  const stored = at(object, 'status');
  return { kind: 'foreign', status: isObject(stored) ? stored : {}, isBeingDeleted: transaction.isBeingDeleted, now };
}

// One read of a Transaction: first the Transaction, then one LIST of its Leases. So the state was stored before the Leases were
// read (W2, in-flight/in-flight.ts).

export interface LiveRead extends LiveTransaction {
  /** The Leases that the Transaction holds, read once, after its state was stored. */
  readonly ownLeases: () => Promise<Listed>;
}

export async function readWithLeases(reader: Reader, wanted: Owner, engineNamespace: string): Promise<LiveRead | NotLive> {
  const live = await readTransaction(reader, wanted);
  if (live.kind !== 'live') return live;
  return { ...live, ownLeases: once(() => readOwnLeases(reader, live.transaction, engineNamespace)) };
}

function once<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | undefined;
  return () => {
    value ??= read();
    return value;
  };
}
