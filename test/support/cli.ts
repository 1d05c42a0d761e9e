// The command line as users run it: packed, unpacked into a folder of its own, started from an empty one.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { writePackage } from '../../scripts/pack-cli/package.ts';
import type { Teardown } from './client.ts';

interface Finished {
  /** Null if it was killed. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface Running {
  readonly process: ChildProcess;
  readonly finished: Promise<Finished>;
  /** What it has written so far. */
  readonly out: () => string;
  readonly err: () => string;
}

interface Use {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Its standard input stays open: the test types into it. */
  readonly typing?: true;
  /** Another of its programs. */
  readonly program?: string;
  /** Another Node than that of JANUS_CLI_NODE, or of the tests. */
  readonly node?: string;
  /** `node` is run with the words alone: it starts the program itself. */
  readonly bare?: true;
}

interface Cli {
  /** Of the unpacked package. */
  readonly folder: string;
  /** Where its programs are on the PATH. */
  readonly programs: string;
  /** Where it is started: empty but for what `write` has put there. */
  readonly home: string;
  /** Writes a file there; returns its path. */
  write(name: string, text: string): string;
  start(words: readonly string[], use?: Use): Running;
  run(words: readonly string[], use?: Use): Promise<Finished>;
}

const programs = ['janus', 'kubectl-janus', 'kubectl_complete-janus'];

/** `kubeconfig`: for KUBECONFIG; none if undefined. */
export async function openCli(t: Teardown, kubeconfig?: string): Promise<Cli> {
  const root = mkdtempSync(join(tmpdir(), 'janus-cli-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const [own, bin, home] = ['package', 'bin', 'home'].map((name) => join(root, name)) as [string, string, string];
  for (const one of [own, bin, home]) mkdirSync(one);
  // `npm test` packs once for all files (scripts/test.ts). Node's compile cache is beside that package, and ends with it.
  const packed = process.env.JANUS_TEST_CLI;
  if (packed === undefined) await writePackage(own);
  const folder = packed ?? own;
  const cache = packed === undefined ? {} : { NODE_COMPILE_CACHE: join(packed, '..', 'compiled') };
  // As npm links them.
  for (const program of programs) symlinkSync(join(folder, 'bin', `${program}.js`), join(bin, program));
  const start: Cli['start'] = (
    words,
    { env = {}, input, typing, program = 'janus', node = process.env.JANUS_CLI_NODE ?? process.execPath, bare } = {},
  ) => {
    const given = {
      ...cache,
      PATH: `${bin}:${dirname(node)}:/usr/bin:/bin`,
      HOME: home,
      LANG: 'C.UTF-8',
      ...(kubeconfig && { KUBECONFIG: kubeconfig }),
    };
    const child = spawn(node, bare ? [...words] : [join(bin, program), ...words], { cwd: home, env: { ...given, ...env } });
    t.teardown(() => child.kill('SIGKILL'));
    const texts = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      texts.out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      texts.err += text;
    });
    if (typing !== true) child.stdin.end(input);
    const finished = new Promise<Finished>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, ...texts }));
    });
    return { process: child, finished, out: () => texts.out, err: () => texts.err };
  };
  return {
    folder,
    programs: bin,
    home,
    write(name, text) {
      const path = join(home, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      return path;
    },
    start,
    run: (words, use) => start(words, use).finished,
  };
}
