// The programs that `npm run kind` needs. If a program is missing, a message names it. If a program fails, a message names it, too.
import { spawnSync } from 'node:child_process';

/** Go builds and runs it if there is no kind on PATH. The npm package of that name is something else. */
const kindModule = 'sigs.k8s.io/kind@v0.33.0';

export interface Command {
  readonly program: readonly string[];
  readonly args: readonly string[];
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Prints the command and its output. Throws an error that names the command if it fails. */
export function run({ program, args, input, environment }: Command): void {
  const [file = '', ...first] = program;
  process.stdout.write(`\n$ ${[...program, ...args].join(' ')}\n`);
  const { status, error } = spawnSync(file, [...first, ...args], {
    env: { ...process.env, ...environment },
    input: input ?? '',
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  // A program may end before it has read its input (EPIPE): then its exit status counts.
  if (error !== undefined && status === null) throw new Error(`${file} could not be run: ${error.message}`);
  if (status !== 0) throw new Error(`${file} ${args[0] ?? ''} ended with ${status ?? 'a signal'}; its output is above`);
}

function works(...[file = '', ...args]: readonly string[]): boolean {
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0;
}

/** The missing programs, each with the next step for the user. */
export function missingTools(): readonly string[] {
  const missing: string[] = [];
  if (!works('docker', '--version'))
    missing.push('docker: found none on PATH; install Docker, or Podman with its docker command');
  else if (!works('docker', 'info')) missing.push('docker: found, but its daemon does not answer; start it, and see docker info');
  if (!works('kubectl', 'version', '--client'))
    missing.push('kubectl: found none on PATH; install it (https://kubernetes.io/docs/tasks/tools)');
  if (!works('kind', 'version') && !works('go', 'version'))
    missing.push('kind: found neither kind nor go on PATH; install one of them (https://kind.sigs.k8s.io)');
  return missing;
}

export function kindProgram(): readonly string[] {
  return works('kind', 'version') ? ['kind'] : ['go', 'run', kindModule];
}
