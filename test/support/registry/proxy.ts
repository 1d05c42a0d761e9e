// A proxy before a registry that misbehaves as each test says: it answers, cuts, delays, replaces and redirects.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Teardown } from '../client.ts';

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly host: string;
  readonly authorization: string | undefined;
}

interface Proxy {
  readonly origin: string;
  readonly host: string;
  /** Every request, in order. */
  readonly seen: Seen[];
  /** The most requests that were in progress at once. */
  mostAtOnce(): number;
  /** How many connections it has accepted. */
  connections(): number;
  /** Sets the behaviour from now on. */
  act(behaviour: Behaviour): void;
}

/** Returns true if it has answered; otherwise the request is passed on. */
export type Behaviour = (asked: IncomingMessage, answer: ServerResponse) => boolean;

export const passOn: Behaviour = () => false;

/** A proxy before that registry; without one, requests that are passed on get 404. */
export async function startProxy(t: Teardown, behind?: string, address = '127.0.0.1'): Promise<Proxy> {
  let behaviour: Behaviour = passOn;
  let [now, most] = [0, 0];
  const seen: Seen[] = [];
  const server = createServer((asked, answer) => {
    now += 1;
    most = Math.max(most, now);
    answer.on('close', () => {
      now -= 1;
    });
    const { host = '', authorization } = asked.headers;
    seen.push({ method: asked.method ?? '', path: asked.url ?? '', host, authorization });
    if (!behaviour(asked, answer)) pass(asked, answer, behind);
  });
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, address);
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `${address}:${(server.address() as AddressInfo).port}`;
  return {
    origin: `http://${host}`,
    host,
    seen,
    mostAtOnce: () => most,
    connections: () => connections,
    act(next) {
      behaviour = next;
    },
  };
}

function pass(asked: IncomingMessage, answer: ServerResponse, behind: string | undefined): void {
  if (behind === undefined) {
    answer.writeHead(404).end();
    return;
  }
  const onward = request(`${behind}${asked.url}`, { method: asked.method, headers: asked.headers }, (reply) => {
    answer.writeHead(reply.statusCode ?? 500, reply.headers);
    reply.pipe(answer);
  });
  onward.on('error', () => answer.destroy());
  asked.pipe(onward);
}

/** A code, with headers and a body. */
export function answering(code: number, headers: Readonly<Record<string, string>> = {}, body = ''): Behaviour {
  return (_asked, answer) => {
    answer.writeHead(code, headers).end(body);
    return true;
  };
}

/** Limits a behaviour to paths that match. */
export function where(pattern: RegExp, behaviour: Behaviour): Behaviour {
  return (asked, answer) => pattern.test(asked.url ?? '') && behaviour(asked, answer);
}
