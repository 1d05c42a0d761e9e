// Parses tables as text: one row per line, columns between bars, headings on top. An empty cell means nothing.
import { type Json, parseJson } from '../../hooks/objects/json.ts';

/** The rows of a table, each cell by its heading. Every row must have every cell, and no two rows an equal first cell. */
export function table<Heading extends string>(text: string): readonly Readonly<Record<Heading, string>>[] {
  const [headings = [], ...rows] = text
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const first = new Set<string>();
  return rows.map((cells) => {
    const [name = ''] = cells;
    if (cells.length !== headings.length) throw new Error(`row "${name}" has ${cells.length} cells, expected ${headings.length}`);
    if (first.has(name)) throw new Error(`there are two rows "${name}": give each its own reason`);
    first.add(name);
    return Object.fromEntries(headings.map((heading, index) => [heading, cells[index] ?? ''])) as Record<Heading, string>;
  });
}

const word = /"(?:\\.|[^"\\])*"|(?<![\w.])[A-Za-z_][\w-]*/g;
const literals: readonly string[] = ['null', 'true', 'false'];

/** JSON in which words need no quotes; it loses no digit. Undefined for an empty cell. */
export function json(cell: string): Json | undefined {
  if (cell === '') return undefined;
  return parseJson(cell.replaceAll(word, (found) => (found.startsWith('"') || literals.includes(found) ? found : `"${found}"`)));
}

/** The parts between commas. */
export function listed(cell: string): readonly string[] {
  return cell === '' ? [] : cell.split(',').map((part) => part.trim());
}
