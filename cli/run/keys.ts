// The keys of a command that follows a Transaction: q leaves, a aborts after a question. Only at a terminal.
import { existsSync, readFileSync } from 'node:fs';
import type { Io } from '../io.ts';
import { requests } from '../show/requests.ts';
import type { TransactionView } from '../show/view.ts';

interface Handlers {
  /** Shows the last line. */
  readonly prompt: (line: string) => void;
  readonly leave: () => void;
  /** Resolves with what to say, or with undefined. */
  readonly abort: () => Promise<string | undefined>;
}

export interface Keys {
  show(view: TransactionView): void;
  close(): void;
}

const noKeys: Keys = { show: () => undefined, close: () => undefined };

/** In raw mode these keys arrive as characters. */
const signals = { '\u0003': 'SIGINT', '\u001c': 'SIGQUIT', '\u001a': 'SIGTSTP' } as const;

/** How long it takes at most, in ms, until a signal to stop has stopped the process. */
const untilStopped = 100;

export function readKeys(io: Io, handlers: Handlers): Keys {
  const { stdin } = io;
  if (!mayRead(io)) return noKeys;
  let view: TransactionView | undefined;
  let [isAsking, said] = [false, ''];
  const mayAbort = (): boolean => view !== undefined && requests.abort.refusal(view, io.program) === undefined;
  const prompt = (): void => {
    if (view !== undefined) handlers.prompt(isAsking ? questionOf(view) : said || keysOf(mayAbort()));
  };
  const abort = async (): Promise<void> => {
    said = (await handlers.abort()) ?? '';
    prompt();
  };
  const answered = (key: string): void => {
    isAsking = false;
    if (/^y$/i.test(key)) void abort();
  };
  const typed = (key: string): void => {
    if (isAsking) answered(key);
    else if (key === 'q') handlers.leave();
    else isAsking = key === 'a' && mayAbort();
    prompt();
  };
  const read = (text: string): void => {
    for (const key of text) {
      const signal = signals[key as keyof typeof signals];
      if (signal === undefined) typed(key);
      else send(io, signal);
    }
  };
  stdin.setRawMode(true);
  stdin.setEncoding('utf8').on('data', read).resume();
  return {
    show(next) {
      view = next;
      isAsking &&= mayAbort();
      prompt();
    },
    close() {
      stdin.off('data', read).pause();
      stdin.setRawMode(false);
    },
  };
}

function mayRead({ stdin, stdout, signal }: Io): boolean {
  return stdin.isTTY === true && stdout.isTTY === true && signal !== undefined && isInForeground();
}

/** The state of this process. Only Linux has it. */
const stateFile = '/proc/self/stat';

// A process in the background that changes the mode of the terminal is stopped.
function isInForeground(): boolean {
  if (!existsSync(stateFile)) return true;
  const [, , group, , , foreground] = readFileSync(stateFile, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  return group === foreground;
}

const keysOf = (mayAbort: boolean): string => `[q] leave, it goes on${mayAbort ? '   [a] abort and undo' : ''}`;

const questionOf = (view: TransactionView): string => `${requests.abort.question(view)} [y/N]`;

// A shell expects the terminal as it was while the process is stopped.
function send({ stdin, signal }: Io, name: (typeof signals)[keyof typeof signals]): void {
  if (name === 'SIGTSTP') stdin.setRawMode(false);
  signal?.(name);
  if (name === 'SIGTSTP') setTimeout(() => stdin.setRawMode(true), untilStopped);
}
