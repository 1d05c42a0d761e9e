// What a kubeconfig says, for tests. One with a token and an authority, as our own control planes have, is read here. Any other one is
// client-node's: to load it takes most of a second of processor time, and two hundred test processes would each spend it.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type Connection, type Credentials, createConnection } from '../../server/kubernetes/connection.ts';

interface Access {
  readonly url: string;
  credentials(): Promise<Credentials>;
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
  return { url, credentials: async () => (isPlain ? plain(authority, token) : byClientNode(path)) };
}

function plain(authority: string, token: string): Credentials {
  return { headers: { authorization: `Bearer ${token}` }, tls: { ca: Buffer.from(authority, 'base64') } };
}

async function byClientNode(path: string): Promise<Credentials> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const { credentialsOf } = await import('../../server/kubernetes/kubeconfig-connection.ts');
  const config = new KubeConfig();
  config.loadFromFile(path);
  return credentialsOf(config);
}

/** The port's connection as whom a kubeconfig names; test/server/kubernetes tests the product's own way to read one. */
export function connectionOf(kubeconfig: string): Connection {
  return createConnection(() => {
    const { url, credentials } = readAccess(kubeconfig);
    return { server: new URL(url), read: credentials };
  });
}
