// A control plane for the bench alone, with hooks as processes of their own and loops over the Transactions labelled for them.

import manifest from '../../package.json' with { type: 'json' };
import { startControlPlane } from '../../test/controlplane/start.ts';
import { type Client, connect, must } from '../../test/support/client.ts';
import { hookToken } from '../../test/support/hook-token.ts';
import { installManifests } from '../../test/support/install.ts';
import { type LoopKind, startLoop } from '../../test/support/metacontroller/loop.ts';
import { startHook } from '../demo/hook.ts';
import type { Undo } from '../demo/undo.ts';
import { type ChildMeter, meterOf } from './child.ts';
import { type Followed, followTransactions } from './followed.ts';
import type { Flags, HookKind } from './rows.ts';

/** Node's flags in `npm start`. */
const startFlags = manifest.scripts.start.split(' ').filter((word) => word.startsWith('--'));

export const namespace = 'bench';
export const account = 'deployer';
export const loopLabel = 'bench.janus.io/loop';

export interface Engine {
  readonly meter: ChildMeter;
  readonly loop: LoopKind;
  readonly label: string;
  /** Of the hook. */
  readonly address: string;
}

export interface World {
  readonly client: Client;
  readonly kubeconfig: string;
  readonly followed: Followed;
  /** The audit log, if asked for. */
  readonly auditLog: string | undefined;
  /** Started on first use. */
  engine(hook: HookKind, flags: Flags): Promise<Engine>;
}

export interface WorldOptions {
  readonly audit?: boolean;
  /** Where the engine's process puts a CPU profile at its end. */
  readonly profile?: string | undefined;
  /** Stands between the loop and the hook, for a trace: given the hook's address, gives its own. */
  readonly between?: (address: string) => Promise<string>;
}

export async function startWorld(undo: Undo, options: WorldOptions = {}): Promise<World> {
  const controlPlane = await startControlPlane(options.audit === true ? { audit: 'Metadata' } : {});
  undo.add(() => controlPlane.stop());
  const { kubeconfig, auditLog } = controlPlane;
  const client = connect(kubeconfig);
  undo.add(() => client.close());
  await installManifests(client);
  await createAccount(client);
  const followed = await followTransactions(kubeconfig);
  undo.add(() => followed.stop());
  const engines = enginesOf({ client, kubeconfig, undo, options });
  return { client, kubeconfig, followed, auditLog, engine: engines };
}

async function createAccount(client: Client): Promise<void> {
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

async function startKind(kind: HookKind, { client, kubeconfig, undo, options }: Starting) {
  const profiling = options.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`];
  const how = kind === 'bare' ? { program: 'scripts/bench/bare-hook.ts' } : { flags: [...startFlags, ...profiling] };
  const hook = await startHook(client, kubeconfig, undo, how);
  const address = (await options.between?.(hook.address)) ?? hook.address;
  return { address, meter: meterOf(hook.process) };
}
