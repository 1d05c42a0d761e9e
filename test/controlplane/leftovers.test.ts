// However the program that started a control plane ends, no process and no file of it is left.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { waitFor } from '../support/client.ts';

interface Started {
  readonly parent: ChildProcess;
  readonly directory: string;
  readonly ended: Promise<void>;
}

/** Runs a program that starts a control plane, prints its kubeconfig and then does as `afterwards` says. */
function startInProgram(afterwards: string): Promise<Started> {
  const program = `
    import { startControlPlane } from '${join(import.meta.dirname, 'start.ts')}';
    const controlPlane = await startControlPlane();
    console.log(controlPlane.kubeconfig);
    ${afterwards}`;
  return startedBy(['--input-type=module-typescript', '--eval', program]);
}

async function startedBy(args: readonly string[]): Promise<Started> {
  const { PATH, HOME, XDG_CACHE_HOME } = process.env;
  const parent = spawn(process.execPath, args, { env: { PATH, HOME, XDG_CACHE_HOME }, stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  parent.stderr.on('data', (bytes) => {
    errors += String(bytes);
  });
  const ended = new Promise<void>((resolve) => parent.once('exit', () => resolve()));
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: parent.stdout }).once('line', resolve);
    parent.once('close', (code, signal) =>
      reject(new Error(`the program ended (${signal ?? code}) before it had a control plane; it said:\n${errors}`)),
    );
  });
  return { parent, directory: dirname(line.replace('export KUBECONFIG=', '')), ended };
}

interface Process {
  readonly pid: number;
  readonly command: string;
}

/** The processes of one control plane, its keeper included: the command lines of all of them name its directory. */
function processesOf(directory: string): readonly Process[] {
  return processes().filter(({ command }) => command.includes(directory));
}

function processes(): readonly Process[] {
  if (!existsSync('/proc/self/cmdline')) return listedByPs();
  const names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return names.map((name) => ({ pid: Number(name), command: commandLine(name) }));
}

function listedByPs(): readonly Process[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.map((line) => ({ pid: Number.parseInt(line, 10), command: line }));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

async function nothingIsLeft(t: Test, { directory, ended }: Started): Promise<void> {
  await ended;
  await waitFor(() => processesOf(directory).length === 0, `the processes of ${directory} to end`);
  await waitFor(() => !existsSync(directory), `${directory} to be removed`);
  t.pass('no process and no directory is left');
}

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  t.test(`nothing is left when the program is ended by ${signal}`, async (t) => {
    const started = await startInProgram('setInterval(() => undefined, 1000);');
    t.equal(processesOf(started.directory).length, 4, 'etcd, kube-apiserver, kube-controller-manager and their keeper run');
    started.parent.kill(signal);
    await nothingIsLeft(t, started);
  });
}

t.test('nothing is left when the program throws, though it never stopped its control plane', async (t) => {
  await nothingIsLeft(t, await startInProgram("throw new Error('as a test');"));
});

t.test('nothing is left of `npm run controlplane` after Ctrl-C', async (t) => {
  const started = await startedBy([join(import.meta.dirname, 'main.ts')]);
  started.parent.kill('SIGINT');
  await nothingIsLeft(t, started);
  t.equal(started.parent.exitCode, 0);
});

t.test('nothing is left when the keeper of the processes itself is killed', async (t) => {
  const started = await startInProgram('setInterval(() => undefined, 1000);');
  t.teardown(() => started.parent.kill('SIGKILL'));
  const keeper = processesOf(started.directory).find(({ command }) => command.startsWith('keeper of'));
  process.kill(keeper?.pid ?? Number.NaN, 'SIGKILL');
  await nothingIsLeft(t, { ...started, ended: Promise.resolve() });
});
