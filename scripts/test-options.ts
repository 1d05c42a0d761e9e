// The command line of `npm test`: the files, the version of Kubernetes, and the options for tap.
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
  readonly tap: readonly string[];
  /** A minor version other than the pinned one. Then only tests that use the API server run. */
  readonly kubernetes?: string;
  /** Runs all cases, not only those that `npm test` selects (test/support/selection.ts). A named file always runs all its cases. */
  readonly all: boolean;
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
} as const;

/** Throws a sentence if an option has no value, or an unknown value. */
export function readTestOptions(args: readonly string[]): TestOptions {
  const { values, positionals, tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const { kubernetes, results } = values;
  const shard = readShard(values.shard);
  if (kubernetes !== undefined) patchOf(String(kubernetes));
  if (results === true) throw new Error('--results: expected the name of a file, found none.');
  const others = tokens.flatMap((token) => (token.kind === 'option' && !Object.hasOwn(options, token.name) ? [token] : []));
  return {
    named: positionals,
    all: values.all === true || positionals.length > 0 || kubernetes !== undefined,
    ...(shard === undefined ? {} : { shard }),
    tap: others
      .map(({ rawName, inlineValue, value }) => (inlineValue ? `${rawName}=${value}` : rawName))
      .filter((arg) => arg !== existingClusterFlag),
    ...(typeof kubernetes === 'string' ? { kubernetes } : {}),
    ...(typeof results === 'string' ? { results } : {}),
  };
}

function readShard(text: string | boolean | undefined): Shard | undefined {
  if (text === undefined) return undefined;
  const [, index, of] = /^([1-9]\d?)\/([1-9]\d?)$/.exec(String(text)) ?? [];
  if (Number(index) > Number(of) || of === undefined) throw new Error('--shard: expected a number of a number, such as 2/4.');
  return { index: Number(index), of: Number(of) };
}
