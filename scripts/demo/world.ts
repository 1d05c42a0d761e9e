// Starts the environment of the demo: control plane, manifests, hook, and Metacontroller's loop.
import { type ControlPlane, startControlPlane } from '../../test/controlplane/start.ts';
import { type Client, connect } from '../../test/support/client.ts';
import { hookToken } from '../../test/support/hook-token.ts';
import { installManifests } from '../../test/support/install.ts';
import { findMetacontroller } from '../../test/support/metacontroller/binary.ts';
import { type Loop, type LoopKind, startLoop } from '../../test/support/metacontroller/loop.ts';
import { type HookOptions, type RunningHook, startHook } from './hook.ts';
import { explain, heading, literal, progress } from './terminal.ts';
import type { Undo } from './undo.ts';

export interface World {
  readonly client: Client;
  readonly kubeconfig: string;
  readonly hook: RunningHook;
}

export async function startWorld(undo: Undo, options: HookOptions = {}): Promise<World> {
  heading('Getting ready');
  explain('The demo starts a Kubernetes control plane on this machine. It does not touch any other cluster.');
  const { kubeconfig } = await openControlPlane(undo);
  const client = connect(kubeconfig);
  undo.add(() => client.close());
  return install({ client, kubeconfig }, undo, options);
}

/** Installs into a cluster, and starts the hook and the loop on this machine. */
export async function install(
  { client, kubeconfig }: Pick<World, 'client' | 'kubeconfig'>,
  undo: Undo,
  options: HookOptions & { readonly loop?: LoopKind } = {},
): Promise<World> {
  await installManifests(client);
  progress('installed from manifests/: the Transaction kind, the namespace janus-system, the rights of the engine');
  const hook = await startHook(client, kubeconfig, undo, options);
  const hookUrl = hook.address;
  progress(`the hook, server/main.ts, listens at ${hookUrl}`);
  const kind = options.loop === undefined ? {} : { kind: options.loop };
  const loop = await startLoop({ kubeconfig, hookUrl, token: hookToken, name: 'janus', ...kind });
  undo.add(() => loop.stop());
  progress(describeLoop(loop));
  return { client, kubeconfig, hook };
}

async function openControlPlane(undo: Undo): Promise<ControlPlane> {
  const controlPlane = await startControlPlane({ report: progress });
  undo.add(() => controlPlane.stop());
  progress(`etcd, kube-apiserver and kube-controller-manager run: ${controlPlane.url}`);
  progress('there are no nodes, so Deployments are rolled out but their Pods do not run; to look on from another terminal:');
  literal(`export KUBECONFIG=${controlPlane.kubeconfig}`);
  return controlPlane;
}

function describeLoop({ kind }: Loop): string {
  return kind === 'metacontroller'
    ? `the loop: the real Metacontroller, ${findMetacontroller()}`
    : 'the loop: a double of Metacontroller from test/support (METACONTROLLER=<path of the program> would use the real one)';
}
