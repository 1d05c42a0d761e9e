// The command line as commander reads it, made from the registry. Wrong use ends with 64.
import { setTimeout as sleep } from 'node:timers/promises';
import { CommanderError, Command as Parser, Option as ParserOption } from 'commander';
import type { Session } from '../cluster/session.ts';
import { type Io, note, unlessAborted } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { clientVersion } from '../run/client-version.ts';
import { type Call, type Command, exitsOf, type Option, type Options, optionsFor, optionsOf } from './command.ts';
import { commands } from './registry.ts';
import { asKubectl } from './words.ts';

/** Runs one command line and resolves with its exit code. Never rejects because of an error that a user can cause. */
export async function runProgram(words: readonly string[], io: Io): Promise<number> {
  let code: number = exits.done;
  const parser = parserFor(io, (one) => {
    code = one;
  });
  try {
    await parser.parseAsync([...asKubectl(words, commands)], { from: 'user' });
    return code;
  } catch (error) {
    return codeOfError(error, io);
  }
}

function codeOfError(error: unknown, io: Io): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exits.done : exits.wrongUse;
  if (error instanceof Problem) note(io, `${io.program}: ${error.message}`);
  if (io.interrupted.aborted) return exits.interrupted;
  if (error instanceof Problem) return error.code;
  throw error;
}

/** All commands. `done` receives the exit code of the one that ran. */
function parserFor(io: Io, done: (code: number) => void): Parser {
  const parser = new Parser(io.program);
  parser
    .description('Apply several changes to a Kubernetes cluster as one Transaction: follow it, undo it.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text) => note(io, `${io.program}: ${sentenceIn(text)} (${io.program} --help shows how)`),
    })
    .version(clientVersion, '--version', 'print the version of this program')
    .helpCommand('help [command]', 'help for a command')
    .enablePositionalOptions();
  for (const command of commands) add(parser, command, { io, done });
  return parser;
}

/** The sentence in commander's `error: unknown option '--a'`, which may continue on a second line. */
function sentenceIn(text: string): string {
  return text
    .replace(/^error: /, '')
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ');
}

interface Use {
  readonly io: Io;
  readonly done: (code: number) => void;
}

function add(parser: Parser, command: Command, { io, done }: Use): void {
  const own = parser.command(command.name, { hidden: command.hidden === true });
  own.summary(command.summary).description(textOf(command));
  for (const operand of command.operands ?? []) own.argument(operand);
  for (const option of optionsFor(command)) own.addOption(parserOption(option));
  if (command.verbatim) own.allowUnknownOption().passThroughOptions().helpOption(false);
  own.addHelpText('after', helpAfter(command, io.program));
  own.action(async () => done(await ran(command, callOf(io, own.args, optionsOf(own.opts())))));
}

function helpAfter(command: Command, program: string): string {
  const codes = Object.entries(exitsOf(command)).map(([code, meaning]) => `  ${code.padEnd(3)}  ${meaning}`);
  const examples = (command.examples ?? []).map((line) => `  ${program} ${line}`);
  return ['', 'Exit codes:', ...codes, ...(examples.length === 0 ? [] : ['', 'Examples:', ...examples])].join('\n');
}

/** Some commands return 1 as a result. A script must not mistake an outage for that result. */
async function ran(command: Command, call: Call): Promise<number> {
  try {
    return await untilInterrupted(command, call);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== exits.notDone) throw error;
    throw new Problem(error.message, command.notDone);
  }
}

/** A command that follows a Transaction, or writes, has this time to report the state. In ms. */
const moment = 2_000;

/** After Ctrl-C the command waits for no open request. */
async function untilInterrupted(command: Command, call: Call): Promise<number> {
  const { io, options } = call;
  const running = command.run(call);
  const isOver = new AbortController();
  const hasMoment = command.writes === true || options.flag('wait') || options.flag('watch');
  const cut = unlessAborted(new Promise<never>(() => undefined), io.interrupted).then(() =>
    sleep(hasMoment ? moment : 0, undefined, { signal: isOver.signal }),
  );
  try {
    const code = await Promise.race([running, cut]);
    if (code !== undefined) return code;
    throw new Problem(
      command.writes ? `Interrupted: run ${io.program} list to see what exists.` : 'Interrupted.',
      exits.interrupted,
    );
  } finally {
    cut.catch(() => undefined);
    isOver.abort();
  }
}

function textOf({ summary, description }: Command): string {
  const first = `${summary[0]?.toUpperCase()}${summary.slice(1)}.`;
  return description === undefined ? first : `${first}\n\n${description}`;
}

function parserOption({ flags, description, repeats, choices }: Option): ParserOption {
  const option = new ParserOption(flags, description);
  if (choices !== undefined) option.choices([...choices]);
  if (repeats) option.argParser((value: string, before: readonly string[] | undefined) => [...(before ?? []), value]);
  return option;
}

function callOf(io: Io, operands: readonly string[], options: Options): Call {
  let session: Promise<Session> | undefined;
  return {
    io,
    operands,
    options,
    commands,
    connect: () => {
      session ??= import('../cluster/session.ts').then(({ openSession }) => openSession(placeOf(options), io.env));
      return session;
    },
  };
}

function placeOf(options: Options) {
  const names = ['namespace', 'context', 'kubeconfig', 'requestTimeout'] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = options.text(name);
      // An empty value counts as missing, as for kubectl: the variable of a script may be unset.
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
}
