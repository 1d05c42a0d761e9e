// Completes a command line with commands, options, values of options, and names from the cluster. If the cluster does not answer,
// there are no names, and no message: a message would interrupt the line that the user types.
import { contextsIn } from '../cluster/kubeconfig.ts';
import { openSession } from '../cluster/session.ts';
import { listNames } from '../cluster/transactions.ts';
import { type Call, type Completes, type Option, optionsFor } from '../command/command.ts';
import { asKubectl, namesOf } from '../command/words.ts';
import { type Io, sayAll } from '../io.ts';
import { exits } from '../problem.ts';

interface Found {
  readonly words: readonly string[];
  readonly files?: true;
}

export async function run(call: Call): Promise<number> {
  const { io, operands } = call;
  const before = asKubectl(operands.slice(0, -1), call.commands);
  const begun = operands.at(-1) ?? '';
  const { words, files } = await candidates(call, before, begun);
  const fitting = words.filter((word) => word.startsWith(begun));
  sayAll(io, [...fitting, files === undefined ? ':4' : ':0']);
  return exits.done;
}

async function candidates({ io, commands }: Call, before: readonly string[], begun: string): Promise<Found> {
  const command = commands.find(({ name }) => name === before[0]);
  if (before.length === 0)
    return { words: commands.filter(({ hidden }) => !hidden).map(({ name, summary }) => `${name}\t${summary}`) };
  if (command === undefined) return { words: [] };
  const open = optionsFor(command).find((option) => namesOf(option).includes(before.at(-1) ?? '') && takesValue(option));
  if (open !== undefined) return valuesOf(io, open, before);
  if (begun.startsWith('-')) return { words: optionsFor(command).map(describe) };
  return fromCluster(io, command.completes, before);
}

function takesValue({ flags }: Option): boolean {
  return flags.includes('<');
}

function describe(option: Option): string {
  return `${namesOf(option).at(-1)}\t${option.description}`;
}

function valuesOf(io: Io, { choices, completes }: Option, before: readonly string[]): Promise<Found> | Found {
  return choices === undefined ? fromCluster(io, completes, before) : { words: choices };
}

/** Users do not wait longer for a completion. */
const patience = '3s';

async function fromCluster(io: Io, completes: Completes | undefined, before: readonly string[]): Promise<Found> {
  if (completes === undefined) return { words: [] };
  if (completes === 'files') return { words: [], files: true };
  const place = placeIn(before);
  try {
    if (completes === 'contexts') return { words: contextsIn(place, io.env) };
    return { words: await listNames(openSession({ ...place, requestTimeout: patience }, io.env), completes) };
  } catch {
    return { words: [] };
  }
}

function placeIn(before: readonly string[]) {
  // `--namespace shop`, or `--namespace=shop`.
  const after = (...names: readonly string[]): string | undefined =>
    before
      .flatMap((word, index) => {
        const [name = '', ...value] = word.split('=');
        if (!names.includes(name)) return [];
        return [word === name ? (before[index + 1] ?? '') : value.join('=')];
      })
      .at(-1);
  const place = { namespace: after('-n', '--namespace'), context: after('--context'), kubeconfig: after('--kubeconfig') };
  return Object.fromEntries(Object.entries(place).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
