// The lines of TAP output that matter, as values: the start of a block, and test points with their YAML block. Depth is the
// indentation in steps of four. Everything else that tests print is skipped.

export interface Point {
  readonly kind: 'point';
  readonly depth: number;
  readonly name: string;
  readonly ok: boolean;
  /** `SKIP why`, `TODO why`, `time=…` or nothing. */
  readonly directive: string;
  /** The line itself, then its YAML block. */
  readonly lines: readonly string[];
}

export type Token = Point | { readonly kind: 'subtest'; readonly depth: number; readonly name: string };

const subtest = /^( *)# Subtest: (.*)$/;
const point = /^( *)(not )?ok \d+(?: - (.*?))?(?: # (time=.*|(?:SKIP|TODO)\b.*))?$/i;

export function tokens(lines: readonly string[]): readonly Token[] {
  const found: Token[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const token = subtestAt(lines, index) ?? pointAt(lines, index);
    if (token === undefined) continue;
    found.push(token);
    index += yamlLength(token);
  }
  return found;
}

function subtestAt(lines: readonly string[], index: number): Token | undefined {
  const [, indent = '', name] = subtest.exec(lines[index] ?? '') ?? [];
  return name === undefined ? undefined : { kind: 'subtest', depth: indent.length / 4, name };
}

function pointAt(lines: readonly string[], index: number): Point | undefined {
  const [line, indent = '', not, name = '', directive = ''] = point.exec(lines[index] ?? '') ?? [];
  if (line === undefined) return undefined;
  const depth = indent.length / 4;
  const told = [line.trim(), ...yamlAt(lines, index + 1, depth)];
  return { kind: 'point', depth, name, ok: not === undefined, directive, lines: told };
}

/** The number of lines of a point's YAML block, including the two that enclose it. */
function yamlLength(token: Token): number {
  return token.kind === 'point' && token.lines.length > 1 ? token.lines.length + 1 : 0;
}

function yamlAt(lines: readonly string[], start: number, depth: number): readonly string[] {
  const indent = ' '.repeat(depth * 4 + 2);
  if (lines[start] !== `${indent}---`) return [];
  const end = lines.indexOf(`${indent}...`, start);
  return lines.slice(start + 1, end === -1 ? lines.length : end).map((line) => line.slice(indent.length));
}
