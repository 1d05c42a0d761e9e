// Replicas behind one address, like a Service: each call goes to the next replica, and to the one after that if it does not answer.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface InTurn {
  readonly address: string;
  close(): Promise<void>;
}

/**
 * `addresses` is called for each call. `pick` selects one of `count` hooks for call `number`; in turn by default. One that gives no answer for
 * `patience` ms counts as one that does not. `note` gets path and body of each call, which waits until it is done.
 */
export async function startInTurn(
  addresses: () => readonly string[],
  pick = (count: number, number: number): number => number % count,
  patience = 0,
  note: (path: string, body: Buffer) => unknown = () => undefined,
): Promise<InTurn> {
  let calls = 0;
  const server = createServer(async (incoming, outgoing) => {
    calls += 1;
    const body = Buffer.concat(await incoming.toArray());
    await note(incoming.url ?? '', body);
    const known = addresses();
    const first = pick(known.length, calls);
    const order = [...known.slice(first), ...known.slice(0, first)];
    await passOn(order, (address) => ask(address, incoming, { body, patience }), outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function passOn(
  order: readonly string[],
  ask: (address: string) => Promise<IncomingMessage | undefined>,
  outgoing: ServerResponse,
): Promise<void> {
  for (const address of order) {
    const answer = await ask(address);
    if (answer === undefined) continue;
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
    return;
  }
  outgoing.writeHead(503).end();
}

interface Asking {
  readonly body: Buffer;
  readonly patience: number;
}

/** Undefined if no process listens. If a process ends in the middle, the call ends too. */
function ask(
  address: string,
  { method, url, headers }: IncomingMessage,
  { body, patience }: Asking,
): Promise<IncomingMessage | undefined> {
  return new Promise((resolve) => {
    const asked = request(new URL(url ?? '/', address), {
      method: method ?? 'POST',
      headers: { ...headers, connection: 'close' },
      timeout: patience,
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer in time')));
    asked.on('response', resolve);
    asked.on('error', () => resolve(undefined));
    asked.end(body);
  });
}
