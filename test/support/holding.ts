// In front of an API server, by TLS with a certificate of its own: it hands on every request, but for those that it holds.
import type { IncomingMessage } from 'node:http';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { makeCertificate } from './certificate.ts';
import type { Teardown } from './client.ts';
import { readAccess } from './kubeconfig.ts';

interface Holding {
  /** That of the API server, with this server in its place. */
  readonly kubeconfig: JsonObject;
  /** Resolves once a request is held. */
  readonly arrived: Promise<void>;
  /** Ends every connection: the API server never sees the held requests. */
  drop(): void;
}

export async function startHolding(
  t: Teardown,
  path: string,
  isHeld: (asked: Pick<IncomingMessage, 'method' | 'url'>) => boolean,
): Promise<Holding> {
  const { url, credentials } = readAccess(path);
  const { headers, tls } = await credentials();
  const own = makeCertificate();
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const server = createServer({ cert: own.certificate, key: own.key }, (asked, answer) => {
    if (isHeld(asked)) return arrive();
    const { method, rawHeaders } = asked;
    const onward = request(new URL(asked.url ?? '/', url), { method, headers: rawHeaders, ...tls }, (answered) => {
      answer.writeHead(answered.statusCode ?? 502, answered.rawHeaders);
      pipeline(answered, answer, () => undefined);
    });
    pipeline(asked, onward, (error) => error && answer.destroy());
    onward.on('error', () => answer.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const drop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  t.teardown(drop);
  const cluster = {
    server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    'certificate-authority-data': Buffer.from(own.certificate).toString('base64'),
  };
  const token = String(headers.authorization ?? '').replace('Bearer ', '');
  const kubeconfig = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'held' },
    clusters: [{ name: 'held', cluster }],
    users: [{ name: 'held', user: { token } }],
    contexts: [{ name: 'held', context: { cluster: 'held', user: 'held' } }],
  };
  return { kubeconfig, arrived, drop };
}
