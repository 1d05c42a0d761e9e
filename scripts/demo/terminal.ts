// Prints the demo. Uses colours only if the terminal supports them (honours NO_COLOR and FORCE_COLOR).
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

const width = 78;

function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

export function print(text = ''): void {
  process.stdout.write(`${text}\n`);
}

export function heading(text: string): void {
  print();
  print(styled('bold', text));
  print(styled('dim', '-'.repeat(text.length)));
}

/** Prints an explanation for new users, wrapped. */
export function explain(text: string): void {
  for (const line of wrapped(text, width)) print(line);
}

function wrapped(text: string, most: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > most) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Prints a command or a file unchanged. */
export function literal(text: string): void {
  for (const line of text.trimEnd().split('\n')) print(`    ${styled('cyan', line)}`);
}

/** Prints the present work of the demo while it prints nothing else. */
export function progress(text: string): void {
  print(styled('dim', `  ${text}`));
}

/** Columns are as wide as their widest cell. If `marked`, a row whose last two cells differ gets a mark. */
export function table(header: readonly string[], rows: readonly (readonly string[])[], marked = false): void {
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('   ')}`;
  print(styled('dim', line(header).trimEnd()));
  for (const row of rows) {
    const changed = marked && row.at(-1) !== row.at(-2);
    print(changed ? styled('bold', `${line(row)}   <- changed`) : line(row).trimEnd());
  }
}

export function verdict(what: string, holds: boolean, found: string): void {
  print(`  ${styled(holds ? 'green' : 'red', holds ? 'ok    ' : 'FAILED')}  ${what}`);
  if (!holds) for (const line of found.split('\n')) print(`          ${line}`);
}
