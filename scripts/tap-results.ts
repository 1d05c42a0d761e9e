// Reads TAP output and counts tests. A test is a `t.test` block without such blocks inside, or a file without any; assertions do
// not count. A block or file that fails by itself (an assertion of its own, a crash, a hang) while all its tests passed counts as
// one more failed test.
import { type Point, type Token, tokens } from './tap-lines.ts';

export interface Results {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Each failure as text: the path to the test, then what tap says about it. */
  readonly failures: readonly string[];
}

export interface FileResults extends Results {
  readonly file: string;
  /** How long it took; 0 if tap does not say so. */
  readonly seconds: number;
}

interface Block {
  readonly name: string;
  readonly inside: Results[];
  /** Failed assertions of the block itself. */
  readonly complaints: Point[];
}

export const noResults: Results = { passed: 0, failed: 0, skipped: 0, failures: [] };

export function sum(left: Results, right: Results): Results {
  return {
    passed: left.passed + right.passed,
    failed: left.failed + right.failed,
    skipped: left.skipped + right.skipped,
    failures: [...left.failures, ...right.failures],
  };
}

/** Reads the lines of a run of several files; calls `onFile` when the lines of one file are complete. */
export function fileByFile(onFile: (results: FileResults) => void): (line: string) => void {
  let lines: string[] = [];
  return (line) => {
    if (line.startsWith('# Subtest: ')) lines = [];
    lines.push(line);
    // tap ends the lines of a file with an empty one; empty lines inside are indented.
    if (line !== '') return;
    for (const results of readFiles(lines)) onFile(results);
    lines = [];
  };
}

function readFiles(lines: readonly string[]): readonly FileResults[] {
  const open: Block[] = [newBlock('')];
  const files: FileResults[] = [];
  for (const token of tokens(lines)) {
    const closed = read(token, open);
    if (closed === undefined) continue;
    if (token.depth === 0) files.push({ ...closed, file: token.name, seconds: secondsOf(token) });
    else open[token.depth]?.inside.push(closed);
  }
  return files;
}

function secondsOf(token: Token): number {
  const [, ms] = /^time=([\d.]+)ms/.exec(token.kind === 'subtest' ? '' : token.directive) ?? [];
  return Number(ms ?? 0) / 1000;
}

/**
 * `open`: the open blocks, down to the innermost. Opens or closes one, or records an assertion; returns the results of a closed
 * block.
 */
function read(token: Token, open: Block[]): Results | undefined {
  if (token.kind === 'subtest') {
    open.splice(token.depth + 1, open.length, newBlock(token.name));
    return undefined;
  }
  const block = open[token.depth + 1];
  // In TAP 14 the first point after a block, one level up, closes the block.
  if (block !== undefined) {
    const path = open.slice(1, token.depth + 2).map(({ name }) => name);
    open.splice(token.depth + 1);
    return resultsOf(block, token, path);
  }
  // A skipped block is never opened.
  if (isSkipped(token)) return { ...noResults, skipped: 1 };
  if (!token.ok) open[token.depth]?.complaints.push(token);
  return undefined;
}

function isSkipped({ directive }: Point): boolean {
  return /^(SKIP|TODO)/i.test(directive);
}

function newBlock(name: string): Block {
  return { name, inside: [], complaints: [] };
}

function resultsOf(block: Block, end: Point, path: readonly string[]): Results {
  const inside = block.inside.reduce(sum, noResults);
  if (isSkipped(end)) return sum(inside, { ...noResults, skipped: 1 });
  if (end.ok) return block.inside.length === 0 ? { ...noResults, passed: 1 } : inside;
  if (inside.failed > 0 && block.complaints.length === 0) return inside;
  const told = block.complaints.length > 0 ? block.complaints : [end];
  const failure = [path.join(' > '), ...told.flatMap((point) => point.lines.map((line) => `  ${line}`))].join('\n');
  return sum(inside, { ...noResults, failed: 1, failures: [failure] });
}
