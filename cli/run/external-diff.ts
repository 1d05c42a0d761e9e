// Shows the fields of changes in the user's own program. Like kubectl diff, it calls the program with two folders, LIVE and MERGED.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { PlannedChange } from '../../hooks/transactions/inspection.ts';
import type { Io } from '../io.ts';
import { Problem } from '../problem.ts';
import { fieldFile } from '../show/fields.ts';

/** `program`: the path and options in KUBECTL_EXTERNAL_DIFF. */
export async function showOutside(io: Io, program: string, changes: readonly PlannedChange[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'janus-diff-'));
  try {
    for (const side of ['LIVE', 'MERGED'] as const) {
      mkdirSync(join(folder, side));
      for (const change of changes) {
        const { name, text } = fieldFile(change, side === 'LIVE' ? 'before' : 'after');
        writeFileSync(join(folder, side, name), text);
      }
    }
    await ran(io, program, [join(folder, 'LIVE'), join(folder, 'MERGED')]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Like kubectl, it drops options with characters other than letters, digits and ./=:-_ because there is no quoting. The program ends
 * with 1 if there are differences, as diff does.
 */
async function ran(io: Io, program: string, folders: readonly string[]): Promise<void> {
  const [name = '', ...rest] = program.trim().split(/\s+/);
  const words = rest.filter((word) => /^[\w./=:-]+$/.test(word));
  if (name === '') throw new Problem('KUBECTL_EXTERNAL_DIFF names no program: it is blank. Name one, or unset it.');
  const child = spawn(name, [...words, ...folders], { env: { ...io.env }, cwd: io.folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number>((done, fail) => {
    child.on('error', () => fail(new Problem(`KUBECTL_EXTERNAL_DIFF names ${name}, which cannot be run: correct it.`)));
    child.on('close', (code) => done(code ?? 2));
  });
  const [code] = await Promise.all([ended, pipeline(child.stdout, io.stdout, { end: false })]);
  if (code > 1) throw new Problem(`${name}, of KUBECTL_EXTERNAL_DIFF, ended with ${code}: run it by hand to see why.`);
}
