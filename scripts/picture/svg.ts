// A screen as an SVG: plain text in a monospace font, without scripts, fonts or images from elsewhere. A reader without that font sees the
// same columns, because each piece of text names its place and its width.
import type { Run, TextStyle } from './screen.ts';

const cell = { width: 8.4, height: 20, size: 14 };
const margin = 16;
const background = '#1b1f27';
const foreground = '#d8dee9';
/** Black to white, then the bright ones: each has a contrast of at least 4.5 to the background. */
const colors = [
  ...['#8791a5', '#ff7b72', '#7ee787', '#e3b341', '#79b8ff', '#d2a8ff', '#76e3ea', '#d8dee9'],
  ...['#98a2b5', '#ffa198', '#9bf0a2', '#f2cc60', '#a5d6ff', '#e2c5ff', '#a5f0f5', '#ffffff'],
];
const faint = '#98a2b5';

/** `title` is for readers who cannot see the picture. */
export function svgOf(lines: readonly (readonly Run[])[], title: string): string {
  const columns = Math.max(1, ...lines.flat().map(({ column, text }) => column + lengthOf(text)));
  const [width, height] = [round(columns * cell.width + 2 * margin), lines.length * cell.height + 2 * margin];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${background}"/>`,
    `<g font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${cell.size}" xml:space="preserve">`,
    ...lines.flatMap((runs, row) => runs.filter(({ text }) => text.trim() !== '').map((run) => textOf(run, row))),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

function textOf({ column, text, style }: Run, row: number): string {
  const [before] = /^ */.exec(text) ?? [''];
  const shown = text.trim();
  const x = round(margin + (column + before.length) * cell.width);
  const y = margin + row * cell.height + cell.size;
  const weight = style.bold ? ' font-weight="bold"' : '';
  const length = round(lengthOf(shown) * cell.width);
  return `<text x="${x}" y="${y}" textLength="${length}" fill="${fillOf(style)}"${weight}>${escaped(shown)}</text>`;
}

function fillOf({ color, dim }: TextStyle): string {
  if (color !== undefined) return colors[color] ?? foreground;
  return dim ? faint : foreground;
}

function lengthOf(text: string): number {
  return [...text].length;
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
