// Whether a request can act on the present state of a Transaction, and what the request does.
import { annotations } from '../../hooks/transactions/model/transaction.ts';
import type { TransactionView } from './view.ts';
import { amount } from './words.ts';

type RequestName = 'undo' | 'abort' | 'retry';

export interface Act {
  readonly annotation: string;
  /** The verb of the request, as in `Cannot undo Transaction a`. */
  readonly verb: string;
  /** Why the request cannot act; undefined if it can. */
  refusal(view: TransactionView, program: string): string | undefined;
}

interface RequestKind extends Act {
  /** The question to the user, if there is no plan of the request. */
  question(view: TransactionView): string;
}

const isRunning = ({ phase }: TransactionView): boolean => ['Pending', 'Preparing', 'Prepared', 'Committing'].includes(phase);

function plainly(view: TransactionView, program: string): string {
  const again = `${program} status ${view.name} -n ${view.namespace} --watch`;
  if (view.phase === 'RollingBack') return `the engine is rolling it back already: ${again} follows it.`;
  if (view.phase === 'RolledBack') return 'it is rolled back already.';
  if (hasLeft(view))
    return `it is Failed, with ${amount(view.left, 'object')} not restored: ${program} retry ${view.name} tries again.`;
  return view.phase === 'Failed' ? 'it is Failed: nothing was applied.' : `it is ${view.phase}.`;
}

function unended(view: TransactionView, program: string): string {
  if (isRunning(view)) return `it is still running (${view.phase}): ${program} abort ${view.name} stops it.`;
  return plainly(view, program);
}

const hasLeft = ({ phase, left }: TransactionView): boolean => phase === 'Failed' && left > 0;

export const requests: Readonly<Record<RequestName, RequestKind>> = {
  undo: {
    annotation: annotations.requestRollback,
    verb: 'undo',
    refusal: (view, program) => (view.phase === 'Committed' ? undefined : unended(view, program)),
    question: ({ name, changes }) =>
      `Undo ${name}? ${amount(changes.length, 'change')} undone, the last first. Later edits by other clients stay.`,
  },
  abort: {
    annotation: annotations.requestRollback,
    verb: 'abort',
    refusal(view, program) {
      if (isRunning(view)) return undefined;
      if (view.phase === 'Committed') return `it is Committed: ${program} undo ${view.name} rolls it back.`;
      return plainly(view, program);
    },
    question: ({ name, done }) => `Stop ${name} (${done || 'nothing'} done), and undo the applied changes?`,
  },
  retry: {
    annotation: annotations.retryRollback,
    verb: 'retry',
    refusal(view, program) {
      if (hasLeft(view)) return undefined;
      if (view.phase === 'Committed' || isRunning(view)) return `it is ${view.phase}: no rollback has left an object.`;
      return plainly(view, program);
    },
    question: ({ name, left }) => `Try again to restore ${amount(left, 'object')} of ${name}?`,
  },
};

export const undoPlan: Act = {
  annotation: annotations.planUndo,
  verb: 'plan the undo of',
  refusal: (view, program) => (view.phase === 'Committed' || hasLeft(view) ? undefined : unended(view, program)),
};
