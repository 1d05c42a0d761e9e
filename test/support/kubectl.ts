// kubectl, where there is one: what people type, typed.
import { spawn, spawnSync } from 'node:child_process';

/** A machine for tests need not have it: what it would show is then asked of the API server alone. */
export function hasKubectl(): boolean {
  return spawnSync('kubectl', ['version', '--client']).status === 0;
}

interface Typed {
  readonly code: number | null;
  readonly output: string;
}

/** Runs commands as a person would in that folder, who has these variables. They end at the first that fails. */
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
