// The keys of a command that follows a Transaction: q leaves, a aborts after a question. Only at a terminal.
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
  const { stdin, stdout } = io;
  if (stdin.isTTY !== true || stdout.isTTY !== true || typeof stdin.setRawMode !== 'function') return noKeys;
  let view: TransactionView | undefined;
  let [isAsking, said] = [false, ''];
  const mayAbort = (): boolean => view !== undefined && requests.abort.refusal(view, io.program) === undefined;
  const prompt = (): void => handlers.prompt(isAsking && view !== undefined ? questionOf(view) : said || keysOf(mayAbort()));
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

const keysOf = (mayAbort: boolean): string => `[q] leave, it goes on${mayAbort ? '   [a] abort and undo' : ''}`;

const questionOf = (view: TransactionView): string => `${requests.abort.question(view)} [y/N]`;

// A shell expects the terminal as it was while the process is stopped.
function send({ stdin, signal }: Io, name: (typeof signals)[keyof typeof signals]): void {
  if (name === 'SIGTSTP') stdin.setRawMode(false);
  signal?.(name);
  if (name === 'SIGTSTP') setTimeout(() => stdin.setRawMode(true), untilStopped);
}
