// The tools that are compared, as people run them: each releases a version of the same ConfigMaps, and goes back to the version before.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { account, loopLabel, namespace, type World } from '../bench/world.ts';

/** Where the programs run, and what they reach. */
export interface Site {
  readonly world: World;
  readonly folder: string;
  /** Paths of programs. */
  readonly helm: string;
  readonly janus: string;
  readonly katomik: string;
  readonly kubectl: string;
  /** The label of Transactions that the engine of the world serves. */
  readonly label: string;
}

/** One version of a release. */
export interface Release {
  readonly name: string;
  readonly version: number;
  readonly objects: readonly JsonObject[];
}

export interface Tool {
  readonly name: string;
  /** Prepares the files of a version. Returns the words of the command that releases it. */
  release(site: Site, release: Release): readonly string[];
  /** The words of the command that goes back from this version to the one before. */
  back(site: Site, release: Release, before: Release): readonly string[];
}

function fileOf({ folder }: Site, { name, version, objects }: Release): string {
  const file = join(folder, `${name}-${version}.json`);
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  return file;
}

function applied(site: Site, release: Release, force: boolean): readonly string[] {
  const options = force ? ['--force-conflicts'] : [];
  return [site.kubectl, 'apply', '--server-side', ...options, '-n', namespace, '-f', fileOf(site, release)];
}

function chartOf({ folder }: Site, { name, version, objects }: Release): string {
  const chart = join(folder, `chart-${name}-${version}`);
  mkdirSync(join(chart, 'templates'), { recursive: true });
  writeFileSync(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: objects\nversion: 1.0.0\n');
  const documents = objects.map((object) => `---\n${JSON.stringify(object)}\n`).join('');
  writeFileSync(join(chart, 'templates', 'objects.yaml'), documents);
  return chart;
}

const helmWith = (name: string, options: readonly string[]): Tool => ({
  name,
  release: (site, release) => {
    const words = release.version === 1 ? ['install'] : ['upgrade', ...options];
    return [site.helm, ...words, release.name, chartOf(site, release), '--namespace', namespace];
  },
  back: (site, { name }) => [site.helm, 'rollback', name, '--namespace', namespace],
});

const nameOf = ({ name, version }: Release): string => `${name}-${version}`;

export const janus: Tool = {
  name: 'Janus',
  release: (site, release) => {
    const words = ['--name', nameOf(release), '--service-account', account, '--field-manager', release.name, '--wait'];
    return [site.janus, 'apply', '-f', fileOf(site, release), '-n', namespace, ...words, '--label', `${loopLabel}=${site.label}`];
  },
  back: (site, release) => [site.janus, 'undo', nameOf(release), '-n', namespace, '--wait', '--yes'],
};

export const kubectl: Tool = {
  name: 'kubectl apply --server-side',
  release: (site, release) => applied(site, release, false),
  back: (site, _release, before) => applied(site, before, false),
};

/** As `kubectl`, but it takes fields of other managers. */
export const forcedKubectl: Tool = { ...kubectl, release: (site, release) => applied(site, release, true) };

export const helm: Tool = helmWith('Helm 4', []);

/** It always takes fields of other managers, and has no command that goes back. */
export const katomik: Tool = {
  name: 'katomik',
  release: (site, release) => [site.katomik, 'apply', '-n', namespace, '-f', fileOf(site, release)],
  back: (site, _release, before) => katomik.release(site, before),
};

/** With what Helm offers for a release that fails. */
export const safeHelm: Tool = helmWith('Helm 4', ['--force-conflicts', '--rollback-on-failure']);

interface Ended {
  /** Null if it was killed. */
  readonly code: number | null;
  readonly output: string;
}

interface Running {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** Runs a program itself, so that a signal reaches it. */
export function start({ world, folder }: Site, [program = '', ...words]: readonly string[]): Running {
  const env = { PATH: process.env.PATH ?? '', KUBECONFIG: world.kubeconfig, HOME: folder };
  const child = spawn(program, words, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
  return { process: child, ended };
}

/** Runs a program to its end, which must be a success. */
export async function run(site: Site, words: readonly string[]): Promise<void> {
  const { code, output } = await start(site, words).ended;
  if (code !== 0) throw new Error(`expected ${words.join(' ')} to end with 0, found ${code}: ${output}`);
}
