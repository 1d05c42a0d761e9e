// The style of lines: colours, signs, width. Each command chooses its style once (styleFor); pure functions apply it.
// A width is a number of columns of a terminal: a character takes none, one or two of them.
import { styleText } from 'node:util';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

export type Format = Parameters<typeof styleText>[0];

export interface Style {
  readonly colors: boolean;
  /** Whether the terminal shows more than ASCII. */
  readonly unicode: boolean;
}

/** The text in that colour, or without a colour if the style has none. */
export function paint(style: Style, format: Format, text: string): string {
  return style.colors ? styleText(format, text, { validateStream: false }) : text;
}

interface Surroundings {
  /** Whether the lines go to a terminal. */
  readonly isTerminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `auto`, `always` or `never`. */
  readonly color: string | undefined;
}

/** NO_COLOR: https://no-color.org. Every value except the empty one counts. */
export function styleFor({ isTerminal, env, color = 'auto' }: Surroundings): Style {
  const wanted = isTerminal && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
  return { colors: color === 'always' || (color === 'auto' && wanted), unicode: speaksUtf8(env) };
}

function speaksUtf8(env: Surroundings['env']): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return /utf-?8/i.test(locale) || env.WT_SESSION !== undefined;
}

export const widthOf = (text: string): number => stringWidth(text);

const characters = new Intl.Segmenter();

/** At most `width` columns of a line without colours. */
export function cutTo(width: number, text: string, { unicode }: Style): string {
  if (!Number.isFinite(width) || widthOf(text) <= width) return text;
  let [kept, used] = ['', 1];
  for (const { segment } of characters.segment(text)) {
    used += widthOf(segment);
    if (used > width) break;
    kept += segment;
  }
  return width < 1 ? '' : `${kept}${unicode ? '…' : '~'}`;
}

export function padTo(width: number, text: string): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** Lines of at most `width` columns with the whole text; a word without room on any line is split. */
export function wrapTo(width: number, text: string): readonly string[] {
  if (!Number.isFinite(width)) return [text];
  return wrapAnsi(text, Math.max(1, width), { hard: true }).split('\n');
}

export const phaseFormats: Readonly<Record<string, Format>> = {
  Committed: 'green',
  RolledBack: 'yellow',
  RollingBack: 'yellow',
  Failed: 'red',
};
