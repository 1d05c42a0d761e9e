// The lines that a terminal shows after it has received a recorded text. Programs redraw their screen by moving the cursor and by erasing, so
// a recording is not a list of lines. Only what `npm run demo` sends is understood; every other sequence is left out.

/** Text in one style. Its place is the column at which it begins. */
export interface Run {
  readonly column: number;
  readonly text: string;
  readonly style: TextStyle;
}

export interface TextStyle {
  /** 0 to 7, and 8 to 15 for the bright ones; undefined for the default. */
  readonly color?: number;
  readonly bold?: boolean;
  readonly dim?: boolean;
}

interface Cell {
  readonly text: string;
  readonly style: TextStyle;
}

interface Terminal {
  readonly lines: Cell[][];
  row: number;
  column: number;
  style: TextStyle;
}

/** A control sequence with its parameters and its final character, a string for the terminal (a title), or another escape. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a recording of a terminal has them.
const sequence = /\u001b\[([\d;?]*)[ -/]*([@-~])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[ -~]?/y;

/** The last screen. Lines have no blanks at their ends, and the screen has no empty lines at its end. */
export function screenOf(recording: string): readonly (readonly Run[])[] {
  const terminal: Terminal = { lines: [], row: 0, column: 0, style: {} };
  for (let at = 0; at < recording.length; ) {
    sequence.lastIndex = at;
    const found = sequence.exec(recording);
    const text = found?.[0] ?? String.fromCodePoint(recording.codePointAt(at) ?? 0);
    at += text.length;
    if (found === null) receive(terminal, text);
    else control(terminal, found[2], (found[1] ?? '').split(';').map(Number));
  }
  const lines = Array.from(terminal.lines, (line = []) => runsOf(line));
  return lines.slice(0, lines.findLastIndex((line) => line.length > 0) + 1);
}

function receive(terminal: Terminal, text: string): void {
  if (text === '\n') {
    terminal.row += 1;
    terminal.column = 0;
  } else if (text === '\r') terminal.column = 0;
  else if (text === '\b') terminal.column = Math.max(0, terminal.column - 1);
  // XML allows no other control characters.
  else if (!/\p{Cc}/u.test(text)) {
    lineOf(terminal)[terminal.column] = { text, style: terminal.style };
    terminal.column += 1;
  }
}

function lineOf(terminal: Terminal): Cell[] {
  terminal.lines[terminal.row] ??= [];
  return terminal.lines[terminal.row] ?? [];
}

type Control = (terminal: Terminal, count: number) => void;

const controls: Readonly<Record<string, Control>> = {
  A: (terminal, count) => (terminal.row = Math.max(0, terminal.row - (count || 1))),
  B: (terminal, count) => (terminal.row += count || 1),
  C: (terminal, count) => (terminal.column += count || 1),
  D: (terminal, count) => (terminal.column = Math.max(0, terminal.column - (count || 1))),
  G: (terminal, count) => (terminal.column = Math.max(0, (count || 1) - 1)),
  K: (terminal, count) => {
    terminal.lines[terminal.row] = count === 2 ? [] : lineOf(terminal).slice(0, terminal.column);
  },
  J: (terminal, count) => {
    terminal.lines[terminal.row] = count === 2 ? [] : lineOf(terminal).slice(0, terminal.column);
    terminal.lines.length = terminal.row + 1;
  },
};

function control(terminal: Terminal, final: string | undefined, parameters: readonly number[]): void {
  if (final === 'm') terminal.style = parameters.reduce(styled, terminal.style);
  else controls[final ?? '']?.(terminal, parameters[0] ?? 0);
}

const changes: Readonly<Record<number, (style: TextStyle) => TextStyle>> = {
  0: () => ({}),
  1: (style) => ({ ...style, bold: true }),
  2: (style) => ({ ...style, dim: true }),
  22: ({ color }) => (color === undefined ? {} : { color }),
  39: ({ color: _default, ...style }) => style,
};

/** The style after one parameter of "select graphic rendition". */
function styled(style: TextStyle, parameter: number): TextStyle {
  if (parameter >= 30 && parameter <= 37) return { ...style, color: parameter - 30 };
  if (parameter >= 90 && parameter <= 97) return { ...style, color: parameter - 82 };
  return changes[parameter]?.(style) ?? style;
}

const blank: Cell = { text: ' ', style: {} };

function runsOf(line: readonly (Cell | undefined)[]): readonly Run[] {
  const cells = Array.from(line, (cell) => cell ?? blank);
  const runs: Run[] = [];
  cells.slice(0, cells.findLastIndex(({ text }) => text !== ' ') + 1).forEach(({ text, style }, column) => {
    const last = runs.at(-1);
    if (last !== undefined && JSON.stringify(last.style) === JSON.stringify(style))
      runs[runs.length - 1] = { ...last, text: last.text + text };
    else runs.push({ column, text, style });
  });
  return runs;
}
