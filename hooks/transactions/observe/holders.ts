// Reads the Transactions that hold expired Leases (L7, decide/locks.ts). The engine reads them only if it has met such a Lease.
import type { Reader } from '../../objects/cluster.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { type Holder, type HolderMap, heldBy, holderIn, holderNamed } from '../locks/holder.ts';
import { leaseState } from '../locks/state.ts';
import { holderOf, type Transaction } from '../model/transaction.ts';
import { engine, transactions } from '../writes/resources.ts';
import type { LockState } from './observation.ts';
import { read } from './read.ts';

interface HoldersContext {
  readonly reader: Reader;
  readonly transaction: Transaction;
  /** ms since the epoch, by the API server's clock. */
  readonly now: number;
}

/** The other holders of those of these Leases that have expired. Each holder is read once. */
export async function readHolders({ reader, transaction, now }: HoldersContext, states: Iterable<LockState>): Promise<HolderMap> {
  const own = holderOf(transaction);
  const expired = [...states].flatMap((state) =>
    state.kind === 'present' && leaseState(state.object, own, now) === 'expired' ? [heldBy(state.object)] : [],
  );
  const found = await inTurn([...new Set(expired)], async (holder) => [holder, await readHolder(reader, holder)] as const);
  return new Map(found);
}

async function readHolder(reader: Reader, holder: string): Promise<Holder> {
  const named = holderNamed(holder);
  if (named === undefined) return 'idle';
  const { namespace, name, uid } = named;
  const found = await read(reader, { resource: transactions, namespace, name }, engine);
  if (found.kind === 'present') return holderIn(found.object, uid);
  return found.kind === 'absent' ? 'idle' : 'unreadable';
}
