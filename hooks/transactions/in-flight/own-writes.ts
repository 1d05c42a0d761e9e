// What a process remembers of its own writes for one Transaction. If it forgets them, an undo waits longer (W4); nothing goes
// wrong.

export interface OwnWrites {
  /** The process's last name as a writer. All its requests under that name are answered, unless `unsettledAt` is set. */
  readonly writer?: string;
  /** Whether the process may send more under that name. */
  readonly isOpen: boolean;
  /**
   * In ms by the API server's clock: when one of its requests stayed unanswered, or when it replaced a writer of which that may be
   * so.
   */
  readonly unsettledAt?: number;
  /** The index of the last change that the process knows it has made. An answer that records the change may not be stored yet. */
  readonly sentUpTo?: number;
  /** The same of a change of which the process has made the first half (model/halves.ts). */
  readonly begunAt?: number;
}

export const noWrites: OwnWrites = { isOpen: false };

/** The process has signed the Lease. `unsettledAt`: when it replaced a writer that may have left a request unanswered. */
export function signedAs(writer: string, unsettledAt: number | undefined): Partial<OwnWrites> {
  return { writer, isOpen: true, ...(unsettledAt === undefined ? {} : { unsettledAt }) };
}

/** The process has made the first half of the change `index`. */
export function begunAt(index: number): Partial<OwnWrites> {
  return { begunAt: index };
}

/** The process has made the change `index`. */
export function sentUpTo({ sentUpTo: before = -1 }: OwnWrites, index: number): Partial<OwnWrites> {
  return { sentUpTo: Math.max(index, before) };
}
