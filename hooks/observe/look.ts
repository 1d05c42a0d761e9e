// One look at a Transaction: it, and at the same time all its Leases by one LIST where this process expects it to hold some.
//
// The list counts where the Transaction is found at the version that was known before the look began: then its state was stored
// before the Leases were looked at (W2, in-flight/in-flight.ts). Else, and where none was expected, it is read after the Transaction.
import type { Reader } from '../cluster.ts';
import type { Transaction } from '../model/transaction.ts';
import { type LiveTransaction, type NotLive, readTransaction } from './live.ts';
import { type Listed, type Owner, readOwnLeases } from './read.ts';

export interface Looked extends LiveTransaction {
  /** The Leases that the Transaction holds, as they were after its state was stored. Read once. */
  readonly ownLeases: () => Promise<Listed>;
}

export interface Wanted extends Owner {
  /** resourceVersion of the Transaction as known before this look; empty when it is not. */
  readonly known: string;
  readonly engineNamespace: string;
  readonly expectsLeases: boolean;
}

export async function look(reader: Reader, wanted: Wanted): Promise<Looked | NotLive> {
  const { known, engineNamespace } = wanted;
  const early = wanted.expectsLeases && known !== '' ? readOwnLeases(reader, wanted, engineNamespace) : undefined;
  // It is met where it is needed.
  early?.catch(() => undefined);
  const live = await readTransaction(reader, wanted);
  if (live.kind !== 'live') return live;
  return { ...live, ownLeases: once(() => leasesOf(live.transaction)) };

  function leasesOf(transaction: Transaction): Promise<Listed> {
    return early !== undefined && transaction.resourceVersion === known
      ? early
      : readOwnLeases(reader, transaction, engineNamespace);
  }
}

function once<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | undefined;
  return () => {
    value ??= read();
    return value;
  };
}
