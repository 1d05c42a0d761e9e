// How long the operation of a Transaction takes. The clock of the user and that of the cluster may differ: what began before the eyes of
// the command is timed by the clock of the user alone, and what has ended by the clock of the cluster alone.
import type { TransactionView } from '../show/view.ts';

export interface Clock {
  /** ms, steadily. */
  now(): number;
  /** ms since the epoch. */
  date(): number;
}

export const processClock: Clock = { now: () => performance.now(), date: () => Date.now() };

interface Stopwatch {
  /** Each state, in turn. */
  note(view: TransactionView): void;
  /** ms since the operation began. */
  elapsed(view: TransactionView | undefined): number;
}

/** `isWritten`: the operation begins now. */
export function startWatch({ now, date }: Clock, isWritten: boolean): Stopwatch {
  let began = now();
  let last: TransactionView | undefined;
  return {
    note(view) {
      const { timing } = view;
      if (last === undefined && !isWritten && timing.began !== undefined) began = now() - Math.max(0, date() - timing.began);
      if (last !== undefined && last.timing.operation !== timing.operation) began = now();
      last = view;
    },
    elapsed(view) {
      const { began: start, ended } = view?.timing ?? {};
      return start === undefined || ended === undefined ? now() - began : Math.max(0, ended - start);
    },
  };
}
