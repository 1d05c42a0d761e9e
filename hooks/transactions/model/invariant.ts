// A broken invariant of the engine, and the values that a write is checked against (perform/invariants.ts).
import type { Status } from './status.ts';
import type { Transaction } from './transaction.ts';

/** A broken invariant. The text is static, without any value of an object: logs show it whole. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
  readonly invariant: InvariantId;

  constructor(invariant: InvariantId, text: string) {
    super(`${invariant}: ${text}`);
    this.invariant = invariant;
  }
}

type InvariantId = 'I2' | 'I3' | 'I5' | 'I8' | 'I11' | 'I17';

/** What the writes of one step are about, for the last check before they leave (perform/invariants.ts). */
export interface WriteContext {
  readonly transaction: Transaction;
  /** As it was found stored before the step. */
  readonly stored: Status;
  /** The change that the step is about; absent if the step writes no target. */
  readonly about?: { readonly index: number; readonly direction: 'change' | 'undo' | 'release' };
  readonly engineNamespace: string;
  /** Whether a ConfigMap of that name in the namespace of the Transaction is a part of its snapshot. */
  readonly isSnapshot: (name: string) => boolean;
}
