import { clean } from '../../hooks/objects/words.ts';
import { lint } from '../../hooks/transactions/inspect.ts';
import type { Call } from '../command/command.ts';
import { placedTransactions } from '../input/places.ts';
import { readSources } from '../input/read.ts';
import { sayAll } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { sourcesOf } from './given.ts';

const withFindings = 2;

export async function run({ io, options }: Call): Promise<number> {
  const placed = (await readSources(sourcesOf(options), io)).flatMap(placedTransactions);
  if (placed.length === 0) throw new Problem('There is no Transaction in these files: name files that hold one.');
  const lines = placed.flatMap(({ object, placeOf }) =>
    lint(object).map(({ index, reason, message }) => clean(`${placeOf(index)}: ${reason}: ${message}`)),
  );
  sayAll(io, lines);
  return lines.length === 0 ? exits.done : withFindings;
}
