// Follows a Transaction to its end, and says what happened.
import type { JsonObject } from '../../hooks/objects/json.ts';
import type { FailedLog } from '../../hooks/transactions/inspection.ts';
import { usualEngineNamespace } from '../cluster/engine.ts';
import { type Followed, follow } from '../cluster/follow.ts';
import { followLogs } from '../cluster/logs.ts';
import type { Session } from '../cluster/session.ts';
import type { TransactionName } from '../cluster/transactions.ts';
import { type Io, sayAll } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { clockOf } from '../show/age.ts';
import { codeOfEnd, endLines, isOver, refusedCode, stillGoing, type Wanted } from '../show/end.ts';
import { keptLogLines, logLines } from '../show/failed-logs.ts';
import { requests } from '../show/requests.ts';
import { type Style, wrapTo } from '../show/style.ts';
import { answerTo, isHandled } from '../show/undo.ts';
import { type TransactionView, viewOf } from '../show/view.ts';
import { notesIn, warningsIn } from '../show/warnings.ts';
import { noteHolder } from './holder.ts';
import { type Keys, readKeys } from './keys.ts';
import { openPrinter, type Printer, sizeOf } from './printer.ts';
import { send } from './request.ts';
import { noteSilence } from './silence.ts';
import { type Clock, processClock } from './stopwatch.ts';

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
  readonly clock?: Clock;
  readonly engineNamespace?: string;
  /** A request that must have taken effect before an end counts. */
  readonly request?: { readonly name: string; readonly value: string };
  /** Whether to wait only until the engine has accepted the request, or refused it. */
  readonly untilAccepted?: boolean;
}

interface Watching extends Watched {
  readonly printer: Printer;
  readonly keys: Keys;
  /** The last stored state. */
  readonly seen: { object?: JsonObject; request?: Watched['request'] };
}

/** Resolves with the exit code when the Transaction is over, or the time has passed. Throws a Problem. */
export async function watch(watched: Watched): Promise<number> {
  const { io, session, wanted, timeout, known, style, request, clock = processClock } = watched;
  const { engineNamespace = usualEngineNamespace } = watched;
  const ending = new AbortController();
  const leaving = new AbortController();
  const stop = (): void => ending.abort();
  const isLeft = AbortSignal.any([io.interrupted, leaving.signal]);
  isLeft.addEventListener('abort', stop, { once: true });
  if (isLeft.aborted) stop();
  const timer = timeout === undefined ? undefined : setTimeout(stop, timeout);
  const printer = openPrinter({ io, style, clock, isWritten: known !== undefined, isNews: request === undefined });
  const seen: Watching['seen'] = { request };
  const keys = readKeys(io, { prompt: printer.prompt, leave: () => leaving.abort(), abort: () => abort(watched, seen) });
  let [states, shown] = [0, undefined as TransactionView | undefined];
  const onState = (view: TransactionView): void => {
    [shown, states] = [view, states + 1];
    watched.onState?.(view);
  };
  // The first state is the one that the command wrote, or read.
  const isSilent = (): boolean =>
    shown !== undefined && (shown.startTime === undefined || (request !== undefined && states === 1));
  const stops = [
    noteSilence({ session, program: io.program, isSilent, say: printer.trouble }),
    noteHolder({ session, engineNamespace, viewed: () => shown, say: printer.holder }),
  ];
  const logs = followLogs(session);
  try {
    const watching = { ...watched, printer, keys, seen, onState };
    const last = await lastOf(logs.seeing(follow(session, wanted, { signal: ending.signal, known })), watching);
    const code = conclude(watching, last, isLeft.aborted);
    sayLogs(io, await logs.end(), last);
    return code;
  } finally {
    for (const stopNoting of stops) stopNoting();
    clearTimeout(timer);
    ending.abort();
    keys.close();
    printer.close(0);
  }
}

/** What failed containers printed: what the command has read itself, and what the engine has kept of the others. */
function sayLogs(io: Io, read: readonly FailedLog[], last: TransactionView | undefined): void {
  const known = read.map(({ index }) => index);
  sayAll(io, [...read.flatMap(logLines), ...keptLogLines(last?.changes ?? [], known)]);
}

/** Resolves with a sentence for the user. */
async function abort({ io, session, wanted }: Watched, seen: Watching['seen']): Promise<string | undefined> {
  if (seen.object === undefined) return undefined;
  try {
    const sent = await send({ io, session, wanted, object: seen.object, act: requests.abort });
    seen.request = sent.request;
    return 'abort requested: the engine undoes the applied changes   [q] leave, it goes on';
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
}

/** Shows each state. Returns the state at the end, or the last state before the time had passed. */
async function lastOf(states: AsyncIterable<Followed>, watching: Watching): Promise<TransactionView | undefined> {
  const { printer, keys, seen, onState } = watching;
  let last: TransactionView | undefined;
  for await (const { object, trouble } of states) {
    if (object === undefined) printer.trouble(trouble ?? '');
    else {
      [last, seen.object] = [viewOf(object), object];
      printer.show(last);
      keys.show(last);
      onState?.(last);
      if (isEnough(last, watching)) return last;
    }
  }
  return last;
}

const isEnough = (view: TransactionView, watching: Watching): boolean =>
  hasEnded(view, watching.seen) || isAccepted(view, watching);

/** A request that must have taken effect before an end counts. */
type Requested = { readonly request?: Watched['request'] };

/** Whether the Transaction is over, and the request, if there is one, has taken effect. */
export function hasEnded(view: TransactionView, { request }: Requested): boolean {
  if (request === undefined || !isOver(view)) return isOver(view);
  if (isRefused(view, { request })) return true;
  const handled = view.handled[request.name];
  // The request of another client may have replaced this request. Then that request takes effect.
  return handled === request.value || handled === view.requested[request.name];
}

/** Whether the engine has not acted on the request. A Committed Transaction whose undo has begun waits for locks. */
function isAwaited(view: TransactionView, { request }: Requested): boolean {
  if (request === undefined || isHandled(view, request) || view.phase === 'RollingBack') return false;
  return !(view.phase === 'Committed' && view.timing.operation === 'undo');
}

/** Whether the engine acts on a request, and the command waits for no more. */
function isAccepted(view: TransactionView, { request, untilAccepted }: Watched): boolean {
  return untilAccepted === true && request !== undefined && view.phase === 'RollingBack';
}

/** Whether the engine has answered that the request has no effect. */
function isRefused(view: TransactionView, { request }: Requested): boolean {
  if (request === undefined) return false;
  return answerTo(view, request) !== undefined || (view.phase === 'Committed' && isHandled(view, request));
}

/** The warnings about the writes that the command awaited: an undo shows those about its own. */
function warnedIn({ end, request }: Pick<Watching, 'end' | 'request'>, { changes }: TransactionView): readonly string[] {
  const isOfChanges = end === 'Committed' && request === undefined;
  return warningsIn({ changes: isOfChanges ? changes : changes.filter(({ isUndone }) => isUndone) });
}

function conclude(watching: Watching, last: TransactionView | undefined, isLeft: boolean): number {
  const { io, end, printer, seen, style } = watching;
  if (last === undefined) throw new Problem('The command could not read the Transaction in that time.', stillGoing);
  const [isEnd, after, { columns }] = [hasEnded(last, seen), clockOf(printer.elapsed()), sizeOf(io)];
  const isNoUndo = isEnd && isRefused(last, seen);
  const lines = isNoUndo
    ? wrapTo(columns, `The engine refused it after ${after}: no object was changed, and it is ${last.phase} as before.`)
    : endLines(last, after, { program: io.program, isEnd, wanted: end, columns, isAwaited: isAwaited(last, seen) }, style);
  const warned = isNoUndo ? [] : [...notesIn(last), ...warnedIn(watching, last)];
  printer.close(lines.length + warned.length);
  sayAll(io, [...lines, ...warned]);
  if (isNoUndo) return refusedCode;
  if (isEnd) return codeOfEnd(last, end);
  if (isAccepted(last, watching)) return exits.done;
  return isLeft ? exits.interrupted : stillGoing;
}
