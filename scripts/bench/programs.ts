// Measures other programs with these objects, including their start: `kubectl apply --server-side` of one file, and `helm upgrade` of one
// release. Their rounds alternate with Transactions that patch as many objects.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { must } from '../../test/support/client.ts';
import { type } from '../../test/support/kubectl.ts';
import type { Undo } from '../demo/undo.ts';
import { type Figures, type Line, lineOf } from './figures.ts';
import { configMaps, inParallel, measure } from './measure.ts';
import { percentile } from './ratios.ts';
import type { Row } from './rows.ts';
import { namespace, type World } from './world.ts';

interface Program {
  readonly name: string;
  readonly isThere: () => boolean;
  /** Creates the objects. Returns a command that changes all objects, differently for each `round`. */
  prepare(site: Site, count: number): Promise<(round: number) => string>;
}

interface Site {
  readonly world: World;
  readonly folder: string;
}

const helm = process.env.HELM || 'helm';

const programs: readonly Program[] = [
  { name: 'kubectl', isThere: () => true, prepare: prepareFile },
  { name: 'helm', isThere: () => spawnSync(helm, ['version', '--short']).status === 0, prepare: prepareRelease },
];

const sizes = [
  { changes: 10, rounds: 7 },
  { changes: 200, rounds: 3 },
] as const;

export async function measurePrograms(world: World, undo: Undo): Promise<readonly Line[]> {
  const folder = mkdtempSync(join(tmpdir(), 'janus-bench-programs-'));
  undo.add(async () => rmSync(folder, { recursive: true, force: true }));
  const there = programs.filter(({ name, isThere }) => isThere() || missing(name));
  const lines: Line[] = [];
  for (const size of sizes) lines.push(...(await inTurn({ world, folder }, there, size)));
  return lines;
}

function missing(name: string): false {
  process.stderr.write(
    `The bench measures nothing by ${name}: expected it on PATH${name === 'helm' ? ', or named by HELM' : ''}\n`,
  );
  return false;
}

type Size = (typeof sizes)[number];

/** Runs the programs in turn, round by round. The first round is not measured, because it fills caches and compiles code. */
async function inTurn(site: Site, there: readonly Program[], { changes, rounds }: Size): Promise<readonly Line[]> {
  const row: Row = { name: '', changes, transactions: 1, concurrency: 1, hook: 'janus', flags: 'tuned' };
  const commands = await Promise.all(there.map((program) => program.prepare(site, changes)));
  const times = there.map((): number[] => []);
  const own: Figures[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    own.push(...(await measure(site.world, { ...row, name: `beside-${changes}-${round}` })));
    for (const [index, command] of commands.entries()) times[index]?.push(await run(site, command(round)));
  }
  const measured = own.slice(1);
  const all = { ...(measured[0] as Figures), times: measured.flatMap((figures) => figures.times) };
  const lines = there.map(({ name }, index) => lineOfProgram(name, changes, times[index]?.slice(1) ?? []));
  return [{ ...lineOf({ ...all, row: { ...row, name: `beside-${changes}`, transactions: rounds } }) }, ...lines];
}

function lineOfProgram(program: string, items: number, times: readonly number[]): Line {
  const [p50Ms, p99Ms] = [Math.round(percentile(times, 0.5)), Math.round(percentile(times, 0.99))];
  return { row: `${program}-${items}`, hook: 'none', items, transactions: times.length, concurrency: 1, p50Ms, p99Ms };
}

async function run({ world, folder }: Site, command: string): Promise<number> {
  const begin = performance.now();
  const { code, output } = await type(command, folder, { KUBECONFIG: world.kubeconfig, HOME: folder });
  if (code !== 0) throw new Error(`expected ${command} to succeed; it said: ${output}`);
  return performance.now() - begin;
}

function objectsOf(prefix: string, count: number, version: string): readonly JsonObject[] {
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${count}-${index}`);
  return names.map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { version } }));
}

async function prepareFile({ world, folder }: Site, count: number): Promise<(round: number) => string> {
  await inParallel(
    objectsOf('applied', count, '1'),
    16,
    async (object) => void must(await world.client.create(configMaps, object)),
  );
  return (round) => {
    const file = join(folder, `${count}-${round}.json`);
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objectsOf('applied', count, `${round + 2}`) }));
    return `kubectl apply --server-side --force-conflicts -f ${file}`;
  };
}

async function prepareRelease(site: Site, count: number): Promise<(round: number) => string> {
  const chart = join(site.folder, `chart-${count}`);
  mkdirSync(join(chart, 'templates'), { recursive: true });
  writeFileSync(join(chart, 'Chart.yaml'), `apiVersion: v2\nname: objects\nversion: 1.0.0\n`);
  const documents = objectsOf('released', count, '{{ .Values.version }}').map((object) => `---\n${JSON.stringify(object)}\n`);
  writeFileSync(
    join(chart, 'templates', 'objects.yaml'),
    documents.join('').replaceAll('"{{ .Values.version }}"', '{{ .Values.version | quote }}'),
  );
  const command = (verb: string, version: number): string =>
    `${helm} ${verb} objects-${count} ${chart} --namespace ${namespace} --set-string version=${version}`;
  await run(site, command('install', 1));
  return (round) => command('upgrade', round + 2);
}
