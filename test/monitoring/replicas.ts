// Replicas of the hook as processes, behind one address that calls them in turn, as a Service does. Each keeps an address of its own
// for Prometheus, whichever process is behind it now.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { type RunningHook, startHook } from '../../scripts/demo/hook.ts';
import { createUndo } from '../../scripts/demo/undo.ts';
import type { Client, Teardown } from '../support/client.ts';

interface Replicas {
  /** Calls to it go to one replica after the other. */
  readonly url: string;
  /** Path at that address where the replica of that number has its metrics. */
  metricsPath(index: number): string;
  metrics(index: number): Promise<string>;
  /** Ends a replica as Kubernetes does, and starts another in its place. */
  restart(index: number): Promise<void>;
}

export async function startReplicas(t: Teardown, client: Client, kubeconfig: string, count: number): Promise<Replicas> {
  const undo = createUndo();
  t.teardown(() => undo.run());
  const start = (): Promise<RunningHook> => startHook(client, kubeconfig, undo);
  const running: RunningHook[] = [];
  for (let index = 0; index < count; index += 1) running.push(await start());
  let calls = 0;
  const target = (path: string): string => {
    const [, number, rest] = /^\/replica\/(\d+)(\/.*)$/.exec(path) ?? [];
    const index = number === undefined ? calls++ % count : Number(number);
    return `${running[index]?.address}${rest ?? path}`;
  };
  const server = createServer((incoming, outgoing) => {
    forward(incoming, outgoing, target(incoming.url ?? '/')).catch(() => outgoing.writeHead(502).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.closeAllConnections());
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const metricsPath = (index: number): string => `/replica/${index}/metrics`;
  return {
    url,
    metricsPath,
    metrics: async (index) => (await request(`${url}${metricsPath(index)}`)).body.text(),
    async restart(index) {
      const before = running[index]?.process;
      const ended = new Promise((resolve) => before?.once('exit', resolve));
      before?.kill('SIGTERM');
      await ended;
      running[index] = await start();
    },
  };
}

async function forward(incoming: IncomingMessage, outgoing: ServerResponse, url: string): Promise<void> {
  const { 'content-type': type = '', authorization = '', accept = '' } = incoming.headers;
  const headers = { 'content-type': type, authorization, accept };
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const isPost = incoming.method === 'POST';
  const answer = await request(url, { method: isPost ? 'POST' : 'GET', headers, body: isPost ? Buffer.concat(chunks) : null });
  const body = await answer.body.text();
  for (const name of ['content-type', 'retry-after']) {
    const value = answer.headers[name];
    if (value !== undefined) outgoing.setHeader(name, value);
  }
  outgoing.writeHead(answer.statusCode).end(body);
}
