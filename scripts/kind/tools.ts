// The programs that `npm run kind` runs: found, or said what to install; run, or said which of them failed.
import { spawnSync } from 'node:child_process';

/** Built and run by Go where no kind is on PATH. Not the npm package of that name, which is something else. */
const kindModule = 'sigs.k8s.io/kind@v0.33.0';

export interface Command {
  readonly program: readonly string[];
  readonly args: readonly string[];
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Shows the command and its output. Throws, naming it, when it fails. */
export function run({ program, args, input, environment }: Command): void {
  const [file = '', ...first] = program;
  process.stdout.write(`\n$ ${[...program, ...args].join(' ')}\n`);
  const { status, error } = spawnSync(file, [...first, ...args], {
    env: { ...process.env, ...environment },
    input: input ?? '',
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  // A program may end before it has read its input (EPIPE); what it then says by its status counts.
  if (error !== undefined && status === null) throw new Error(`${file} could not be run: ${error.message}`);
  if (status !== 0) throw new Error(`${file} ${args[0] ?? ''} ended with ${status ?? 'a signal'}; its own words are above`);
}

function works(...[file = '', ...args]: readonly string[]): boolean {
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0;
}

/** What is missing for a cluster, each with what to do. */
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
