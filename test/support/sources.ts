// The sources of the project as data: their code and their imports. The scanner separates code from comments, strings and regular
// expressions, so that text never breaks a rule.
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export interface Source {
  /** From the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

const root = join(import.meta.dirname, '..', '..');

/** Every TypeScript source under these folders. */
export function readSources(...folders: readonly string[]): readonly Source[] {
  const paths = folders.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root, exclude: ['**/node_modules'] })).sort();
  return paths.map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(join(root, path), 'utf8') }));
}

type Kind = 'code' | 'comment' | 'text' | 'regex';

interface Token {
  readonly kind: Kind;
  readonly text: string;
}

interface Scanner {
  position: number;
  /** What each open brace belongs to. */
  readonly braces: ('block' | 'template')[];
  readonly tokens: Token[];
}

const forms = {
  comment: /\/\/[^\n]*|\/\*[\s\S]*?\*\//y,
  text: /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/y,
  template: /`(?:\\[\s\S]|[^`\\$]|\$(?!\{))*(?:`|\$\{)/y,
  templateAgain: /\}(?:\\[\s\S]|[^`\\$]|\$(?!\{))*(?:`|\$\{)/y,
  regex: /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y,
} as const;

const scanned = new WeakMap<Source, readonly Token[]>();

function tokensOf(source: Source): readonly Token[] {
  const tokens = scanned.get(source) ?? scan(source.text);
  scanned.set(source, tokens);
  return tokens;
}

function scan(text: string): readonly Token[] {
  const scanner: Scanner = { position: 0, braces: [], tokens: [] };
  while (scanner.position < text.length) {
    const token = special(text, scanner) ?? { kind: 'code', text: text[scanner.position] ?? '' };
    scanner.position += token.text.length;
    trackBraces(scanner, token);
    push(scanner.tokens, token);
  }
  return scanner.tokens;
}

function special(text: string, scanner: Scanner): Token | undefined {
  const found = (form: keyof typeof forms): string | undefined => {
    forms[form].lastIndex = scanner.position;
    return forms[form].exec(text)?.[0];
  };
  const as = (kind: Kind, match: string | undefined): Token | undefined =>
    match === undefined ? undefined : { kind, text: match };
  const inTemplate = scanner.braces.at(-1) === 'template';
  return (
    as('comment', found('comment')) ??
    as('text', found('text')) ??
    as('text', found('template')) ??
    (inTemplate ? as('text', found('templateAgain')) : undefined) ??
    (mayStartRegex(scanner.tokens) ? as('regex', found('regex')) : undefined)
  );
}

function mayStartRegex(tokens: readonly Token[]): boolean {
  const before = tokens.findLast(({ kind, text }) => kind !== 'comment' && text.trim() !== '');
  return before?.kind === 'code' && /([(,=:[!&|?{};]|=>|\breturn)\s*$/.test(before.text);
}

function trackBraces({ braces }: Scanner, { kind, text }: Token): void {
  if (kind === 'text' && text.startsWith('}')) braces.pop();
  if (kind === 'text' && text.endsWith('${')) braces.push('template');
  if (kind === 'code' && text === '{') braces.push('block');
  if (kind === 'code' && text === '}') braces.pop();
}

function push(tokens: Token[], token: Token): void {
  const last = tokens.at(-1);
  if (last?.kind === 'code' && token.kind === 'code') tokens[tokens.length - 1] = { kind: 'code', text: last.text + token.text };
  else tokens.push(token);
}

/** The code alone: without comments, and with empty strings and regular expressions. */
export function codeOf(source: Source): string {
  const blank: Readonly<Record<Kind, string>> = { code: '', comment: ' ', text: "''", regex: '/x/' };
  return tokensOf(source)
    .map(({ kind, text }) => (kind === 'code' ? text : blank[kind]))
    .join('');
}

interface Import {
  /** The file, from the root of the repository, or the name of a package. */
  readonly target: string;
  readonly isPackage: boolean;
}

/** The imports of a source: values and types, static and dynamic. */
export function importsOf(source: Source): readonly Import[] {
  const tokens = tokensOf(source).filter(({ kind }) => kind !== 'comment');
  return tokens.flatMap(({ kind, text }, index) => {
    const before = tokens[index - 1];
    if (kind !== 'text' || before?.kind !== 'code' || !/(^|[^.])\b(from\s*|import\s*\(?\s*)$/.test(before.text)) return [];
    const name = text.slice(1, -1);
    const isPackage = !name.startsWith('.');
    return [{ target: isPackage ? name : posix.join(posix.dirname(source.path), name), isPackage }];
  });
}
