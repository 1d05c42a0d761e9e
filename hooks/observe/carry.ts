// What goes from one look to the next within a call.

import type { SnapshotEntry } from '../model/entry.ts';
import type { Failure } from '../model/failure.ts';
import type { Wanted } from '../model/others.ts';
import type { LockState } from './observation.ts';

/** What earlier attempts within this call have learned. */
export interface Carry {
  /** The checks of begin were made in this call, or by an earlier one that is waiting for locks now. */
  readonly checked: boolean;
  readonly locks: ReadonlyMap<string, LockState>;
  readonly acquired: ReadonlySet<string>;
  /** Names that turned out to be taken: to be read. */
  readonly heldNames: ReadonlySet<string>;
  /** The name of a ConfigMap of the snapshot under which something was found to be. */
  readonly snapshotNameInUse?: string;
  /** The target that is to be read before the next look: its state before the change is not what is there, or not enough. */
  readonly reads?: SnapshotEntry;
  /** A write that the API server has refused as stale, and how often at that version. */
  readonly refused?: Refused;
  /** How often a write was refused that what an API server has not heard of yet may have been the reason of. */
  readonly lagging?: number;
  /** Other Transactions that must be known to evaluate the change. */
  readonly others?: Wanted;
  /** The change whose gate has ended badly: why is to be read. */
  readonly diagnose?: number;
  /** Ms for which this call may go on to look at gates. */
  readonly awaitLeft?: number;
  /** The change whose target this call has written to: no other target may follow in the same call. */
  readonly touched?: number;
}

/** A write that was refused with 404 or 409, and what it was bound to. */
export interface Refused {
  readonly index: number;
  /** The resourceVersion that it named; undefined for a create. */
  readonly version: string | undefined;
  /** Refusals in a row at that version. */
  readonly times: number;
  readonly failure: Failure;
}

export const emptyCarry: Carry = {
  checked: false,
  locks: new Map(),
  acquired: new Set(),
  heldNames: new Set(),
};
