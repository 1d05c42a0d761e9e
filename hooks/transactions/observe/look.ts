// One look at a Transaction: first the Transaction, then one LIST of its Leases, so that the state was stored before the Leases
// were read (W2, in-flight/in-flight.ts).
import type { Reader } from '../../objects/cluster.ts';
import { type LiveTransaction, type NotLive, readTransaction } from './live.ts';
import { type Listed, type Owner, readOwnLeases } from './read.ts';

export interface Looked extends LiveTransaction {
  /** The Leases that the Transaction holds, read once, after its state was stored. */
  readonly ownLeases: () => Promise<Listed>;
}

export async function look(reader: Reader, wanted: Owner, engineNamespace: string): Promise<Looked | NotLive> {
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
