// Measures the resolution of trees of packages, beside a client that only fetches the manifests and layers. It uses a real registry in
// memory, and trees of 10, 50 and 200 packages with ten versions each.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { definitionOf, packageOf, providerYaml, push } from '../../test/support/registry/builder.ts';
import { startRegistry } from '../../test/support/registry/process.ts';
import type { Undo } from '../demo/undo.ts';
import { inParallel } from './measure.ts';
import type { Round, Work } from './packages-process.ts';
import { type Line, percentile } from './ratios.ts';
import { startFlags } from './world.ts';

const sizes = [10, 50, 200];
const rounds = 5;
const versions = Array.from({ length: 10 }, (_, minor) => `v1.${minor}.0`);
const atOnce = 8;

interface Place {
  readonly origin: string;
  readonly host: string;
  readonly pid: number | undefined;
}

/** `profile`: a folder for CPU profiles of the processes that resolve. */
export async function measurePackages(undo: Undo, profile?: string): Promise<readonly Line[]> {
  const run = programIn(mkdtempSync(join(tmpdir(), 'janus-bench-compiled-')), undo, profile);
  const place = await startRegistry({ teardown: (handler) => undo.add(async () => void (await handler())) });
  const lines: Line[] = [];
  for (const size of sizes) {
    await publishTree(place, size);
    lines.push(await treeLine(run, place, size));
  }
  const large = await publishLarge(place);
  const resting = await run(work(place, { mode: 'nothing' }));
  const thread = await run(work(place, { mode: 'thread' }));
  for (const line of lines) Object.assign(line, { addedMiB: added(Number(line.hookPeakMemoryMiB), resting.peakMiB) });
  const reading = await run(
    work(place, { mode: 'package', reference: { source: `${place.host}/large/root`, version: 'v1.0.0' } }),
  );
  const memory = { hookPeakMemoryMiB: rounded(reading.peakMiB), addedMiB: added(reading.peakMiB, resting.peakMiB) };
  const idle = { row: 'packages-idle-thread', items: 0, addedMiB: added(thread.peakMiB, resting.peakMiB) };
  return [...lines, idle, { row: 'packages-large', items: 1, unpackedMiB: rounded(large / 2 ** 20), ...memory }];
}

async function treeLine(run: Run, { origin, host, pid }: Place, size: number): Promise<Line> {
  const reference = { source: `${host}/of${size}/p0`, version: 'v1.9.0' };
  const { rounds: all, peakMiB } = await run({ origin, reference, rounds, mode: 'tree', registry: pid });
  const middle = (of: (round: Round) => number): number => percentile(all.map(of), 0.5);
  const resolveMs = middle((one) => one.resolveMs);
  const [packages, fetched, requests] = [
    (one: Round) => one.packages,
    (one: Round) => one.fetched,
    (one: Round) => one.requests,
  ].map(middle);
  if (packages !== size) throw new Error(`expected a tree of ${size} packages, found ${packages}`);
  return {
    row: `packages-${size}`,
    items: size,
    p50Ms: rounded(resolveMs),
    limitMs: rounded(middle((one) => one.bareMs)),
    ratioToLimit: rounded(
      middle((one) => one.resolveMs / one.bareMs),
      2,
    ),
    requestsToLimit: rounded(
      middle((one) => one.requestsMs / one.bareMs),
      2,
    ),
    parseToLimit: rounded(
      middle((one) => one.parseMs / one.bareMs),
      2,
    ),
    busyToLimit: rounded(
      middle((one) => one.busyMs / one.bareMs),
      2,
    ),
    decideMs: rounded(middle((one) => one.decideMs)),
    decideShare: rounded(
      middle((one) => one.decideMs / one.resolveMs),
      3,
    ),
    againMs: rounded(middle((one) => one.againMs)),
    fetchedAgain: Math.max(...all.map((one) => one.fetchedAgain)),
    fetched,
    requests,
    msPerPackage: rounded(resolveMs / size, 2),
    hookPeakMemoryMiB: rounded(peakMiB),
  };
}

function work({ origin, host }: Place, more: Partial<Work>): Work {
  return { origin, reference: { source: host, version: '' }, rounds: 1, mode: 'tree', ...more };
}

type Run = (asked: Work) => Promise<{ readonly rounds: readonly Round[]; readonly peakMiB: number }>;

/** Compiled in advance, with the flags of the hook, as in the image. Otherwise the memory of the compiler would be measured. */
function programIn(folder: string, undo: Undo, profile: string | undefined): Run {
  undo.add(async () => rmSync(folder, { recursive: true, force: true }));
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const program = join(import.meta.dirname, 'packages-process.ts');
  const env = { ...process.env, NODE_COMPILE_CACHE: folder };
  return async (asked) => {
    const args = [...startFlags, ...profiling, program, JSON.stringify(asked)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, maxBuffer: 2 ** 26 });
    return JSON.parse(stdout);
  };
}

function rounded(value: number, digits = 1): number {
  return Number(value.toFixed(digits));
}

function added(peak: number, resting: number): number {
  return rounded(peak - resting);
}

/** A tree that is nine wide. The package above requires each package. For one in five, another package excludes the newest version. */
async function publishTree({ origin, host }: Place, size: number): Promise<void> {
  const source = (index: number): string => `${host}/of${size}/p${index}`;
  const requiredBy = (index: number): Readonly<Record<string, string>> => {
    const children = Array.from({ length: 9 }, (_, which) => index * 9 + which + 1).filter((child) => child < size);
    const ranges = children.map((child): [string, string] => [source(child), `>=v1.${child % 5}.0`]);
    const older: [string, string][] = index % 5 === 4 && index + 1 < size ? [[source(index + 1), '>=v1.2.0, <v1.9.0']] : [];
    return Object.fromEntries([...ranges, ...older]);
  };
  const releases = Array.from({ length: size }, (_, index) => versions.map((tag) => ({ index, tag }))).flat();
  await inParallel(releases, atOnce, async ({ index, tag }) => {
    const stream = `${providerYaml(`p${index}`, requiredBy(index))}${objectsOf(index)}# ${tag}\n`;
    await push({ origin, repository: `of${size}/p${index}`, tag }, await packageOf(stream));
  });
}

const fields = Object.fromEntries(
  Array.from({ length: 60 }, (_, index) => [
    `field${index}`,
    {
      type: 'string',
      maxLength: 63,
      description: `What the field ${index} is for, as definitions of providers say it at some length.`,
    },
  ]),
);
/** YAML without aliases, as generators of CRDs write it. */
const written = (object: unknown): string => stringify(object, { aliasDuplicateObjects: false });
const template = written(definitionOf('NAMEs', 'GROUP.example.org', { type: 'object', properties: fields }));

/** Two definitions of 11 kB each. */
function objectsOf(index: number): string {
  const named = (plural: string): string => template.replaceAll('NAME', plural).replaceAll('GROUP', `g${index}`);
  return `${named('bucket')}---\n${named('queue')}---\n`;
}

/** One package near the limit. Returns the bytes of its stream. */
async function publishLarge({ origin }: Place): Promise<number> {
  const properties = Object.fromEntries(
    Array.from({ length: 90 }, (_, index) => [`part${index}`, { type: 'object', properties: fields }]),
  );
  const large = written(definitionOf('NAMEs', 'large.example.org', { type: 'object', properties }));
  const count = Math.floor((60 * 2 ** 20) / large.length);
  const documents = Array.from({ length: count }, (_, index) => large.replaceAll('NAME', `n${index}x`));
  const stream = `${providerYaml('root')}${documents.join('---\n')}`;
  await push({ origin, repository: 'large/root', tag: 'v1.0.0' }, await packageOf(stream));
  return stream.length;
}
