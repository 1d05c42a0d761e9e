// The facts that one attempt within a call passes to the next attempt. The result of a step adds to them (`again`, outcome/answer.ts).
// Attempts for the next target begin anew (`carriedOn`, reconcile.ts).

import type { Failure } from '../../objects/failure.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { Wanted } from '../model/other-transactions.ts';
import type { LockState } from './observation.ts';

/** What earlier attempts within this call have learned. */
export interface Carry {
  /** Whether the checks of begin are done, in this call or in an earlier one that waits for locks. */
  readonly checked: boolean;
  readonly locks: ReadonlyMap<string, LockState>;
  readonly acquired: ReadonlySet<string>;
  /** Names of Leases that another holder has: the next attempt reads them. */
  readonly heldNames: ReadonlySet<string>;
  /** The name of a snapshot's ConfigMap that already exists. */
  readonly snapshotNameInUse?: string;
  /** The target to read before the next attempt, because its prior state differs from the live object, or is not enough. */
  readonly reads?: SnapshotEntry;
  /** A write that the API server refused as stale. */
  readonly refused?: Refused;
  /** How often a write was refused for a reason that may be an outdated cache of the API server. */
  readonly lagging?: number;
  /** Other Transactions to read before the change can be evaluated. */
  readonly others?: Wanted;
  /** The change whose gate has ended badly: why is to be read. */
  readonly diagnose?: number;
  /** Whether all changes of a requested undo are to be evaluated. */
  readonly surveys?: true;
  /** Ms for which this call may go on to read gates. */
  readonly awaitLeft?: number;
  /** The change whose target this call has written: the call may write no other target after it. */
  readonly touched?: number;
}

/** A write that the API server refused with 404 or 409. */
export interface Refused {
  readonly index: number;
  /** The resourceVersion that the write named; undefined for a create. */
  readonly version: string | undefined;
  /** Consecutive refusals at that version. */
  readonly times: number;
  readonly failure: Failure;
}

export const emptyCarry: Carry = {
  checked: false,
  locks: new Map(),
  acquired: new Set(),
  heldNames: new Set(),
};
