// What is wrong with a Transaction, as data: which change, which stable reason, and the sentence for people.
import type { Reason } from '../model/reason.ts';

export interface Fault {
  readonly reason: Reason;
  readonly message: string;
  /** 0-based index of the change; absent when the fault is the Transaction's. */
  readonly item?: number;
}

export function fault(reason: Reason, message: string, item?: number): Fault {
  return item === undefined ? { reason, message } : { reason, message, item };
}

/** All faults in one sentence for a person; the first ones in full. */
export function describeFaults(faults: readonly Fault[]): string {
  const shown = faults.slice(0, 10).map(({ message }) => message);
  const rest = faults.length - shown.length;
  return shown.join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}
