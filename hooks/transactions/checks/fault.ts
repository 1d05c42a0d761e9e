// A fault of a Transaction as data: the change, a stable reason, and a sentence for people.
import type { Reason } from '../model/reason.ts';

export interface Fault {
  readonly reason: Reason;
  readonly message: string;
  /** 0-based index of the change; absent if the fault concerns the whole Transaction. */
  readonly item?: number;
}

export function fault(reason: Reason, message: string, item?: number): Fault {
  return item === undefined ? { reason, message } : { reason, message, item };
}

/** All faults as one text for people; the first ones in full. */
export function describeFaults(faults: readonly Fault[]): string {
  const shown = faults.slice(0, 10).map(({ message }) => message);
  const rest = faults.length - shown.length;
  return shown.join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}
