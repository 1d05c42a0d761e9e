// Whether a file can be started, and what it says.
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface Ran {
  readonly code: number;
  readonly output: string;
}

/** Runs a program to its end; what it says on either stream is its output. */
export function ran(program: string, args: readonly string[], input = ''): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === 'number') resolve({ code, output: `${stdout}${stderr}` });
      else reject(error);
    });
    child.stdin?.end(input);
  });
}
