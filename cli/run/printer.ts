// Where the states of a Transaction go: a terminal, whose lines are redrawn, or a pipe, which gets lines.
import { type Io, note, say, sayAll } from '../io.ts';
import { clockOf } from '../show/age.ts';
import { newsOf, waitOf } from '../show/news.ts';
import { cutTo, type Style } from '../show/style.ts';
import { treeOf } from '../show/tree.ts';
import type { TransactionView } from '../show/view.ts';
import { openFrames } from './frames.ts';
import { type Clock, startWatch } from './stopwatch.ts';

export interface Printer {
  show(view: TransactionView): void;
  /** There is no connection. */
  trouble(sentence: string): void;
  /** Who holds what the Transaction waits for. */
  holder(sentence: string): void;
  /** The last line: keys, a question. */
  prompt(line: string): void;
  /** ms since the operation began. */
  elapsed(): number;
  /** Nothing is redrawn any more. The last state stays, above so many lines. */
  close(below: number): void;
}

interface Opening {
  readonly io: Io;
  readonly style: Style;
  readonly clock: Clock;
  /** Whether the command has just written the Transaction. */
  readonly isWritten: boolean;
  /** Whether the first state is news: not that of a request, which the command has read before. */
  readonly isNews: boolean;
}

export function openPrinter(opening: Opening): Printer {
  return opening.io.stdout.isTTY === true ? terminal(opening) : log(opening);
}

/** The interval at which the clock of the tree moves, in ms. */
const tick = 1_000;
/** If nothing moves for that time, in ms, the message of the Transaction says why. */
const patience = 1_000;

/** The columns and rows of standard output. */
export function sizeOf({ stdout }: Io): { readonly columns: number; readonly rows: number } {
  if (stdout.isTTY !== true) return { columns: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY };
  // A terminal may report no size.
  return { columns: stdout.columns || 80, rows: stdout.rows || 24 };
}

function terminal({ io, style, clock, isWritten }: Opening): Printer {
  const frames = openFrames(io);
  const watch = startWatch(clock, isWritten);
  let view: TransactionView | undefined;
  let [trouble, prompt, holder, since, isClosed] = ['', '', '', clock.now(), false];
  const treeIn = (rows: number): readonly string[] => {
    if (view === undefined) return [];
    const isHeldUp = !isClosed && clock.now() - since >= patience;
    return treeOf({ view, elapsed: watch.elapsed(view), isHeldUp }, { columns: sizeOf(io).columns, rows }, style);
  };
  const redraw = (): void => {
    if (isClosed) return;
    const { columns, rows } = sizeOf(io);
    const below = [holder, trouble, prompt].filter((line) => line !== '').map((line) => cutTo(columns, line, style));
    // One row stays free for the cursor.
    frames.draw([...treeIn(rows - 1 - below.length), ...below], columns);
  };
  const timer = setInterval(redraw, tick);
  io.stdout.on('resize', redraw);
  return {
    show(next) {
      if (next.message !== view?.message || next.done !== view.done) [since, holder] = [clock.now(), ''];
      watch.note(next);
      [view, trouble] = [next, ''];
      redraw();
    },
    trouble(sentence) {
      trouble = sentence;
      redraw();
    },
    holder(sentence) {
      holder = sentence;
      redraw();
    },
    prompt(line) {
      if (line === prompt) return;
      prompt = line;
      redraw();
    },
    elapsed: () => watch.elapsed(view),
    close(below) {
      if (isClosed) return;
      isClosed = true;
      clearInterval(timer);
      io.stdout.off('resize', redraw);
      frames.end(sizeOf(io).columns);
      sayAll(io, treeIn(Math.max(fewestRows, sizeOf(io).rows - 1 - below)));
    },
  };
}

/** How long the Transaction waits at the most. */
function leftOf({ began, until }: Partial<TransactionView['timing']> = {}, elapsed: number): string {
  return began === undefined || until === undefined ? '' : `; ${clockOf(Math.max(0, until - began - elapsed))} left`;
}

/** At the end, however long the sentences are. */
const fewestRows = 5;

function log({ io, clock, isWritten, isNews }: Opening): Printer {
  const watch = startWatch(clock, isWritten);
  const started = clock.now();
  let view: TransactionView | undefined;
  let printed = '';
  let timer: NodeJS.Timeout | undefined;
  const waits = new Set<number | undefined>();
  const holders = new Set<string>();
  const timed = (line: string): string => `${((clock.now() - started) / 1000).toFixed(2)}s ${line}`;
  const wait = (): void => {
    const found = view === undefined ? undefined : waitOf(view);
    if (found === undefined || waits.has(found.index)) return;
    waits.add(found.index);
    say(io, timed(`${found.line}${leftOf(view?.timing, watch.elapsed(view))}`));
  };
  return {
    show(next) {
      watch.note(next);
      if (view !== undefined || isNews) sayAll(io, newsOf(next, view).map(timed));
      [view, printed] = [next, ''];
      clearTimeout(timer);
      timer = setTimeout(wait, patience);
    },
    trouble(sentence) {
      if (sentence !== printed) note(io, sentence);
      printed = sentence;
    },
    holder(sentence) {
      if (!holders.has(sentence)) say(io, timed(sentence));
      holders.add(sentence);
    },
    prompt: () => undefined,
    elapsed: () => watch.elapsed(view),
    close: () => clearTimeout(timer),
  };
}
