// The documents, the commands in their blocks of shell with the output that a block of text beside them shows, and who types them.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pagesIn } from '../../scripts/site/pages.ts';

export const root = join(import.meta.dirname, '../..');

/** The pages, without the records of decisions, whose commands belong to their time. */
export const documents: readonly string[] = pagesIn(root).paths.filter((path) => !path.startsWith('docs/decisions/'));

export function readDocument(path: string): string {
  return readFileSync(resolve(root, path), 'utf8');
}

interface Command {
  readonly text: string;
  /** Its last line in the document. */
  readonly line: number;
}

export interface Block {
  readonly document: string;
  /** The heading of level 2 above it. */
  readonly section: string;
  readonly commands: readonly Command[];
  /** The output that the page shows below the commands; undefined if it shows no output. */
  readonly output?: string;
  /** Whether the mark `screen` says that the output is that of a terminal. */
  readonly isScreen: boolean;
  /** The exit code of the last command, from the mark `exits`. */
  readonly exits: number;
}

const isShell = /^```(?:sh|bash|shell|console)$/;

/** The blocks of shell in a document, in their order. A mark is a comment in the line above a block. */
export function blocksOf(document: string): readonly Block[] {
  const lines = readDocument(document).split('\n');
  const fences = lines.flatMap((line, index) => (line.startsWith('```') ? [index] : []));
  // Fences come in pairs.
  const begins = fences.filter((at, index) => index % 2 === 0 && isShell.test(lines[at] ?? ''));
  return begins.map((begin) => {
    const end = lines.indexOf('```', begin + 1);
    const section = lines.slice(0, begin).findLast((line) => line.startsWith('## ')) ?? '## ';
    const [, exits = '0'] = /^<!-- exits (\d+) -->$/.exec(lines[begin - 1] ?? '') ?? [];
    const commands = commandsIn(lines, begin + 1, end);
    return { document, section: section.slice(3), commands, exits: Number(exits), ...outputBelow(lines, end) };
  });
}

/** The commands of some lines. A line that ends with a backslash continues. */
function commandsIn(lines: readonly string[], begin: number, end: number): readonly Command[] {
  const commands: Command[] = [];
  let open = '';
  for (const [index, line] of lines.slice(begin, end).entries()) {
    const text = open + (open === '' ? line : line.trim());
    open = text.endsWith('\\') ? text.slice(0, -1) : '';
    if (open === '' && text.trim() !== '') commands.push({ text, line: begin + index + 1 });
  }
  return commands;
}

function outputBelow(lines: readonly string[], end: number): Pick<Block, 'output' | 'isScreen'> {
  const mark = '<!-- screen -->';
  const next = lines.findIndex((line, index) => index > end && line !== '' && line !== mark);
  if (lines[next] !== '```text') return { isScreen: false };
  const output = lines.slice(next + 1, lines.indexOf('```', next + 1)).join('\n');
  return { output, isScreen: lines[next - 1] === mark };
}

/** What differs in each run: times, ages, names of Pods, digests. */
const masks: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME'],
  [/\b\d+\.\d\ds\b/g, 'SECONDS'],
  [/\b\d+:\d\d\b/g, 'CLOCK'],
  [/ +(?:\d+m)?\d+s$/gm, ' AGE'],
  [/\b[0-9a-f]{64}\b/g, 'DIGEST'],
  [/(?<=\bPod [a-z-]+-)[a-z0-9]+-[a-z0-9]{5}\b/g, 'POD'],
];

function masked(text: string): readonly string[] {
  return masks
    .reduce((masked, [pattern, name]) => masked.replaceAll(pattern, name), text)
    .trim()
    .split('\n')
    .map((line) => line.trimEnd());
}

/** Returns the first line of the page that the command did not print; undefined if the command printed all lines. A line `…` stands for any lines. */
export function missingIn(printed: string, shown: string): string | undefined {
  const found = masked(printed);
  let at = 0;
  const parts = masked(shown)
    .join('\n')
    .split(/^…(?:\n|$)/m);
  for (const [index, part] of parts.entries()) {
    const lines = part.split('\n').filter((line, place, all) => line !== '' || place < all.length - 1);
    const [first = ''] = lines;
    const begin = index === 0 ? at : found.indexOf(first, at);
    const wrong = lines.find((line, place) => begin < 0 || found[begin + place] !== line);
    if (wrong !== undefined) return wrong;
    at = begin + lines.length;
  }
  return at >= found.length || parts.at(-1) === '' ? undefined : `nothing more, but ${found[at]}`;
}

/** A screen without the breaks of its sentences: a line that continues one begins with two spaces. */
export function unwrapped(screen: string): string {
  return screen.replaceAll(/\n {2}(?=[^\s\d])/g, ' ');
}

/** Which test types which blocks. A command with a row in docs/commands.md is left out. */
const typing: Readonly<Record<string, (block: Block) => boolean>> = {
  'test/demo.test.ts': ({ document, section }) =>
    document === 'README.md' || (document === 'docs/tutorial.md' && section !== 'Start a cluster'),
  'test/documents/backups.test.ts': ({ document }) => document === 'docs/backups.md',
  'test/documents/how-tos.test.ts': ({ document, section }) =>
    /^docs\/(?:cli|gitops|manifests|notifications|rights|sabotage)\.md$/.test(document) ||
    section === 'Start a cluster' ||
    section === 'The sealing key is lost',
  'test/documents/installs.test.ts': ({ document, section }) =>
    /^docs\/(?:access|releasing)\.md$/.test(document) ||
    (document === 'docs/upgrade.md' && section !== 'With Helm') ||
    /^Janus(?:HookDown|NotCalled|FiguresMissing|HookErrors)$/.test(section),
  'test/documents/packages.test.ts': ({ document, section }) => document === 'docs/packages.md' || /^JanusPackage/.test(section),
  'test/examples/by-hand.test.ts': ({ document }) => document === 'examples/hook/README.md',
  'test/monitoring/runbooks.test.ts': ({ document, section }) =>
    document === 'docs/runbooks.md' &&
    /^(?:|JanusTransaction.*|JanusRollbackConflict|JanusLockHeldTooLong|A Transaction that .*)$/.test(section),
  'test/packages/kinds.test.ts': ({ document }) => document === 'examples/packages/calls/README.md',
  'test/packaging/helm-install.test.ts': ({ document, section }) =>
    document === 'charts/janus/README.md' || (document === 'docs/upgrade.md' && section === 'With Helm'),
  'test/scripts/dev.test.ts': ({ document, section }) => document === 'CONTRIBUTING.md' && section === 'The loop',
  'test/threats/rotation.test.ts': ({ document }) => document === 'docs/sealing.md',
};

/** The rows of docs/commands.md: commands that no test types, by their beginning, each with the reason. */
export const listed = [...readDocument('docs/commands.md').matchAll(/^\| `(\S+)` +\| `([^`]+)` +\| (.+?) +\|$/gm)].map(
  ([, document = '', beginning = '', reason = '']) => ({ document, beginning, reason }),
);

export function isListed(document: string, command: string): boolean {
  return listed.some((row) => row.document === document && command.startsWith(row.beginning));
}

/** The tests that type blocks. */
export const typists = Object.keys(typing);

/** The tests that type a block. */
export function typistsOf(block: Block): readonly string[] {
  return Object.entries(typing).flatMap(([test, types]) => (types(block) ? [test] : []));
}

/** The blocks that a test types, without the commands that no test types. */
export function blocksFor(test: string): readonly Block[] {
  return documents
    .flatMap((document) => blocksOf(document))
    .filter((block) => typistsOf(block).includes(test))
    .map((block) => ({ ...block, commands: block.commands.filter(({ text }) => !isListed(block.document, text)) }))
    .filter(({ commands }) => commands.length > 0);
}
