// Reads TAP output and counts tests. A test is a `t.test` block without such blocks inside, or a file without any; assertions do
// not count. A block or file that fails by itself (an assertion of its own, a crash, a hang) while all its tests passed counts as
// one more failed test.
import { Parser, type Result } from 'tap-parser';
import { stringify } from 'yaml';

export interface Results {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Each failure as text: the path to the test, then the report of tap. */
  readonly failures: readonly string[];
}

export interface FileResults extends Results {
  readonly file: string;
  /** The duration; 0 if tap does not report it. */
  readonly seconds: number;
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

/** Reads the output of a run of several files while it arrives. `onFile` gets the results of each file. The caller ends the parser. */
export function fileByFile(onFile: (results: FileResults) => void): Parser {
  return listen(new Parser(), [], (name, results, end) => onFile({ ...results, file: name, seconds: (end.time ?? 0) / 1000 }));
}

/** The failures in the tests of one file, by its output. It does not list a failure outside of tests (a crash, an early end). */
export function failuresIn(file: string, output: string): readonly string[] {
  const failures: string[] = [];
  const parser = listen(new Parser(), [file], (_, results) => failures.push(...results.failures));
  parser.end(output);
  return failures;
}

/** The results of a block are known once its closing point, one level up, is read. */
type OnBlock = (name: string, results: Results, end: Result) => void;

/** `path`: the names of the blocks around. */
function listen(parser: Parser, path: readonly string[], onBlock: OnBlock, onOwn?: (point: Result) => void): Parser {
  let open: Block | undefined;
  parser.on('child', (child: Parser) => {
    const block: Block = { name: child.name, inside: [], complaints: [] };
    open = block;
    const at = [...path, block.name];
    listen(
      child,
      at,
      (_, results) => block.inside.push(results),
      (point) => block.complaints.push(point),
    );
  });
  parser.on('assert', (point: Result) => {
    const closed = point.closingTestPoint ? open : undefined;
    if (closed !== undefined) onBlock(closed.name, resultsOf(closed, point, [...path, closed.name]), point);
    // A skipped block is never opened.
    else if (isSkipped(point)) onBlock(point.name, { ...noResults, skipped: 1 }, point);
    else if (!point.ok) onOwn?.(point);
  });
  return parser;
}

interface Block {
  readonly name: string;
  readonly inside: Results[];
  /** Failed assertions of the block itself. */
  readonly complaints: Result[];
}

function isSkipped({ skip, todo }: Result): boolean {
  return skip !== false || todo !== false;
}

function resultsOf(block: Block, end: Result, path: readonly string[]): Results {
  const inside = block.inside.reduce(sum, noResults);
  if (isSkipped(end)) return sum(inside, { ...noResults, skipped: 1 });
  if (end.ok) return block.inside.length === 0 ? { ...noResults, passed: 1 } : inside;
  if (inside.failed > 0 && block.complaints.length === 0) return inside;
  const points = block.complaints.length > 0 ? block.complaints : [end];
  const failure = [path.join(' > '), ...points.flatMap(linesOf).map((line) => `  ${line}`)].join('\n');
  return sum(inside, { ...noResults, failed: 1, failures: [failure] });
}

function linesOf({ id, name, diag }: Result): readonly string[] {
  const details = diag === null ? [] : stringify(diag).trimEnd().split('\n');
  return [`not ok ${id} - ${name}`, ...details];
}
