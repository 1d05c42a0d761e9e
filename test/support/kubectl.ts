// kubectl, if it is installed: runs the commands that people type.
import { spawn, spawnSync } from 'node:child_process';

/** A test machine need not have it: then tests read from the API server what kubectl would show. */
export function hasKubectl(): boolean {
  return spawnSync('kubectl', ['version', '--client']).status === 0;
}

interface Typed {
  readonly code: number | null;
  readonly output: string;
}

/** Runs commands in that folder with these variables. They end at the first failure. */
export function type(commands: string, folder: string, environment: Readonly<Record<string, string>>): Promise<Typed> {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, ...environment };
  const child = spawn('bash', ['-euo', 'pipefail', '-c', commands], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}
