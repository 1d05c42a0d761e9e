// Finds the cluster as kubectl does: --kubeconfig, else the merged files of KUBECONFIG, else ~/.kube/config, else the files of a Pod.
import { existsSync, readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
// Imports one file, because the main module of the package loads the models of every kind, and takes twice as long.
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { readKubeconfigs, refuseUnusable } from '../../server/kubernetes/kubeconfig.ts';
import { Problem } from '../problem.ts';
import { prepareOidc } from './oidc.ts';
import { authorityIn, trust } from './trust.ts';

export interface Place {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Throws a Problem if there is no file, a file cannot be used, or the context does not exist. */
export function loadKubeConfig(place: Place, env: Environment): KubeConfig {
  const paths = pathsOf(place, env);
  const config = paths.length === 0 ? inCluster(env) : asProblem(() => readKubeconfigs(paths));
  if (place.context !== undefined) config.setCurrentContext(place.context);
  asProblem(() => refuseUnusable(config, paths.join(' and ') || 'of this Pod'));
  withoutSlash(config);
  prepareOidc(config, paths[0]);
  trustProxy(config);
  return config;
}

/** Names of all contexts. Throws a Problem. */
export function contextsIn(place: Place, env: Environment): readonly string[] {
  return asProblem(() => readKubeconfigs(pathsOf(place, env))).contexts.map(({ name }) => name);
}

function asProblem<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new Problem(error instanceof Error ? error.message : String(error));
  }
}

function pathsOf({ kubeconfig }: Place, env: Environment): readonly string[] {
  if (kubeconfig !== undefined) return [kubeconfig];
  const named = (env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  if (named.length > 0) return found(named);
  return [join(env.HOME ?? homedir(), '.kube', 'config')].filter((path) => existsSync(path));
}

// kubectl ignores a file that does not exist, so that KUBECONFIG may name a file that a tool will write.
function found(paths: readonly string[]): readonly string[] {
  const existing = paths.filter((path) => existsSync(path));
  if (existing.length > 0) return existing;
  throw new Problem(`KUBECONFIG names ${paths.join(' and ')}, and no such file exists: correct it, or give --kubeconfig FILE.`);
}

const podFiles = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Like client-go's InClusterConfig and kubectl, it reads the address from the environment, and token, CA and namespace from files. */
function inCluster(env: Environment): KubeConfig {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (host === '') throw new Problem('There is no kubeconfig: set KUBECONFIG, give --kubeconfig FILE, or write ~/.kube/config.');
  const [token, caFile, namespace] = ['token', 'ca.crt', 'namespace'].map((name) =>
    join(env.JANUS_SERVICE_ACCOUNT_DIRECTORY ?? podFiles, name),
  ) as [string, string, string];
  const name = 'in-cluster';
  const own = existsSync(namespace) ? { namespace: readFileSync(namespace, 'utf8').trim() } : {};
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name, server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`, caFile, skipTLSVerify: false }],
    users: [{ name, authProvider: { name: 'tokenFile', config: { tokenFile: token } } }],
    contexts: [{ name, cluster: name, user: name, ...own }],
    currentContext: name,
  });
  return config;
}

/** client-node's Watch appends the path to the server as it is written. */
function withoutSlash(config: KubeConfig): void {
  const cluster = config.getCurrentCluster();
  if (cluster !== null) Object.assign(cluster, { server: cluster.server.replace(/\/+$/, '') });
}

/**
 * As for kubectl, the authority of the cluster, or one that this process trusts, may sign the certificate of an HTTPS proxy. client-node
 * and undici use the authority of the cluster only for the API server.
 */
function trustProxy(config: KubeConfig): void {
  const { proxyUrl = '', caData, caFile } = config.getCurrentCluster() ?? {};
  if (!proxyUrl.startsWith('https:')) return;
  if (caData !== undefined) trust(Buffer.from(caData, 'base64').toString());
  else if (caFile !== undefined && existsSync(caFile)) trust(authorityIn(caFile, 'certificate-authority'));
}
