// Whether a request can act on a Transaction as it is, and what it will do.
import { annotations } from '../../hooks/model/transaction.ts';
import type { TransactionView } from './view.ts';

export type RequestName = 'undo' | 'abort' | 'retry';

interface RequestKind {
  readonly annotation: string;
  /** Why it cannot act; undefined if it can. */
  refusal(view: TransactionView, program: string): string | undefined;
  question(view: TransactionView): string;
}

const isRunning = ({ phase }: TransactionView): boolean => ['Pending', 'Preparing', 'Prepared', 'Committing'].includes(phase);

function plainly(view: TransactionView, program: string): string {
  const again = `${program} status ${view.name} -n ${view.namespace} --watch`;
  if (view.phase === 'RollingBack') return `it is being rolled back already: ${again} follows it.`;
  if (view.phase === 'RolledBack') return 'it is rolled back: nothing is left of it.';
  if (view.phase === 'Failed' && view.left > 0)
    return `it is Failed, and ${view.left} objects are not restored: ${program} retry ${view.name} tries again.`;
  return view.phase === 'Failed' ? 'it is Failed: nothing was applied.' : `it is ${view.phase}.`;
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;

export const requests: Readonly<Record<RequestName, RequestKind>> = {
  undo: {
    annotation: annotations.requestRollback,
    refusal(view, program) {
      if (view.phase === 'Committed') return undefined;
      if (isRunning(view)) return `it is still running (${view.phase}): ${program} abort ${view.name} stops it.`;
      return plainly(view, program);
    },
    question: ({ name, changes }) =>
      `Undo ${name}? ${count(changes.length, 'change')} undone, last one first. Later edits of others stay.`,
  },
  abort: {
    annotation: annotations.requestRollback,
    refusal(view, program) {
      if (isRunning(view)) return undefined;
      if (view.phase === 'Committed') return `it is Committed: ${program} undo ${view.name} rolls it back.`;
      return plainly(view, program);
    },
    question: ({ name, done }) => `Stop ${name} (${done || 'nothing'} done), and undo what is applied?`,
  },
  retry: {
    annotation: annotations.retryRollback,
    refusal(view, program) {
      if (view.phase === 'Failed' && view.left > 0) return undefined;
      if (view.phase === 'Committed' || isRunning(view)) return `it is ${view.phase}: no rollback has left anything.`;
      return plainly(view, program);
    },
    question: ({ name, left }) => `Try again to restore ${count(left, 'object')} of ${name}?`,
  },
};
