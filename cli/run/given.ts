// The meaning of options that several commands share.

import type { JsonObject } from '../../hooks/objects/json.ts';
import { parseDuration } from '../../hooks/objects/time.ts';
import { clean } from '../../hooks/objects/words.ts';
import type { Call, Options } from '../command/command.ts';
import type { Sources } from '../input/read.ts';
import { type Io, note, say } from '../io.ts';
import { exits, Problem, wrongUse } from '../problem.ts';
import { formatted } from '../show/formats.ts';
import { type Style, styleFor } from '../show/style.ts';

/** Timers of Node run for at most 24 days. A longer timer ends at once. In ms. */
const longest = 2 ** 31 - 1;

/** In ms; undefined for no limit. Throws a Problem. */
export function timeoutOf(options: Options): number | undefined {
  const text = options.text('timeout');
  if (text === undefined) return undefined;
  const wished = parseDuration(text);
  if (wished === undefined || wished <= 0) throw wrongUse(`--timeout must be a duration such as 5m; found "${text}".`);
  return Math.min(wished, longest);
}

/** The style of lines on standard output. */
export function outputStyle(io: Io, options: Options): Style {
  return styleFor({ isTerminal: io.stdout.isTTY === true, env: io.env, color: options.text('color') });
}

/** Throws a Problem if a question follows and no terminal can answer it. Commands call it before the work for the question. */
export function refuseUnanswerable(io: Io, options: Options, question: string): void {
  if (options.flag('yes') || (io.stdin.isTTY === true && io.stderr.isTTY === true)) return;
  throw wrongUse(`${question} There is no terminal to ask: give --yes.`);
}

/** Asks at a terminal. Without a terminal and `--yes` it throws a Problem. */
export async function confirmed(io: Io, options: Options, question: string): Promise<boolean> {
  refuseUnanswerable(io, options, question);
  if (options.flag('yes')) return true;
  const isYes = /^y(es)?$/i.test((await answerTo(io, question)).trim());
  if (!isYes) note(io, 'Nothing was changed.');
  return isYes;
}

/** Throws a Problem for Ctrl-C. */
async function answerTo(io: Io, question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const asking = createInterface({ input: io.stdin, output: io.stderr });
  // At a terminal Ctrl-C and Ctrl-D are keys: they end the question, and send no signal.
  const ended = new AbortController();
  asking.once('close', () => ended.abort());
  try {
    return await asking.question(`${clean(question)} [y/N] `, { signal: AbortSignal.any([io.interrupted, ended.signal]) });
  } catch (error) {
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    throw new Problem('Nothing was changed.', exits.interrupted);
  } finally {
    asking.close();
  }
}

/** The sources that -f, -R and -k name. */
export function sourcesOf(options: Options): Sources {
  return { files: options.list('filename'), recursive: options.flag('recursive'), kustomize: options.text('kustomize') };
}

/** With -o json or yaml it prints the document, and returns true. */
export function saidAsData({ io, options }: Pick<Call, 'io' | 'options'>, document: () => JsonObject): boolean {
  const format = options.text('output');
  if (format === undefined) return false;
  say(io, formatted([document()], format));
  return true;
}

/** The command that grants the ServiceAccount what the given input needs. */
export function rbacCommand({ io, options, operands }: Pick<Call, 'io' | 'options' | 'operands'>): string {
  const given = (flag: string, name: string): readonly string[] => {
    const value = options.text(name) ?? '';
    return value === '' ? [] : [`${flag} ${inShell(value)}`];
  };
  const place = [...given('--context', 'context'), ...given('--kubeconfig', 'kubeconfig')];
  const words = [
    ...options.list('filename').map((path) => `-f ${inShell(path)}`),
    ...(options.flag('recursive') ? ['-R'] : []),
    ...given('-k', 'kustomize'),
    ...given('--service-account', 'serviceAccount'),
    ...given('--field-manager', 'fieldManager'),
    ...given('--helm-hooks', 'helmHooks'),
    ...given('-n', 'namespace'),
    ...place,
    ...operands.slice(0, 1).map(inShell),
  ];
  return [`${io.program} rbac`, ...words, '| kubectl apply', ...place, '-f -'].join(' ');
}

function inShell(word: string): string {
  return /^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
