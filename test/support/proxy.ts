// An HTTP proxy, by TLS with a certificate: it joins its callers with hosts by CONNECT, counts, and can cut all that it has joined.
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Certificate } from './certificate.ts';
import type { Teardown } from './client.ts';

interface Proxy {
  readonly url: string;
  /** Hosts that it was asked for, so far. */
  readonly asked: readonly string[];
  /** Ends every connection that is open now; new ones are made as before. Returns how many. */
  cut(): number;
}

export async function startProxy(t: Teardown, own?: Certificate): Promise<Proxy> {
  const asked: string[] = [];
  const open = new Set<Socket>();
  const server = own === undefined ? createServer() : createTlsServer({ cert: own.certificate, key: own.key });
  server.on('request', (_, answer) => answer.writeHead(405).end());
  server.on('connect', (request, caller: Socket) => {
    asked.push(request.url ?? '');
    const [host = '', port = ''] = (request.url ?? '').split(':');
    const behind = connect(Number(port), host, () => {
      caller.write('HTTP/1.1 200 Connection established\r\n\r\n');
      behind.pipe(caller).pipe(behind);
    });
    for (const socket of [caller, behind]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        for (const other of [caller, behind]) other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): number => {
    const count = open.size;
    for (const socket of open) socket.destroy();
    return count;
  };
  t.teardown(() => {
    server.close();
    cut();
  });
  return { url: `${own === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, cut };
}
