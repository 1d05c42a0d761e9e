// The connection that a kubeconfig describes. client-node's KubeConfig reads it, with all its ways to authenticate (client
// certificate, token, token file, exec plugin, OIDC).
import { delimiter } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import type { Connection } from './connection.ts';
import { connectionOf } from './kubeconfig-connection.ts';
import { completeUsers } from './kubeconfig-users.ts';

/** `paths`: joined as for kubectl. Throws a message for people if the kubeconfig cannot be used. */
export function kubeconfigConnection(paths: string): Connection {
  return connectionOf(() => loadKubeconfig(paths));
}

function loadKubeconfig(paths: string): KubeConfig {
  const [first, ...others] = paths.split(delimiter).filter((path) => path !== '');
  if (first === undefined) throw new Error('expected the path of a kubeconfig file, found none');
  const config = loadFile(new KubeConfig(), first);
  for (const path of others) config.mergeConfig(loadFile(new KubeConfig(), path), true);
  refuseUnusable(config);
  return config;
}

// A parser's own message quotes the file, and the file holds tokens.
function loadFile(config: KubeConfig, path: string): KubeConfig {
  try {
    config.loadFromFile(path);
    completeUsers(config, path);
    return config;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'it is not a kubeconfig';
    throw new Error(`the file ${path} cannot be used (${code})`);
  }
}

function refuseUnusable(config: KubeConfig): void {
  const cluster = config.getCurrentCluster();
  if (cluster?.proxyUrl !== undefined && cluster.proxyUrl !== '')
    throw new Error(`cluster "${cluster.name}" requires a proxy, which is not supported: remove proxy-url`);
  const context = config.getContextObject(config.getCurrentContext());
  if (context?.user !== undefined && config.getCurrentUser() === null)
    throw new Error(`context "${context.name}" names the user "${context.user}", who is not there: correct it`);
  if (config.getCurrentUser()?.impersonateUser !== undefined)
    throw new Error(
      'the kubeconfig impersonates a user ("as"), which is not supported: the hook itself impersonates ServiceAccounts; remove "as"',
    );
}
