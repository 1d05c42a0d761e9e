// What a process remembers of its own writes for one Transaction. Losing it costs a wait (W4), never correctness.

export interface OwnWrites {
  /** The name under which it was the last time a writer; what it sent is answered, or `unsettledAt` says when it was not. */
  readonly writer?: string;
  /** Whether it may send more under that name. */
  readonly isOpen: boolean;
  /** By the API server's clock, in ms: when a request of it stayed unanswered, or it took the place of such a writer. */
  readonly unsettledAt?: number;
  /** The last change that it is known to have made, by its index; whether an answer with it was stored is another matter. */
  readonly sentUpTo?: number;
}

export const noWrites: OwnWrites = { isOpen: false };

/** It has put its name into the Lease; `unsettledAt`: in place of a writer that may have left a request unanswered. */
export function signedAs(writer: string, unsettledAt: number | undefined): Partial<OwnWrites> {
  return { writer, isOpen: true, ...(unsettledAt === undefined ? {} : { unsettledAt }) };
}

/** It has made the change `index`. */
export function sentUpTo({ sentUpTo: before = -1 }: OwnWrites, index: number): Partial<OwnWrites> {
  return { sentUpTo: Math.max(index, before) };
}
