// What a command has of the process: streams, environment, folder, and the moment at which the user has had enough.
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
}

/** Throws after Ctrl-C: before each write, so that nothing is made that was cancelled. `left`: what is there already. */
export function refuseInterrupted({ interrupted }: Io, left = ''): void {
  if (interrupted.aborted) throw new Problem(`Interrupted: nothing more is created.${left}`, exits.interrupted);
}

/** Undefined once the signal is aborted: the promise, a request without an answer perhaps, is left to itself. */
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

/** The same of any number of lines: a call takes about 120 000 arguments at most. Of what moves a terminal only colours pass. */
export function sayAll(io: Io, lines: readonly string[]): void {
  if (lines.length > 0) io.stdout.write(`${lines.join('\n').replaceAll(unsaid, (one) => (one.length > 2 ? one : clean(one)))}\n`);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of colours begin with one
const unsaid = /\u001b\[[\d;]*m|(?![\n\t])[\p{C}\p{Default_Ignorable_Code_Point}]/gu;

/** Writes a line that is no result: a warning, or what goes on meanwhile. It may quote files and answers: none of them moves a cursor. */
export function note(io: Io, line: string): void {
  io.stderr.write(`${clean(line)}\n`);
}
