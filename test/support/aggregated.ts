// An aggregated API server on loopback, which serves one kind without objects, and may go away and come back.
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeCertificate } from './certificate.ts';

type How = boolean | 'endless' | 'never';

interface Aggregated {
  readonly port: number;
  /** From now on it answers, or refuses, every request; or all but lists, which have no end, or no answer. */
  answer(how: How): void;
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
  let how: How = true;
  const { certificate: cert, key } = makeCertificate();
  const server: Server = createServer({ cert, key }, ({ url = '' }, response) => {
    const path = url.split('?')[0] ?? '';
    const known = [resources, list].find((_, index) => path.endsWith([`/apis/${apiVersion}`, `/${plural}`][index] ?? ''));
    const [code, body] = answerTo(how, known) ?? [];
    if (code !== undefined) response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    answer(now) {
      how = now;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Code and body; undefined for no answer. */
function answerTo(how: How, asked: object | undefined): [number, object] | undefined {
  if (how === false) return [503, {}];
  if (asked === undefined) return [404, {}];
  if (!('items' in asked)) return [200, asked];
  if (how === 'never') return undefined;
  return [200, how === true ? asked : { ...asked, metadata: { resourceVersion: '1', continue: 'more' } }];
}
