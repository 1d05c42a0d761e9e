// `node scripts/release/base.ts`: refuses a Dockerfile whose base is not pinned by digest, in one sentence, with exit code 1. The workflow asks
// before it builds: a tag can be moved to another image, a digest cannot.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Why a release may not be built from it; undefined if it may. */
export function refusalOf(dockerfile: string): string | undefined {
  const bases = new Set([...dockerfile.matchAll(/^FROM (\S+:\S+)/gm)].map(([, base = '']) => base));
  const [base = 'no image', ...others] = bases;
  if (others.length > 0) return `Dockerfile: expected one base in all FROM lines, found ${[...bases].join(', ')}.`;
  if (/@sha256:[0-9a-f]{64}$/.test(base)) return undefined;
  return (
    `Dockerfile: expected a base pinned by digest, ${base}@sha256:…, found ${base}: ` +
    `look it up by docker buildx imagetools inspect ${base}, and write it in each FROM line.`
  );
}

if (import.meta.main) {
  const refusal = refusalOf(readFileSync(join(root, 'Dockerfile'), 'utf8'));
  if (refusal !== undefined) {
    process.stderr.write(`${refusal}\n`);
    process.exitCode = 1;
  }
}
