// Starts a control plane only for the bench, hooks as separate processes, and a loop for each hook over the Transactions with its label.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { startControlPlane } from '../../test/controlplane/start.ts';
import { type Client, connect, must } from '../../test/support/client.ts';
import { hookToken } from '../../test/support/hook-token.ts';
import { installManifests } from '../../test/support/install.ts';
import { type LoopKind, startLoop } from '../../test/support/metacontroller/loop.ts';
import { installPackages } from '../../test/support/package-install.ts';
import { startHook } from '../demo/hook.ts';
import type { Undo } from '../demo/undo.ts';
import { type ChildMeter, meterOf } from './child.ts';
import { startDistance } from './distance.ts';
import type { Line } from './figures.ts';
import { type Followed, followTransactions } from './followed.ts';
import type { Flags, HookKind } from './rows.ts';

const root = join(import.meta.dirname, '..', '..');
const server = 'server/main.ts';

/** Node's flags in `npm start`. */
export const startFlags = manifest.scripts.start.split(' ').filter((word) => word.startsWith('--'));

export const namespace = 'bench';
export const account = 'deployer';
export const loopLabel = 'bench.janus.io/loop';

interface Engine {
  readonly meter: ChildMeter;
  readonly loop: LoopKind;
  readonly label: string;
  /** The address of the hook. */
  readonly address: string;
}

export interface World {
  readonly client: Client;
  readonly kubeconfig: string;
  readonly undo: Undo;
  readonly followed: Followed;
  /** The audit log, if requested. */
  readonly auditLog: string | undefined;
  /** The cost of the start of each hook. */
  readonly starts: Line[];
  /** Started on first use. */
  engine(hook: HookKind, flags: Flags): Promise<Engine>;
}

interface WorldOptions {
  readonly audit?: boolean;
  /** The folder where the engine's process stores a CPU profile when it ends. */
  readonly profile?: string | undefined;
  /** ms of a round trip between the API server and all clients; 0 by default. */
  readonly roundTrip?: number;
  /** The checkout for the hook `against`. */
  readonly against?: string | undefined;
  /** The engine serves package transactions, too, and their kinds exist. */
  readonly packages?: boolean;
  /** A proxy between the loop and the hook, for a trace: takes the hook's address and returns its own. */
  readonly between?: (address: string) => Promise<string>;
}

export async function startWorld(undo: Undo, options: WorldOptions = {}): Promise<World> {
  const controlPlane = await startControlPlane(options.audit === true ? { audit: 'Metadata' } : {});
  undo.add(() => controlPlane.stop());
  const { auditLog } = controlPlane;
  const kubeconfig = options.roundTrip ? await startDistance(undo, controlPlane, options.roundTrip) : controlPlane.kubeconfig;
  const client = connect(kubeconfig);
  undo.add(() => client.close());
  await installManifests(client);
  if (options.packages === true) await installPackages(client);
  await createTenant(client, namespace);
  const followed = await followTransactions(kubeconfig);
  undo.add(() => followed.stop());
  const starts: Line[] = [];
  const engine = enginesOf({ client, kubeconfig, undo, options, starts });
  return { client, kubeconfig, undo, followed, auditLog, starts, engine };
}

/** A namespace, and an account that may do all to its ConfigMaps. */
export async function createTenant(client: Client, namespace: string): Promise<void> {
  const [core, rbac] = ['/api/v1/namespaces', `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`];
  must(await client.create(core, { metadata: { name: namespace } }));
  must(await client.create(`${core}/${namespace}/serviceaccounts`, { metadata: { name: account } }));
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }];
  must(await client.create(`${rbac}/roles`, { metadata: { name: account }, rules }));
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: account };
  const subjects = [{ kind: 'ServiceAccount', name: account, namespace }];
  must(await client.create(`${rbac}/rolebindings`, { metadata: { name: account }, roleRef, subjects }));
}

interface Starting {
  readonly client: Client;
  readonly kubeconfig: string;
  readonly undo: Undo;
  readonly options: WorldOptions;
  readonly starts: Line[];
}

function enginesOf(parts: Starting): World['engine'] {
  const hooks = new Map<HookKind, ReturnType<typeof startKind>>();
  const engines = new Map<string, Promise<Engine>>();
  const start = async (kind: HookKind, flags: Flags, label: string): Promise<Engine> => {
    const starting = hooks.get(kind) ?? startKind(kind, parts);
    hooks.set(kind, starting);
    const { address, meter } = await starting;
    const limits = flags === 'default' ? { workers: 5, qps: 5, burst: 10 } : {};
    const { kubeconfig, undo } = parts;
    const loop = await startLoop({
      kubeconfig,
      hookUrl: address,
      token: hookToken,
      name: label,
      matchLabels: { [loopLabel]: label },
      ...limits,
    });
    undo.add(() => loop.stop());
    return { meter, loop: loop.kind, label, address };
  };
  return (kind, flags) => {
    const label = `${kind}-${flags}`;
    const engine = engines.get(label) ?? start(kind, flags, label);
    engines.set(label, engine);
    return engine;
  };
}

/** The variables that make the engine serve package transactions. */
function packagesOf({ packages = false }: WorldOptions, undo: Undo): Readonly<Record<string, string>> {
  if (!packages) return {};
  const cache = mkdtempSync(join(tmpdir(), 'janus-bench-cache-'));
  undo.add(async () => rmSync(cache, { recursive: true, force: true }));
  return { JANUS_PACKAGES: 'true', JANUS_PACKAGES_CACHE: cache };
}

// Compiled before the start, as in the image. Without configuration the program ends after loading.
function compile(program: string, undo: Undo): Readonly<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'janus-bench-compiled-'));
  undo.add(async () => rmSync(folder, { recursive: true, force: true }));
  const environment = { NODE_COMPILE_CACHE: folder };
  if (program === server) spawnSync(process.execPath, [server], { cwd: root, env: environment, stdio: 'ignore' });
  return environment;
}

function programOf(kind: HookKind, { against = root }: WorldOptions): string {
  if (kind === 'janus') return server;
  return kind === 'against' ? join(resolve(against), server) : `scripts/bench/${kind}-hook.ts`;
}

async function startKind(kind: HookKind, { client, kubeconfig, undo, options, starts }: Starting) {
  const profiling = options.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`];
  const program = programOf(kind, options);
  const flags = kind === 'janus' ? [...startFlags, ...profiling] : startFlags;
  const environment = { ...compile(program, undo), ...(kind === 'janus' || kind === 'against' ? packagesOf(options, undo) : {}) };
  const hook = await startHook(client, kubeconfig, undo, { program, flags, environment });
  const address = (await options.between?.(hook.address)) ?? hook.address;
  const meter = meterOf(hook.process);
  starts.push({ row: 'start', hook: kind, readyMs: Math.round(hook.readyAfter), cpuMs: meter.cpu(), memoryMiB: meter.memory() });
  return { address, meter };
}
