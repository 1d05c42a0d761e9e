// What a kubeconfig says, for tests. One with a token and an authority, as our own control planes have, is read here. Any other one is
// client-node's: to load it takes most of a second of processor time, and two hundred test processes would each spend it.
import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { parse } from 'yaml';
import { type Connection, createConnection } from '../../server/kubernetes/connection.ts';

interface Access {
  readonly url: string;
  /** How to connect and to authenticate, as client-node puts it. */
  options(): Promise<RequestOptions>;
}

type Cluster = { readonly server?: string; readonly 'certificate-authority-data'?: string };
type User = { readonly token?: string };

interface Kubeconfig {
  readonly clusters?: readonly { readonly name: string; readonly cluster: Cluster }[];
  readonly users?: readonly { readonly name: string; readonly user: User }[];
  readonly contexts?: readonly { readonly name: string; readonly context: { readonly cluster: string; readonly user: string } }[];
  readonly 'current-context'?: string;
}

/** Reads the file at once. Throws if its current context names no cluster. */
export function readAccess(path: string): Access {
  const config = parse(readFileSync(path, 'utf8')) as Kubeconfig;
  const context = config.contexts?.find(({ name }) => name === config['current-context'])?.context;
  const cluster = config.clusters?.find(({ name }) => name === context?.cluster)?.cluster;
  const user = config.users?.find(({ name }) => name === context?.user)?.user ?? {};
  const { server: url, 'certificate-authority-data': authority, ...others } = cluster ?? {};
  if (url === undefined) throw new Error(`kubeconfig ${path}: its current context names no cluster; set one`);
  const { token, ...ways } = user;
  const isPlain = authority !== undefined && token !== undefined && Object.keys({ ...others, ...ways }).length === 0;
  return { url, options: async () => (isPlain ? plain(authority, token) : byClientNode(path)) };
}

function plain(authority: string, token: string): RequestOptions {
  return { ca: Buffer.from(authority, 'base64'), headers: { authorization: `Bearer ${token}` } };
}

async function byClientNode(path: string): Promise<RequestOptions> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromFile(path);
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  return options;
}

/** The settings of TLS among them, without those that are absent. */
export function tlsOf({ ca, cert, key, rejectUnauthorized, servername }: RequestOptions): object {
  const settings = Object.entries({ ca, cert, key, rejectUnauthorized, servername });
  return Object.fromEntries(settings.filter(([, value]) => value !== undefined && value !== null));
}

/** The port's connection as whom a kubeconfig names; test/server/kubernetes tests the product's own way to read one. */
export function connectionOf(kubeconfig: string): Connection {
  return createConnection(() => {
    const { url, options } = readAccess(kubeconfig);
    const read = async () => {
      const security = await options();
      return { headers: { ...(security.headers as Readonly<Record<string, string>>) }, tls: tlsOf(security) };
    };
    return { server: new URL(url), read };
  });
}
