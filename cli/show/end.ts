// The end of a Transaction, as a sentence and as an exit code.
import { isPhase, isTerminal } from '../../hooks/transactions/model/phase.ts';
import type { TransactionView } from './view.ts';

/** The phase that the user of a command wants. */
export type Wanted = 'Committed' | 'RolledBack';

/** Whether the engine does nothing more: the phase is terminal, and the locks are released. */
export function isOver({ phase, finished }: TransactionView): boolean {
  return isPhase(phase) && isTerminal(phase) && finished;
}

/** Exit codes of a Transaction that is over. */
const codes = { wanted: 0, nothingApplied: 2, rolledBack: 3, somethingLeft: 4 } as const;
/** The time of --timeout has passed; the Transaction continues. */
export const stillGoing = 5;
/** The engine refused the undo before it wrote anything. */
export const refusedCode = 3;

export function codeOfEnd(view: TransactionView, wanted: Wanted): number {
  if (view.phase === wanted) return codes.wanted;
  if (view.phase === 'Failed') return view.left > 0 ? codes.somethingLeft : codes.nothingApplied;
  // If an undo ended as Committed, it never began.
  return view.phase === 'RolledBack' ? codes.rolledBack : 1;
}

interface Conclusion {
  readonly program: string;
  /** Whether it is over. */
  readonly isEnd: boolean;
}

/** One line that states the result, and the next command. */
export function conclusionOf(view: TransactionView, after: string, { program, isEnd }: Conclusion): string {
  const { name, namespace, kept } = view;
  switch (isEnd ? view.phase : 'going') {
    case 'Committed':
      return `Committed after ${after}: all ${view.changes.length} changes are applied.`;
    case 'RolledBack':
      return `RolledBack after ${after}: ${remains(kept)}.   ${program} diff ${name} -n ${namespace}`;
    case 'Failed':
      return view.left > 0
        ? `Failed after ${after}: ${view.left} objects are not restored.   ${program} retry ${name} -n ${namespace}`
        : `Failed after ${after}: nothing was applied.`;
    default:
      return `${view.phase} after ${after}: it continues.   ${program} status ${name} -n ${namespace} --watch`;
  }
}

function remains(kept: number): string {
  if (kept === 0) return 'all changes are undone';
  return kept === 1
    ? '1 change is kept on request, the others are undone'
    : `${kept} changes are kept on request, the others are undone`;
}
