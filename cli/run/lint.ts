import { clean } from '../../hooks/objects/words.ts';
import { lint } from '../../hooks/transactions/inspect.ts';
import type { Call } from '../command/command.ts';
import { placedTransactions } from '../input/places.ts';
import { readSources } from '../input/read.ts';
import { sayAll } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { documentOf } from '../show/document.ts';
import { saidAsData, sourcesOf } from './given.ts';

const withFindings = 2;

export async function run(call: Call): Promise<number> {
  const { io, options } = call;
  const placed = (await readSources(sourcesOf(options), io)).flatMap(placedTransactions);
  if (placed.length === 0) throw new Problem('There is no Transaction in these files: name files that hold one.');
  const findings = placed.flatMap(({ object, placeOf }) =>
    lint(object).map((found) => ({ place: placeOf(found.index), ...found })),
  );
  if (!saidAsData(call, () => documentOf('Lint', { findings })))
    sayAll(
      io,
      findings.map(({ place, reason, message }) => clean(`${place}: ${reason}: ${message}`)),
    );
  return findings.length === 0 ? exits.done : withFindings;
}
