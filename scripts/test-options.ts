// The command line of `npm test`: the files, the version of Kubernetes, and how the files run.
import { parseArgs } from 'node:util';
import { existingClusterFlag } from '../test/controlplane/existing.ts';
import { patchOf } from '../test/controlplane/versions.ts';

interface Shard {
  readonly index: number;
  readonly of: number;
}

export interface TestOptions {
  /** Files and folders; none for all of test/. */
  readonly named: readonly string[];
  /** Files at once. */
  readonly jobs: number;
  /** A minor version other than the pinned one. Then only tests that use the API server run. */
  readonly kubernetes?: string;
  /** Runs all cases, not only those that `npm test` selects (test/support/selection.ts). A named file always runs all its cases. */
  readonly all: boolean;
  /** Only files that hold this text, in any case: a part of the title of a test. */
  readonly grep?: string;
  /** `2/4`: each fourth file, from the second on. */
  readonly shard?: Shard;
  /** A file to write the results into, as JSON. */
  readonly results?: string;
}

const options = {
  kubernetes: { type: 'string' },
  results: { type: 'string' },
  all: { type: 'boolean' },
  shard: { type: 'string' },
  grep: { type: 'string' },
  jobs: { type: 'string' },
  [existingClusterFlag.slice(2)]: { type: 'boolean' },
} as const;

/** The machine of CI has two cores, and half of a test is waiting. */
const usualJobs = 4;

/** Throws a sentence if an option has no value, or an unknown value. */
export function readTestOptions(args: readonly string[]): TestOptions {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const { kubernetes, results, grep } = values;
  const shard = readShard(values.shard);
  const jobs = Number(values.jobs ?? usualJobs);
  if (!(jobs >= 1)) throw new Error(`--jobs: expected a number of files, found "${values.jobs}".`);
  if (kubernetes !== undefined) patchOf(kubernetes);
  return {
    named: positionals,
    all: values.all === true || positionals.length > 0 || kubernetes !== undefined || grep !== undefined,
    ...(grep === undefined ? {} : { grep }),
    ...(shard === undefined ? {} : { shard }),
    jobs,
    ...(kubernetes === undefined ? {} : { kubernetes }),
    ...(results === undefined ? {} : { results }),
  };
}

function readShard(text: string | undefined): Shard | undefined {
  if (text === undefined) return undefined;
  const [, index, of] = /^([1-9]\d?)\/([1-9]\d?)$/.exec(text) ?? [];
  if (Number(index) > Number(of) || of === undefined) throw new Error('--shard: expected a number of a number, such as 2/4.');
  return { index: Number(index), of: Number(of) };
}
