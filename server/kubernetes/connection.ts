// Where the API server is and how to prove who we are: client-node's KubeConfig with all its ways (client certificate,
// token, token file, exec plugin, OIDC, in-cluster), as plain values for our own requests.

import type { RequestOptions } from 'node:https';
import { delimiter } from 'node:path';
import type { KubeConfig as Config } from '@kubernetes/client-node';
import { KubeConfig } from './kube-config.ts';

/** What a TLS connection is made with. A change (a rotated certificate) asks for new connections. */
export interface TlsSettings {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsSettings;
}

export interface Connection {
  /** Base address; a path in it (a gateway's) stands before every path of the API. */
  readonly server: URL;
  /** The credentials to use now. Rejects when they cannot be had (an exec plugin failed, a file is gone). */
  credentials(): Promise<Credentials>;
  /** The same, where they are at hand. */
  known(): Credentials | undefined;
  /** To be called on 401: the next credentials are read anew. */
  refused(): void;
}

const longestUse = 5_000;

interface Current {
  readonly until: number;
  readonly credentials: Promise<Credentials>;
  known: Credentials | undefined;
}

/**
 * The connection that a kubeconfig describes (several paths as kubectl joins them), or the Pod's own without one. Throws
 * with a sentence for people when it cannot be used.
 */
export function loadConnection(source: { readonly kubeconfig?: string }): Connection {
  const load = () => loadKubeConfig(source.kubeconfig);
  const server = serverOf(load());
  let current: Current | undefined;
  let config = load();
  let reload = false;
  const renew = async () => {
    if (reload) config = load();
    reload = false;
    return credentialsOf(config);
  };
  return {
    server,
    credentials() {
      if (current !== undefined && performance.now() < current.until) return current.credentials;
      const asked: Current = { until: performance.now() + longestUse, credentials: renew(), known: undefined };
      current = asked;
      asked.credentials.then(
        (credentials) => {
          asked.known = credentials;
        },
        () => {
          current = undefined;
        },
      );
      return asked.credentials;
    },
    known: () => (current !== undefined && performance.now() < current.until ? current.known : undefined),
    refused() {
      current = undefined;
      reload = true;
    },
  };
}

function loadKubeConfig(kubeconfig: string | undefined): Config {
  const config = new KubeConfig();
  if (kubeconfig === undefined) {
    config.loadFromCluster();
    return config;
  }
  const [first, ...others] = kubeconfig.split(delimiter).filter((path) => path !== '');
  if (first === undefined) throw new Error('expected the path of a kubeconfig file, found none');
  loadFile(config, first);
  for (const path of others) config.mergeConfig(loadFile(new KubeConfig(), path), true);
  return config;
}

// A parser's own message quotes the file, and the file holds tokens.
function loadFile(config: Config, path: string): Config {
  try {
    config.loadFromFile(path);
    return config;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'it is not a kubeconfig';
    throw new Error(`the file ${path} cannot be used (${code})`);
  }
}

function serverOf(config: Config): URL {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error(`the kubeconfig has no cluster for its current context "${config.getCurrentContext()}"`);
  if (cluster.proxyUrl !== undefined)
    throw new Error(`cluster "${cluster.name}" asks for a proxy, which is not supported: remove proxy-url`);
  if (config.getCurrentUser()?.impersonateUser !== undefined)
    throw new Error(
      'the kubeconfig asks to impersonate a user ("as"), which is not supported: targets are written by impersonation',
    );
  return new URL(cluster.server);
}

// client-node fills request options; the agent among them is for Node's own client, which frames bodies of DELETE badly.
async function credentialsOf(config: Config): Promise<Credentials> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const { ca, cert, key, servername, rejectUnauthorized } = options;
  return { headers: authorizationOf(options), tls: present({ ca, cert, key, servername, rejectUnauthorized }) };
}

// A token file may end in a line break, which no header can carry.
function authorizationOf(options: RequestOptions): Readonly<Record<string, string>> {
  const headers = new Map(Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const authorization = headers.get('authorization');
  return typeof authorization === 'string' ? { authorization: authorization.trim() } : {};
}

function present(settings: Readonly<Record<string, unknown>>): TlsSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined && value !== null));
}
