// The state of a Transaction that holds an expired Lease (L7, decide/locks.ts).
import { type JsonObject, textAt } from '../../objects/json.ts';
import { isTerminal } from '../model/phase.ts';
import { decodeTransaction } from '../model/transaction.ts';
import { type LeaseState, leaseState } from './state.ts';

export type Holder =
  /** It does not exist, has ended, or has announced no change. */
  | 'idle'
  /** It may have written changes, and may still have to undo them. */
  | 'unfinished'
  | 'terminating'
  | 'unreadable';

/** Where to read the Transaction that a Lease names. */
interface HolderName {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The holders of expired Leases, by `spec.holderIdentity`. */
export type HolderMap = ReadonlyMap<string, Holder>;

/** Who holds the Lease, as its `spec.holderIdentity`. Empty if the Lease names no holder. */
export function heldBy(lease: JsonObject | undefined): string {
  return textAt(lease, 'spec', 'holderIdentity') ?? '';
}

/** The Transaction that a holder names; undefined if the text names none. Then the Lease has no holder. */
export function holderNamed(holder: string): HolderName | undefined {
  const [, namespace, name, uid] = /^([^/]+)\/([^/]+)\/([^/]+)$/.exec(holder) ?? [];
  return namespace === undefined || name === undefined || uid === undefined ? undefined : { namespace, name, uid };
}

/** The state of the holder `uid`, from the Transaction that has its name now. */
export function holderIn(object: JsonObject, uid: string): Holder {
  if (textAt(object, 'metadata', 'uid') !== uid) return 'idle';
  const { status, isBeingDeleted } = decodeTransaction(object);
  if (status === undefined) return 'unreadable';
  if (isTerminal(status.phase) || status.phase === 'Pending' || status.phase === 'Preparing') return 'idle';
  return isBeingDeleted ? 'terminating' : 'unfinished';
}

/**
 * The state of a Lease for the Transaction `holder`. An expired Lease of a holder that may have written changes, or that was not read,
 * counts as held (L7).
 */
export function stateForTaking(lease: JsonObject | undefined, holder: string, holders: HolderMap, now: number): LeaseState {
  const state = leaseState(lease, holder, now);
  const isFree = holders.get(heldBy(lease)) === 'idle' || holderNamed(heldBy(lease)) === undefined;
  return state === 'expired' && !isFree ? 'heldByOther' : state;
}
