// The connection of a Pod. Kubernetes provides address, token and CA; the hook reads them as client-go's InClusterConfig does.
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { type Connection, type CredentialSource, createConnection } from './connection.ts';

export interface PodFiles {
  readonly kind: 'pod';
  /** Host and port of the API server. */
  readonly host: string;
  readonly port: string;
  /** The directory of `token` and `ca.crt`. */
  readonly directory: string;
}

export function podConnection(files: PodFiles): Connection {
  return createConnection(() => loadPod(files));
}

function loadPod({ host, port, directory }: PodFiles): CredentialSource {
  return {
    server: new URL(`https://${isIPv6(host) ? `[${host}]` : host}:${port}`),
    async read() {
      const [token, ca] = await Promise.all(['token', 'ca.crt'].map((name) => readFile(join(directory, name))));
      return { headers: { authorization: `Bearer ${String(token).trim()}` }, tls: { ca: ca ?? '' } };
    },
  };
}
