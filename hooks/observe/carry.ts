// What goes from one look to the next within a call.
import type { LockState } from './observation.ts';

/** What earlier attempts within this call have learned. */
export interface Carry {
  /** The checks of begin were made in this call, or by an earlier one that is waiting for locks now. */
  readonly checked: boolean;
  readonly locks: ReadonlyMap<string, LockState>;
  readonly acquired: ReadonlySet<string>;
  /** Names that turned out to be taken: to be read. */
  readonly taken: ReadonlySet<string>;
  /** Which of the two snapshot names is used, and whether something was found there. */
  readonly snapshotName: number;
  readonly snapshotTaken: boolean;
  /** A Lease of ours was found to fade: all are to be read, and renewed. */
  readonly renewing: boolean;
  /** The target is read: its state before the change was relied on, and is not what is there. */
  readonly readsTarget: boolean;
  /** The change whose target this call has written to: no other target may follow in the same call. */
  readonly touched?: number;
}

export const emptyCarry: Carry = {
  checked: false,
  locks: new Map(),
  acquired: new Set(),
  taken: new Set(),
  snapshotName: 0,
  snapshotTaken: false,
  renewing: false,
  readsTarget: false,
};
