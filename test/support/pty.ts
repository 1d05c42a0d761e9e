// A command at a real pseudo-terminal, which `script` of util-linux opens; @xterm/headless shows what a person would see of it.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import headless from '@xterm/headless';
import type { Test } from 'tap';

interface Size {
  readonly columns: number;
  readonly rows: number;
}

interface Started extends Size {
  /** The words of the command. */
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly folder?: string;
}

export interface Pty {
  /** All lines from the first one, without the spaces at their ends; those above the screen too. */
  lines(): readonly string[];
  /** The lines on the screen. */
  screen(): readonly string[];
  /** Whether a character has a colour. */
  hasColors(): boolean;
  type(text: string): void;
  /** The window becomes that wide. Resolves once the program has drawn again. */
  resize(columns: number): Promise<void>;
  /** Resolves once the program has set that title. */
  titled(title: string): Promise<void>;
  /** Resolves with the exit code once everything is shown. */
  readonly finished: Promise<number | null>;
}

const hasScript = /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '');
export const needsScript: { readonly skip: false | string } = { skip: hasScript ? false : 'needs script of util-linux' };

/** log-update ends each of its frames so. */
const endOfFrame = '\u001b[?2026l';

export function openPty(t: Pick<Test, 'teardown'>, { words, env, folder, columns, rows }: Started): Pty {
  const terminal = new headless.Terminal({ cols: columns, rows, scrollback: 5_000, allowProposedApi: true });
  const line = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const child = spawn('script', ['-qefc', `stty rows ${rows} cols ${columns}; exec ${line}`, '/dev/null'], {
    ...(folder === undefined ? {} : { cwd: folder }),
    env: { TERM: 'xterm-256color', ...env },
  });
  t.teardown(() => child.kill('SIGKILL'));
  const titles = new Set<string>();
  let onTitle = (): void => undefined;
  terminal.onTitleChange((title) => {
    titles.add(title);
    onTitle();
  });
  let onFrame = (): void => undefined;
  let written: Promise<void> = Promise.resolve();
  child.stdout.on('data', (data: Buffer) => {
    const before = written;
    written = new Promise((done) => terminal.write(data, done));
    void before;
    if (data.includes(endOfFrame)) void written.then(onFrame);
  });
  const finished = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => void written.then(() => resolve(code)));
  });
  const buffer = terminal.buffer.active;
  const linesFrom = (first: number): readonly string[] => {
    const all = Array.from(
      { length: buffer.length - first },
      (_, index) => buffer.getLine(first + index)?.translateToString(true) ?? '',
    );
    return all.slice(0, all.findLastIndex((text) => text !== '') + 1);
  };
  return {
    lines: () => linesFrom(0),
    screen: () => linesFrom(buffer.baseY),
    hasColors: () =>
      Array.from({ length: buffer.length }, (_, row) => buffer.getLine(row)).some((one) =>
        Array.from({ length: columns }, (_, column) => one?.getCell(column)).some((cell) => cell?.isFgDefault() === false),
      ),
    async resize(width) {
      const drawn = new Promise<void>((resolve) => {
        onFrame = resolve;
      });
      terminal.resize(width, rows);
      spawnSync('stty', ['-F', ttyOf(child.pid), 'cols', String(width)]);
      await drawn;
    },
    type: (text) => void child.stdin.write(text),
    titled: async (title) => {
      const ended = finished.then((code) => {
        if (!titles.has(title)) throw new Error(`it ended with ${code}: ${linesFrom(0).join('\n')}`);
      });
      const shown = new Promise<void>((resolve) => {
        onTitle = () => titles.has(title) && resolve();
        onTitle();
      });
      await Promise.race([shown, ended]);
    },
    finished,
  };
}

/** The terminal that `script` has opened for its child. */
function ttyOf(pid: number | undefined): string {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return readlinkSync(`/proc/${child}/fd/0`);
}
