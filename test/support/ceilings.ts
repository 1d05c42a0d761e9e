// How large the project may become: lines of code without comments and blank lines, and words of documents. Each row has the size that was
// reached, rounded up to the next hundred. A change that needs more raises its row in the same commit, and says in a decision record what
// was looked for to remove. What moves from one row to another gains nothing: hooks, server and cli have a row together.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Ceiling {
  readonly name: string;
  readonly folders: readonly string[];
  readonly of: 'lines' | 'words';
  readonly without?: string;
  readonly most: number;
}

function lines(most: number, ...folders: readonly string[]): Ceiling {
  return { name: folders.join(', '), folders, of: 'lines', most };
}

export const ceilings: readonly Ceiling[] = [
  lines(20_100, 'hooks/transactions'),
  lines(9_500, 'hooks/crossplane'),
  lines(2_900, 'hooks/objects'),
  lines(6_900, 'server'),
  lines(7_700, 'cli'),
  lines(46_800, 'hooks', 'server', 'cli'),
  lines(6_900, 'scripts'),
  lines(88_500, 'test'),
  { name: 'docs without decision records', folders: ['docs'], without: 'docs/decisions/', of: 'words', most: 51_800 },
  { name: 'decision records', folders: ['docs/decisions'], of: 'words', most: 10_900 },
];

const root = join(import.meta.dirname, '../..');
const endings = { lines: '{ts,mjs}', words: 'md' } as const;

export function sizeOf({ folders, of, without }: Ceiling): number {
  const files = folders.flatMap((folder) =>
    globSync(`${folder}/**/*.${endings[of]}`, { cwd: root, exclude: (path) => String(path).includes('node_modules') }),
  );
  const counted = files.filter((path) => without === undefined || !path.startsWith(without));
  return counted.reduce((sum, path) => sum + countOf[of](readFileSync(join(root, path), 'utf8')), 0);
}

const countOf = {
  lines: (text: string): number =>
    text
      .replaceAll(/^ *\/\*[\s\S]*?\*\//gm, '')
      .split('\n')
      .filter((line) => line.trim() !== '' && !line.trimStart().startsWith('//')).length,
  // A bar of a table is no word.
  words: (text: string): number => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length,
} as const;

/** What is wrong with a row; undefined if nothing is. */
export function excessOf(ceiling: Ceiling, size: number): string | undefined {
  const { name, of, most } = ceiling;
  if (size <= most) return undefined;
  return `${name}: expected at most ${most} ${of}, found ${size}. Look for what can go. If nothing can, raise this row of test/support/ceilings.ts in the same commit, and say in a decision record what you looked for.`;
}
