// `node scripts/release/base.ts`: if the base of the Dockerfile is not pinned by digest, it prints one sentence, with exit code 1. The
// workflow runs it before the build, because a tag can move to another image, and a digest cannot.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Why no release may be built from the Dockerfile; undefined if one may. */
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
