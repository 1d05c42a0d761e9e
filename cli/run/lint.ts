import { lint } from '../../hooks/inspect.ts';
import { clean } from '../../hooks/model/words.ts';
import type { Call } from '../command/command.ts';
import { placedTransactions } from '../input/places.ts';
import { readSources } from '../input/read.ts';
import { say } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { sourcesOf } from './given.ts';

const codes = { findings: 2, unreadable: 3 } as const;

export async function run({ io, options }: Call): Promise<number> {
  const sources = await readable(readSources(sourcesOf(options), io));
  const placed = await readable(Promise.resolve().then(() => sources.flatMap(placedTransactions)));
  if (placed.length === 0)
    throw new Problem('There is no Transaction in these files: name files that hold one.', codes.unreadable);
  const lines = placed.flatMap(({ object, placeOf }) =>
    lint(object).map(({ index, reason, message }) => clean(`${placeOf(index)}: ${reason}: ${message}`)),
  );
  say(io, ...lines);
  return lines.length === 0 ? exits.done : codes.findings;
}

async function readable<Value>(value: Promise<Value>): Promise<Value> {
  try {
    return await value;
  } catch (error) {
    if (error instanceof Problem && error.code === exits.notDone) throw new Problem(error.message, codes.unreadable);
    throw error;
  }
}
