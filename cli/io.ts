// The parts of the process that a command uses: streams, environment, folder, and the signal of Ctrl-C.
import type { ReadStream, WriteStream } from 'node:tty';
import { clean } from '../hooks/objects/words.ts';
import { exits, Problem } from './problem.ts';

export interface Io {
  readonly stdin: ReadStream | NodeJS.ReadStream;
  readonly stdout: WriteStream | NodeJS.WriteStream;
  readonly stderr: WriteStream | NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Relative names of files are relative to it. */
  readonly folder: string;
  /** `janus`, or `kubectl janus` when kubectl runs it. */
  readonly program: string;
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal;
  /** Sends the process a signal. In raw mode the keys for signals send none. */
  readonly signal?: (name: 'SIGINT' | 'SIGQUIT' | 'SIGTSTP') => void;
}

/** Throws after Ctrl-C. Commands call it before each write. `left`: a sentence on the objects that exist already. */
export function refuseInterrupted({ interrupted }: Io, left = ''): void {
  if (interrupted.aborted) throw new Problem(`Interrupted: nothing more is created.${left}`, exits.interrupted);
}

/** Undefined once the signal is aborted. The function does not wait for the promise then: it may be an open request. */
export function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  if (signal.aborted) promise.catch(() => undefined);
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(undefined);
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Writes lines to standard output. */
export function say(io: Io, ...lines: readonly string[]): void {
  sayAll(io, lines);
}

/** Like `say`, for any number of lines: a call takes about 120 000 arguments at most. Of escape sequences only colours pass. */
export function sayAll(io: Io, lines: readonly string[]): void {
  if (lines.length > 0) io.stdout.write(`${lines.join('\n').replaceAll(unsaid, (one) => (one.length > 2 ? one : clean(one)))}\n`);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of colours begin with one
const unsaid = /\u001b\[[\d;]*m|(?![\n\t])[\p{C}\p{Default_Ignorable_Code_Point}]/gu;

/** Writes a warning, or a line on progress. The line may quote files and answers: escape sequences in them are removed. */
export function note(io: Io, line: string): void {
  io.stderr.write(`${clean(line)}\n`);
}
