// A process that reads packages, and prints the cost as a line of JSON. Its argument is JSON: see Work.
//
// Each round has four parts: the tree with an empty cache; its manifests and layers by a client that only fetches; the tree again from the
// cache; and the resolution alone, with all answers in memory. So other load on the machine affects all four.
import { createHash } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import type { PackageReference } from '../../hooks/crossplane/model/reference.ts';
import { readTree, type TreeQuery } from '../../hooks/crossplane/observe/tree.ts';
import type { Registry } from '../../hooks/crossplane/registry.ts';
import { createRegistryClient } from '../../server/registry/client.ts';
import { readDocuments } from '../../server/registry/documents.ts';
import { packageStream } from '../../server/registry/layers.ts';
import { inParallel } from './measure.ts';
import { Answers } from './packages-answers.ts';

export interface Work {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  readonly reference: PackageReference;
  readonly rounds: number;
  /** The process of the registry. */
  readonly registry?: number | undefined;
  /** `tree`: rounds of the tree; `package`: reads one package; `thread`: starts an idle thread; `nothing`: an idle process. */
  readonly mode: 'tree' | 'package' | 'thread' | 'nothing';
}

export interface Round {
  readonly resolveMs: number;
  /** The time of the first part if all cores had worked only for it, and for its registry, all the time. */
  readonly busyMs: number;
  readonly bareMs: number;
  /** That client, with the lists of tags that the resolution needs. */
  readonly requestsMs: number;
  /** All packages from the cache, unpacked and parsed in one thread. */
  readonly parseMs: number;
  readonly againMs: number;
  readonly decideMs: number;
  readonly packages: number;
  /** How many manifests and layers were fetched. */
  readonly fetched: number;
  /** How many layers were fetched although the cache has them. */
  readonly fetchedAgain: number;
  readonly requests: number;
}

const atOnce = 8;
const deadline = 600_000;
const asked = { kind: 'Provider', name: 'root', skipsDependencies: false, installed: [] } as const;

const seen: { readonly method: string; readonly path: string }[] = [];
subscribe('undici:request:create', (message) => {
  const { request } = message as { request: { method: string; path: string } };
  seen.push({ method: request.method, path: request.path });
});

async function inTurn({ origin, reference, registry: pid }: Work): Promise<Round> {
  const directory = mkdtempSync(join(tmpdir(), 'janus-bench-packages-'));
  const known = new Answers();
  try {
    const idle = processorMs(pid);
    const first = await tree(directory, { ...asked, reference }, (registry) => known.of(registry));
    const busyMs = (processorMs(pid) - idle) / availableParallelism();
    const bareMs = await fetchOnly(origin, first.fetched);
    const requestsMs = await fetchOnly(origin, first.paths);
    const parseMs = await parseOnly(directory, first.layers);
    const again = await tree(directory, { ...asked, reference });
    const from = performance.now();
    await decided(readTree({ ...asked, reference }, known));
    const decideMs = performance.now() - from;
    const { ms: resolveMs, packages, requests, fetched } = first;
    const fetchedAgain = again.layers.length;
    return {
      resolveMs,
      busyMs,
      bareMs,
      requestsMs,
      parseMs,
      againMs: again.ms,
      decideMs,
      packages,
      requests,
      fetched: fetched.length,
      fetchedAgain,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The time of all threads of this process and of that process. Linux counts ticks of 10 ms. */
function processorMs(pid: number | undefined): number {
  const { user, system } = process.cpuUsage();
  const fields = pid === undefined ? [] : readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ');
  const ticks = Number(fields?.[11] ?? 0) + Number(fields?.[12] ?? 0);
  return (user + system) / 1_000 + ticks * 10;
}

/** Resolves the tree with that cache. */
async function tree(cacheDirectory: string, question: TreeQuery, through = (registry: Registry): Registry => registry) {
  seen.length = 0;
  const client = createRegistryClient({ cacheDirectory, cacheBytes: 2 ** 30, atOnce });
  const from = performance.now();
  const packages = await decided(readTree(question, through(client.open({ pullSecrets: [], deadline }))));
  const ms = performance.now() - from;
  await client.close();
  const paths = seen.map(({ path }) => path);
  const fetched = paths.filter((path) => !path.includes('/tags/list'));
  return { ms, packages, paths, fetched, layers: fetched.filter((path) => path.includes('/blobs/')), requests: seen.length };
}

async function decided(reading: ReturnType<typeof readTree>): Promise<number> {
  const found = await reading;
  if (found.kind !== 'resolved') throw new Error(`the tree is not resolved: ${JSON.stringify(found)}`);
  return found.packages.length;
}

/** Fetches manifests and layers by path, checks each digest, and drops the content. */
async function fetchOnly(origin: string, paths: readonly string[]): Promise<number> {
  const pool = new Pool(origin, { connections: atOnce });
  const from = performance.now();
  await inParallel(paths, atOnce, async (path) => {
    const { statusCode, headers, body } = await pool.request({
      method: 'GET',
      path,
      headers: { accept: '*/*, application/vnd.oci.image.manifest.v1+json' },
    });
    const hash = createHash('sha256');
    for await (const chunk of body) hash.update(chunk);
    const announced = headers['docker-content-digest'] ?? '';
    if (statusCode !== 200 || (announced !== '' && announced !== `sha256:${hash.digest('hex')}`))
      throw new Error(`${path}: ${statusCode}`);
  });
  const ms = performance.now() - from;
  await pool.close();
  return ms;
}

async function parseOnly(directory: string, layers: readonly string[]): Promise<number> {
  const from = performance.now();
  await inParallel(layers, atOnce, async (path) => {
    const file = join(directory, path.slice(path.lastIndexOf('/') + 1).replace(':', '-'));
    await readDocuments(packageStream([file]), () => undefined);
  });
  return performance.now() - from;
}

async function readOne({ reference }: Work): Promise<void> {
  const cacheDirectory = mkdtempSync(join(tmpdir(), 'janus-bench-packages-'));
  const client = createRegistryClient({ cacheDirectory, cacheBytes: 2 ** 30, atOnce });
  try {
    await decided(readTree({ ...asked, reference }, client.open({ pullSecrets: [], deadline })));
  } finally {
    await client.close();
    rmSync(cacheDirectory, { recursive: true, force: true });
  }
}

// Not maxRSS of resourceUsage(): there Linux includes the memory that the parent had at the start of the process.
function peakMiB(): number {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kibibytes) / 1024;
}

const work = JSON.parse(process.argv[2] ?? '{}') as Work;
const rounds: Round[] = [];
if (work.mode === 'tree') for (let round = 0; round < work.rounds; round += 1) rounds.push(await inTurn(work));
if (work.mode === 'package') await readOne(work);
if (work.mode === 'thread') await readDocuments([Buffer.from('a: b')], () => undefined);
process.stdout.write(`${JSON.stringify({ rounds, peakMiB: peakMiB() })}\n`);
