// Frames at a terminal, each in the place of the one before.
import { createLogUpdate } from 'log-update';
import type { Io } from '../io.ts';
import { widthOf } from '../show/style.ts';

interface Frames {
  draw(lines: readonly string[], columns: number): void;
  /** Erases the last frame, and draws no other. */
  end(columns: number): void;
}

export function openFrames({ stdout }: Io): Frames {
  const update = createLogUpdate(stdout as NodeJS.WriteStream, { showCursor: true });
  let last: { readonly lines: readonly string[]; readonly columns: number } = { lines: [], columns: 0 };
  // A terminal that has become narrower has wrapped the lines, and log-update would erase too few rows.
  const eraseWrapped = (columns: number): void => {
    if (columns >= last.columns) return;
    const rows = last.lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
    stdout.write(`\u001b[${rows}A\r\u001b[J`);
    update.done();
  };
  return {
    draw(lines, columns) {
      eraseWrapped(columns);
      update(lines.join('\n'));
      last = { lines, columns };
    },
    end(columns) {
      eraseWrapped(columns);
      update.clear();
      update.done();
    },
  };
}
