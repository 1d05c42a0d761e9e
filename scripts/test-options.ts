// The command line of `npm test`: which files, on which Kubernetes, and what goes to tap.
import { parseArgs } from 'node:util';
import { existingClusterFlag } from '../test/controlplane/existing.ts';
import { patchOf } from '../test/controlplane/versions.ts';

export interface TestOptions {
  /** Files and folders; none for all of test/. */
  readonly named: readonly string[];
  readonly tap: readonly string[];
  /** A minor version other than the pinned one: then only what uses the API server is run. */
  readonly kubernetes?: string;
  /** A file to write the results into, as JSON. */
  readonly results?: string;
}

const options = { kubernetes: { type: 'string' }, results: { type: 'string' } } as const;

/** Throws a sentence where an option has no value, or one that is not known. */
export function readTestOptions(args: readonly string[]): TestOptions {
  const { values, positionals, tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const { kubernetes, results } = values;
  if (kubernetes !== undefined) patchOf(String(kubernetes));
  if (results === true) throw new Error('--results: expected the name of a file, found none.');
  const others = tokens.flatMap((token) => (token.kind === 'option' && !Object.hasOwn(options, token.name) ? [token] : []));
  return {
    named: positionals,
    tap: others
      .map(({ rawName, inlineValue, value }) => (inlineValue ? `${rawName}=${value}` : rawName))
      .filter((arg) => arg !== existingClusterFlag),
    ...(typeof kubernetes === 'string' ? { kubernetes } : {}),
    ...(typeof results === 'string' ? { results } : {}),
  };
}
