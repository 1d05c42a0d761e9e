// The connection of a loaded kubeconfig, whoever loaded it: the hook (kubeconfig.ts) or the command line.
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import {
  type Connection,
  type CredentialSource,
  type Credentials,
  createConnection,
  emptyToken,
  type TlsSettings,
} from './connection.ts';

/** `load` is called at once, and again after each 401. Throws what it throws, and where its current context has no cluster. */
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

/** Whether the user is to be known by a token, or by what a plugin gives; client-node sends nothing where that is empty. */
function authenticates(config: KubeConfig): boolean {
  const { token, authProvider, exec } = config.getCurrentUser() ?? {};
  return [token, authProvider, exec].some((way) => way !== undefined && way !== null);
}

// For what stands before the API server, a gateway for instance: the API server itself knows no passwords.
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
