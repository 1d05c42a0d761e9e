// The connection that a kubeconfig describes, for the hook and for the command line.
import type { RequestOptions } from 'node:https';
import { delimiter } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import {
  type Connection,
  type CredentialSource,
  type Credentials,
  createConnection,
  emptyToken,
  type TlsSettings,
} from './connection.ts';
import { readKubeconfigs, refuseUnusable } from './kubeconfig.ts';

/** The connection of the hook. `paths`: joined as in KUBECONFIG. Throws a sentence for the user if the kubeconfig cannot be used. */
export function kubeconfigConnection(paths: string): Connection {
  return connectionOf(() => loadKubeconfig(paths.split(delimiter).filter((path) => path !== '')));
}

function loadKubeconfig(paths: readonly string[]): KubeConfig {
  if (paths.length === 0) throw new Error('expected the path of a kubeconfig file, found none');
  const config = readKubeconfigs(paths);
  refuseUnusable(config, paths.join(' and '));
  const { name, proxyUrl = '' } = config.getCurrentCluster() ?? {};
  if (proxyUrl !== '') throw new Error(`cluster "${name}" requires a proxy, which is not supported: remove proxy-url`);
  if (config.getCurrentUser()?.impersonateUser !== undefined)
    throw new Error(
      'the kubeconfig impersonates a user ("as"), which is not supported: the hook itself impersonates ServiceAccounts; remove "as"',
    );
  return config;
}

/** Calls `load` at once, and again after each 401. Throws the error of `load`, and also if its current context has no cluster. */
export function connectionOf(load: () => KubeConfig): Connection {
  return createConnection(() => sourceOf(load()));
}

function sourceOf(config: KubeConfig): CredentialSource {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error(`the kubeconfig has no cluster for its current context "${config.getCurrentContext()}"`);
  const { server, proxyUrl } = cluster;
  const proxy = proxyUrl === undefined || proxyUrl === '' ? {} : { proxy: proxyUrl };
  return { server: new URL(server), ...proxy, read: () => credentialsOf(config) };
}

// client-node sets request options. Its agent is for Node's own client, which frames the bodies of DELETE requests badly.
export async function credentialsOf(config: KubeConfig): Promise<Credentials> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const { ca, cert, key, servername, rejectUnauthorized } = options;
  const headers = { ...basicOf(options), ...headersOf(options) };
  if (authenticates(config) && headers.authorization === undefined && cert === undefined) throw new Error(emptyToken);
  return { headers, tls: present({ ca, cert, key, servername, rejectUnauthorized }) };
}

/** Whether the user authenticates by a token, or by a plugin. If the token is empty, client-node sends none. */
function authenticates(config: KubeConfig): boolean {
  const { token, authProvider, exec } = config.getCurrentUser() ?? {};
  return [token, authProvider, exec].some((way) => way !== undefined && way !== null);
}

// For a gateway in front of the API server. The API server itself does not support passwords.
function basicOf({ auth }: RequestOptions): Readonly<Record<string, string>> {
  return typeof auth === 'string' ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
}

const used = ['authorization', 'impersonate-user'];

// A token file may end in a line break, which a header cannot contain.
function headersOf(options: RequestOptions): Readonly<Record<string, string>> {
  const headers = Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(
    headers.flatMap(([name, value]) => (used.includes(name) && typeof value === 'string' ? [[name, value.trim()]] : [])),
  );
}

function present(settings: Readonly<Record<string, unknown>>): TlsSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined && value !== null));
}
