// The end of a Transaction, in sentences and as an exit code.
import { isPhase, isTerminal } from '../../hooks/transactions/model/phase.ts';
import { operationsOf, operationWords } from './operations.ts';
import { countsOf } from './progress.ts';
import { paint, type Style, wrapTo } from './style.ts';
import { tookWords } from './took.ts';
import { phaseWords, progressIn } from './tree.ts';
import { overwritten } from './undo.ts';
import { undoesOf, undoneNote } from './undone.ts';
import type { ChangeView, TransactionView } from './view.ts';
import { amount } from './words.ts';

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

interface Ending {
  readonly program: string;
  /** Whether it is over. */
  readonly isEnd: boolean;
  readonly wanted: Wanted;
  readonly columns: number;
  /** Whether the engine has not begun what the command has requested. */
  readonly isAwaited?: boolean;
  /** The name of the rollback that has undone it. */
  readonly undoneBy?: string | undefined;
}

/** What happened, after how long, and why; what became of the objects; the next command. Wrapped, never cut. */
export function endLines(view: TransactionView, after: string, ending: Ending, style: Style): readonly string[] {
  const { good, paragraphs } = paragraphsOf(view, after, ending);
  const [sign, plain, format] = good === undefined ? (['·', '.', 'cyan'] as const) : good ? yes : no;
  const mark = paint(style, format, style.unicode ? sign : plain);
  const lines = paragraphs.filter((text) => text !== '').flatMap((text) => wrapTo(ending.columns - 2, text));
  return lines.map((line, index) => `${index === 0 ? mark : ' '} ${line}`);
}

const yes = ['✓', '+', 'green'] as const;
const no = ['✗', 'x', 'red'] as const;

interface Paragraphs {
  /** Whether it is the wanted end; undefined if it is no end. */
  readonly good?: boolean;
  /** The first one is the sentence. */
  readonly paragraphs: readonly string[];
}

function paragraphsOf(view: TransactionView, after: string, ending: Ending): Paragraphs {
  const rule = ending.isEnd ? ends.get(view.phase) : undefined;
  // Who follows a release may see the undo that a user requests.
  const wanted = view.timing.operation === 'undo' ? 'RolledBack' : ending.wanted;
  const paragraphs = (rule ?? goesOn)(view, after, { ...ending, wanted });
  return { ...(ending.isEnd ? { good: view.phase === wanted } : {}), paragraphs };
}

type Rule = (view: TransactionView, after: string, ending: Ending) => readonly string[];

const ends: ReadonlyMap<string, Rule> = new Map(
  Object.entries<Rule>({
    Committed: (view, after, ending) => {
      const { gated } = countsOf(view);
      const ready = gated === 0 ? '' : ` (${gated} ready)`;
      const late = ending.wanted === 'Committed' ? '' : ', before the request took effect';
      return [
        `${view.name} was committed after ${after}${late}: ${operationWords(operationsOf(view.changes))}${ready}.`,
        tookIn(view),
        undoneIn(view),
        ending.undoneBy === undefined ? `${command(view, ending, 'undo')} takes it back.` : broughtBack(view, ending),
      ];
    },
    RolledBack: (view, after, ending) => {
      const isWanted = ending.wanted === 'RolledBack';
      return [
        `${view.name} was rolled back after ${after}${isWanted ? '.' : because(view)}`,
        `${beforeIn(view)}${keptIn(view)} Nothing to clean up.`,
        undoneIn(view),
        isWanted ? '' : again(view, ending),
      ];
    },
    Failed: (view, after, ending) => (view.left > 0 ? leftOver(view, after, ending) : notBegun(view, after, ending)),
  }),
);

/** `It took 1 field: Deployment api image "1.4-hotfix" (kubectl-set).` */
function tookIn({ changes }: TransactionView): string {
  const took = tookWords('took', changes);
  return took === '' ? '' : `It ${took}.`;
}

/** Of a rollback: `It undid v7, v6.`, `v7, v6 are there again.` */
function undoneIn(view: TransactionView): string {
  const note = undoneNote({ phase: view.phase, undoes: undoesOf(view) });
  return note === '' ? '' : `${view.phase === 'Committed' ? 'It ' : ''}${note}.`;
}

function broughtBack({ namespace, name }: TransactionView, { program, undoneBy = '' }: Ending): string {
  return `${name} is undone by ${undoneBy}: ${program} undo ${undoneBy} -n ${namespace} brings it back.`;
}

/** A release under the name of one that has ended without an effect gets another name. */
const again = ({ rollback, reason }: TransactionView, { program }: Ending): string =>
  isAborted(reason) ? '' : `Correct the cause, then run ${program} ${rollback === undefined ? 'apply' : 'undo'} again.`;

/** Whether a user has stopped it. */
const isAborted = (reason: string): boolean => reason === 'RollbackRequested';

const notBegun: Rule = (view, after, ending) => [
  `${view.name} failed after ${after}${because(view)}`,
  'Nothing was applied: no object was changed.',
  again(view, ending),
];

function leftOver(view: TransactionView, after: string, ending: Ending): readonly string[] {
  const isOnlyNeeded = ({ error }: ChangeView): boolean => error?.reason === 'NeededByKept';
  const all = view.changes.filter(({ state }) => state === 'NotRestored');
  const left = all.toSorted((one, other) => Number(isOnlyNeeded(one)) - Number(isOnlyNeeded(other)));
  const shown = left.slice(0, mostShown);
  const inTheWay = left.every(isOnlyNeeded) ? left : left.filter((one) => !isOnlyNeeded(one));
  const others = inTheWay.filter(({ error }) => error !== undefined && overwritten.has(error.reason));
  const retry = command(view, ending, 'retry');
  const what = others[0]?.error?.reason === 'Gone' ? 'creates it again' : 'undoes the change although others changed it';
  const overwrite = others.length === 0 ? '' : `, with --overwrite ${selectorsOf(others)} it ${what}`;
  return [
    `The undo of ${view.name} is incomplete after ${after}: ${amount(view.left, 'object')} ${isOrAre(view.left)} not restored.`,
    ...shown.map(({ kind, name, error }) => `${kind} ${name}: ${error === undefined ? 'not restored' : error.message}`),
    left.length > shown.length ? `${command(view, ending, 'status')} shows all ${left.length}.` : '',
    `${beforeIn(view)}${keptIn(view)}`,
    `${retry} tries again; with --keep ${selectorsOf(inTheWay)} it leaves ${inTheWay.length === 1 ? 'the object' : 'these'}${overwrite}.`,
  ];
}

function selectorsOf(changes: readonly ChangeView[]): string {
  const more = changes.length > mostShown ? ',…' : '';
  return `${changes
    .slice(0, mostShown)
    .map(({ selector }) => selector)
    .join(',')}${more}`;
}

const goesOn: Rule = (view, after, ending) => {
  if (ending.isAwaited)
    return [
      `The engine has not begun the undo of ${view.name}: it is ${phaseWords(view.phase)} (${progressIn(view)}). The request stays.`,
      `${ending.program} doctor checks the engine. ${command(view, ending, 'status')} shows the progress.`,
    ];
  const isUndoing = view.phase === 'RollingBack';
  const abort = isUndoing || isTerminalPhase(view) ? '' : ` ${command(view, ending, 'abort')} stops it, and undoes it.`;
  const now = `${view.name} is ${phaseWords(view.phase)} after ${after} (${progressIn(view)}); it continues.`;
  return [now, isUndoing ? view.cause : view.message, `${command(view, ending, 'status')} --watch follows it.${abort}`];
};

const isTerminalPhase = ({ phase }: TransactionView): boolean => isPhase(phase) && isTerminal(phase);

const command = ({ name, namespace }: TransactionView, { program }: Ending, verb: string): string =>
  `${program} ${verb} ${name} -n ${namespace}`;

const mostShown = 5;

function because(view: TransactionView): string {
  const cause = view.cause || view.message;
  return `: ${cause}${/[.!?]$/.test(cause) ? '' : '.'}`;
}

const isOrAre = (number: number): string => (number === 1 ? 'is' : 'are');

/** `26 objects are as before (26 deleted again).` */
function beforeIn(view: TransactionView): string {
  const { before, deletedAgain } = countsOf(view);
  return `${amount(before, 'object')} ${isOrAre(before)} as before${deletedAgain === 0 ? '' : ` (${deletedAgain} deleted again)`}.`;
}

function keptIn(view: TransactionView): string {
  const kept = view.changes.filter(({ state }) => state === 'Kept');
  if (kept.length === 0) return '';
  const names = kept.slice(0, mostShown).map(({ kind, name }) => `${kind} ${name}`);
  const more = kept.length > names.length ? `, and ${kept.length - names.length} more` : '';
  return ` ${amount(kept.length, 'object')} ${isOrAre(kept.length)} kept: ${names.join(', ')}${more}.`;
}
