// kubectl, built with the control plane: runs the commands that people type. A kubectl of the machine is not used.
import { spawn } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { buildKubectl } from '../controlplane/build.ts';

/** The PATH of this process, in which `kubectl` is that one. Builds it if it is missing. */
export async function pathWithKubectl(): Promise<string> {
  const kubectl = await buildKubectl((line) => process.stderr.write(`${line}\n`));
  return `${dirname(kubectl)}${delimiter}${process.env.PATH ?? ''}`;
}

interface Typed {
  readonly code: number | null;
  readonly output: string;
}

/** Runs commands in that folder with these variables. They end at the first failure. */
export async function type(commands: string, folder: string, environment: Readonly<Record<string, string>>): Promise<Typed> {
  const env = { PATH: await pathWithKubectl(), HOME: process.env.HOME ?? '', ...environment };
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
