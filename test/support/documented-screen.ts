// The screen that docs/cli.md shows.
import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../../docs/cli.md', import.meta.url);
const place = /(<!-- screen -->\n```\n)([\s\S]*?)(```\n<!-- end -->)/;

export function documentedScreen(): readonly string[] {
  const [, , text = ''] = place.exec(readFileSync(file, 'utf8')) ?? [];
  return text.trimEnd().split('\n');
}

export function writeDocumentedScreen(lines: readonly string[]): void {
  const text = readFileSync(file, 'utf8').replace(
    place,
    (_all, begin: string, _old: string, end: string) => `${begin}${lines.join('\n')}\n${end}`,
  );
  writeFileSync(file, text);
}
