// kubectl, where there is one: what people type, typed.
import { spawnSync } from 'node:child_process';

/** A machine for tests need not have it: what it would show is then asked of the API server alone. */
export function hasKubectl(): boolean {
  return spawnSync('kubectl', ['version', '--client']).status === 0;
}

export interface Typed {
  readonly code: number | null;
  readonly output: string;
}

/** Runs commands as a person would who has this kubeconfig, in a folder of their own. They end at the first that fails. */
export function type(commands: string, folder: string, environment: Readonly<Record<string, string>>): Typed {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, ...environment };
  const { status, stdout, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', commands], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return { code: status, output: `${stdout}${stderr}` };
}
