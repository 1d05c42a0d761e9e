// An aggregated API server on loopback, which serves one kind without objects, and may go away and come back.
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeCertificate } from './certificate.ts';

interface Aggregated {
  readonly port: number;
  /** From now on it answers, or refuses, every request. */
  answer(isThere: boolean): void;
  stop(): Promise<void>;
}

export async function startAggregated(group: string, plural: string, kind: string): Promise<Aggregated> {
  const apiVersion = `${group}/v1`;
  const verbs = ['get', 'list', 'watch', 'delete'];
  const resources = {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersion,
    resources: [{ name: plural, singularName: '', namespaced: true, kind, verbs }],
  };
  const list = { apiVersion, kind: `${kind}List`, metadata: { resourceVersion: '1' }, items: [] };
  const state = { isThere: true };
  const bodyOf = (path: string) => {
    if (path === `/apis/${apiVersion}`) return resources;
    return path.endsWith(`/${plural}`) ? list : undefined;
  };
  const { certificate: cert, key } = makeCertificate();
  const server: Server = createServer({ cert, key }, ({ url = '' }, response) => {
    const body = state.isThere ? bodyOf(url.split('?')[0] ?? '') : undefined;
    const code = state.isThere ? 404 : 503;
    response.writeHead(body === undefined ? code : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    answer(isThere) {
      state.isThere = isThere;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
