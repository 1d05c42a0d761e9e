// The connection that a kubeconfig describes. client-node's KubeConfig reads it, with all its ways to authenticate (client
// certificate, token, token file, exec plugin, OIDC).
import type { RequestOptions } from 'node:https';
import { delimiter } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { type Connection, type CredentialSource, type Credentials, createConnection, type TlsSettings } from './connection.ts';

/** `paths`: joined as for kubectl. Throws a message for people if the kubeconfig cannot be used. */
export function kubeconfigConnection(paths: string): Connection {
  return createConnection(() => loadKubeconfig(paths));
}

function loadKubeconfig(paths: string): CredentialSource {
  const [first, ...others] = paths.split(delimiter).filter((path) => path !== '');
  if (first === undefined) throw new Error('expected the path of a kubeconfig file, found none');
  const config = loadFile(new KubeConfig(), first);
  for (const path of others) config.mergeConfig(loadFile(new KubeConfig(), path), true);
  return { server: serverOf(config), read: () => credentialsOf(config) };
}

// A parser's own message quotes the file, and the file holds tokens.
function loadFile(config: KubeConfig, path: string): KubeConfig {
  try {
    config.loadFromFile(path);
    return config;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'it is not a kubeconfig';
    throw new Error(`the file ${path} cannot be used (${code})`);
  }
}

function serverOf(config: KubeConfig): URL {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error(`the kubeconfig has no cluster for its current context "${config.getCurrentContext()}"`);
  if (cluster.proxyUrl !== undefined)
    throw new Error(`cluster "${cluster.name}" requires a proxy, which is not supported: remove proxy-url`);
  if (config.getCurrentUser()?.impersonateUser !== undefined)
    throw new Error(
      'the kubeconfig impersonates a user ("as"), which is not supported: the hook itself impersonates ServiceAccounts; remove "as"',
    );
  return new URL(cluster.server);
}

// client-node sets request options. Its agent is for Node's own client, which frames the bodies of DELETE requests badly.
export async function credentialsOf(config: KubeConfig): Promise<Credentials> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const { ca, cert, key, servername, rejectUnauthorized } = options;
  return { headers: authorizationOf(options), tls: present({ ca, cert, key, servername, rejectUnauthorized }) };
}

// A token file may end in a line break, which a header cannot contain.
function authorizationOf(options: RequestOptions): Readonly<Record<string, string>> {
  const headers = new Map(Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const authorization = headers.get('authorization');
  return typeof authorization === 'string' ? { authorization: authorization.trim() } : {};
}

function present(settings: Readonly<Record<string, unknown>>): TlsSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined && value !== null));
}
