// `npm run pack:binary [-- FOLDER]`: makes the command line for this machine as one program that needs no Node, and its archive. It prints
// their sizes, and how long a start takes.
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { makeBinary } from './pack-cli/binary.ts';

const folder = resolve(process.argv[2] ?? 'dist');
mkdirSync(folder, { recursive: true });
const { program, archive } = await makeBinary(folder);
for (const path of [program, archive]) console.log(`${path} ${statSync(path).size} bytes`);
console.log(`${program} --version takes ${startTime()} ms`);

/** The median of five starts. */
function startTime(): number {
  const times = Array.from({ length: 5 }, () => {
    const begun = performance.now();
    execFileSync(program, ['--version']);
    return Math.round(performance.now() - begun);
  });
  return times.toSorted((a, b) => a - b)[2] ?? 0;
}
