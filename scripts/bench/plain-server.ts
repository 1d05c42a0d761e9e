// The web server of the hooks that the bench compares with the engine. Its configuration is that of server/main.ts.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { at, type Json, type JsonObject, parseJson } from '../../hooks/objects/json.ts';

/** From the Transaction of a call to its next status. */
type PlainStep = (parent: Json) => Promise<JsonObject>;

/** Listens at PORT and HOST, and prints `<name> listening at <address>`. Lets a deleted Transaction go at once. */
export function servePlainly(name: string, step: PlainStep): void {
  const server = createServer((request, response) => {
    const isCall = request.url === '/sync' || request.url === '/finalize';
    const answered = isCall
      ? bodyOf(request).then((body) => answer(body, request.url === '/finalize', step))
      : Promise.resolve({});
    answered.then(
      (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.keepAliveTimeout = 100_000;
  process.on('SIGTERM', () => process.exit(0));
  server.listen(Number(process.env.PORT), process.env.HOST, () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`${name} listening at http://127.0.0.1:${port}\n`);
  });
}

async function bodyOf(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return parseJson(Buffer.concat(chunks).toString());
}

async function answer(call: Json, finalizing: boolean, step: PlainStep): Promise<JsonObject> {
  process.stdout.write('{"msg":"step"}\n');
  const parent = at(call, 'parent') ?? {};
  const status = finalizing ? (at(parent, 'status') ?? {}) : await step(parent);
  return { status, children: [], ...(finalizing ? { finalized: true } : {}) };
}
