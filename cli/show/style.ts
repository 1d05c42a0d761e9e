// The style of lines: colours, signs, width. Each command chooses its style once (styleFor); pure functions apply it.
import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

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

/** At most `width` characters of a line without colours. */
export function cutTo(width: number, text: string, { unicode }: Style): string {
  if (text.length <= width) return text;
  const mark = unicode ? '…' : '~';
  return `${text.slice(0, Math.max(0, width - 1))}${mark}`;
}

export const phaseFormats: Readonly<Record<string, Format>> = {
  Committed: 'green',
  RolledBack: 'yellow',
  RollingBack: 'yellow',
  Failed: 'red',
};
