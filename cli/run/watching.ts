// Follows a Transaction. At a terminal it redraws a tree; elsewhere it prints a line for each update.
import { createLogUpdate } from 'log-update';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { type Followed, follow } from '../cluster/follow.ts';
import { followLogs } from '../cluster/logs.ts';
import type { Session } from '../cluster/session.ts';
import type { TransactionName } from '../cluster/transactions.ts';
import { type Io, note, say } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { clockOf } from '../show/age.ts';
import { codeOfEnd, conclusionOf, isOver, refusedCode, stillGoing, type Wanted } from '../show/end.ts';
import { logLines } from '../show/failed-logs.ts';
import { newsOf } from '../show/news.ts';
import type { Style } from '../show/style.ts';
import { treeOf } from '../show/tree.ts';
import { answerTo, isHandled } from '../show/undo.ts';
import { type TransactionView, viewOf } from '../show/view.ts';
import { noteSilence } from './silence.ts';

interface Watched {
  readonly io: Io;
  readonly session: Session;
  readonly wanted: TransactionName;
  /** The phase that the user wants. */
  readonly end: Wanted;
  readonly style: Style;
  /** In ms. */
  readonly timeout: number | undefined;
  /** The Transaction as the command has just written it: no later state is missed. */
  readonly known?: JsonObject | undefined;
  /** Called with each state that is shown. */
  readonly onState?: (view: TransactionView) => void;
  /** A request that must have taken effect before an end counts. */
  readonly request?: { readonly name: string; readonly value: string };
}

/** Resolves with the exit code when the Transaction is over, or the time has passed. Throws a Problem. */
export async function watch(watched: Watched): Promise<number> {
  const { io, session, wanted, timeout } = watched;
  const ending = new AbortController();
  const stop = (): void => ending.abort();
  io.interrupted.addEventListener('abort', stop, { once: true });
  if (io.interrupted.aborted) stop();
  const timer = timeout === undefined ? undefined : setTimeout(stop, timeout);
  const screen = screenFor(watched);
  let states = 0;
  let seen: TransactionView | undefined;
  const onState = (view: TransactionView): void => {
    [seen, states] = [view, states + 1];
    watched.onState?.(view);
  };
  // The first state is the one that the command wrote, or read.
  const isSilent = (): boolean =>
    seen !== undefined && (seen.startTime === undefined || (watched.request !== undefined && states === 1));
  const stopNoting = noteSilence({ session, program: io.program, isSilent, say: screen.trouble });
  const logs = followLogs(session);
  try {
    const followed = logs.seeing(follow(session, wanted, { signal: ending.signal, known: watched.known }));
    const last = await lastOf(followed, screen, { ...watched, onState });
    const code = conclude(watched, last, screen);
    for (const log of await logs.end()) say(io, ...logLines(log));
    return code;
  } finally {
    stopNoting();
    clearTimeout(timer);
    ending.abort();
    screen.close();
  }
}

/** Shows each state. Returns the state at the end, or the last state before the time had passed. */
async function lastOf(states: AsyncIterable<Followed>, screen: Screen, watched: Watched): Promise<TransactionView | undefined> {
  let last: TransactionView | undefined;
  for await (const { object, trouble } of states) {
    if (object === undefined) screen.trouble(trouble ?? '');
    else {
      last = viewOf(object);
      screen.show(last);
      watched.onState?.(last);
      if (hasEnded(last, watched)) return last;
    }
  }
  return last;
}

/** Whether the Transaction is over, and the request, if there is one, has taken effect. */
export function hasEnded(view: TransactionView, { request }: Pick<Watched, 'request'>): boolean {
  if (request === undefined || !isOver(view)) return isOver(view);
  if (isRefused(view, { request })) return true;
  const handled = view.handled[request.name];
  // The request of another client may have replaced this request. Then that request takes effect.
  return handled === request.value || handled === view.requested[request.name];
}

/** Whether the engine has answered that the request has no effect. */
function isRefused(view: TransactionView, { request }: Pick<Watched, 'request'>): boolean {
  if (request === undefined) return false;
  return answerTo(view, request) !== undefined || (view.phase === 'Committed' && isHandled(view, request));
}

function conclude(watched: Watched, last: TransactionView | undefined, screen: Screen): number {
  const { io, end } = watched;
  const elapsed = screen.elapsed();
  screen.close();
  if (last === undefined) throw new Problem('The command could not read the Transaction in that time.', stillGoing);
  const isEnd = hasEnded(last, watched);
  if (isEnd && isRefused(last, watched)) {
    say(io, `The engine refused it after ${clockOf(elapsed)}: no object was changed, and it is ${last.phase} as before.`);
    return refusedCode;
  }
  say(io, conclusionOf(last, clockOf(isEnd ? spanOf(last, elapsed) : elapsed), { program: io.program, isEnd }));
  if (isEnd) return codeOfEnd(last, end);
  return io.interrupted.aborted ? exits.interrupted : stillGoing;
}

/** The duration in the status, or else the time for which the command followed the Transaction. */
function spanOf({ startTime, endedAt }: TransactionView, elapsed: number): number {
  return startTime === undefined || endedAt === undefined ? elapsed : endedAt - startTime;
}

interface Screen {
  show(view: TransactionView): void;
  trouble(sentence: string): void;
  /** ms since the start. */
  elapsed(): number;
  close(): void;
}

function screenFor({ io, style }: Watched): Screen {
  return io.stdout.isTTY === true ? terminal(io, style) : log(io);
}

/** The interval at which the clock of the tree moves, in ms. */
const tick = 1_000;

function terminal(io: Io, style: Style): Screen {
  const draw = createLogUpdate(io.stdout as NodeJS.WriteStream, { showCursor: true });
  const started = performance.now();
  const elapsed = (): number => performance.now() - started;
  const reached = new Map<number, number>();
  let view: TransactionView | undefined;
  let trouble = '';
  const redraw = (): void => {
    if (view === undefined) return;
    const { columns = 80, rows = 24 } = io.stdout as NodeJS.WriteStream;
    // One row stays free for the prompt, and one for the trouble.
    const lines = treeOf({ view, elapsed: elapsed(), reached }, { columns, rows: rows - 2 }, style);
    draw([...lines, ...(trouble === '' ? [] : [trouble.slice(0, columns)])].join('\n'));
  };
  const timer = setInterval(redraw, tick);
  return {
    show(next) {
      for (const [index, { state }] of next.changes.entries())
        if (view !== undefined && state !== view.changes[index]?.state) reached.set(index, elapsed());
      [view, trouble] = [next, ''];
      redraw();
    },
    trouble(sentence) {
      trouble = sentence;
      redraw();
    },
    elapsed,
    close() {
      clearInterval(timer);
      redraw();
      draw.done();
    },
  };
}

function log(io: Io): Screen {
  const started = performance.now();
  const elapsed = (): number => performance.now() - started;
  let view: TransactionView | undefined;
  let printed = '';
  return {
    show(next) {
      const time = `${(elapsed() / 1000).toFixed(2)}s`;
      say(io, ...newsOf(next, view).map((line) => `${time} ${line}`));
      view = next;
      printed = '';
    },
    trouble(sentence) {
      if (sentence !== printed) note(io, sentence);
      printed = sentence;
    },
    elapsed,
    close: () => undefined,
  };
}
