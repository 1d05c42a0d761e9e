// Which cluster to use: one of our own by default; an existing one only if that is said in so many words. KUBECONFIG alone
// is never enough: people have production in it.
import { existsSync } from 'node:fs';
import { KubeConfig } from '@kubernetes/client-node';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from './start.ts';

export const existingClusterFlag = '--use-existing-cluster';

/** Whether the command line or `JANUS_USE_EXISTING_CLUSTER=1` asks for the cluster that KUBECONFIG names. */
export function asksForExistingCluster(args: readonly string[], env: NodeJS.ProcessEnv): boolean {
  return args.includes(existingClusterFlag) || env.JANUS_USE_EXISTING_CLUSTER === '1';
}

/** Starts a control plane, or, where asked for, connects to the existing cluster; says on stderr which one it is. */
export async function openCluster(
  args: readonly string[],
  options: ControlPlaneOptions = {},
  env = process.env,
): Promise<ControlPlane> {
  const report = options.report ?? ((line: string) => process.stderr.write(`${line}\n`));
  if (asksForExistingCluster(args, env)) return existingCluster(env.KUBECONFIG ?? '', report);
  if (env.KUBECONFIG) report(`Not using the cluster of KUBECONFIG=${env.KUBECONFIG}: ${existingClusterFlag} would.`);
  const controlPlane = await startControlPlane(options);
  report(`Using a control plane of our own: ${controlPlane.url}`);
  return controlPlane;
}

function existingCluster(kubeconfig: string, report: (line: string) => void): ControlPlane {
  if (kubeconfig === '' || !existsSync(kubeconfig))
    throw new Error(
      `${existingClusterFlag}: KUBECONFIG must name one file that exists; found "${kubeconfig}". Set it, or leave the flag out.`,
    );
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const url = config.getCurrentCluster()?.server;
  if (url === undefined)
    throw new Error(`${existingClusterFlag}: the current context of ${kubeconfig} names no cluster; set one.`);
  report(`USING THE EXISTING CLUSTER ${url} (context "${config.getCurrentContext()}" of ${kubeconfig}), as asked for.`);
  const notOurs = (): Promise<never> =>
    Promise.reject(new Error(`the cluster ${url} is not ours: its components are left alone`));
  return { kubeconfig, url, stop: () => Promise.resolve(), restart: notOurs, halt: notOurs, freeze: notOurs };
}
