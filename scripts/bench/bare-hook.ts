// What the engine is compared with: a hook that does nothing but one apply patch a call and the status of it. No locks, no
// snapshots, no checks, no undo. Configured as server/main.ts is.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { at, isList, isObject, type Json, type JsonObject, parseJson, textAt } from '../../hooks/model/json.ts';
import { connect, must } from '../../test/support/client.ts';

const client = connect(process.env.KUBECONFIG ?? '');
const server = createServer((request, response) => {
  const isCall = request.url === '/sync' || request.url === '/finalize';
  const answered = isCall ? bodyOf(request).then((body) => answer(body, request.url === '/finalize')) : Promise.resolve({});
  answered.then(
    (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});
server.keepAliveTimeout = 100_000;
process.on('SIGTERM', () => process.exit(0));
server.listen(Number(process.env.PORT), process.env.HOST, () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`bare hook listening at http://127.0.0.1:${port}\n`);
});

async function bodyOf(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return parseJson(Buffer.concat(chunks).toString());
}

async function answer(call: Json, finalizing: boolean): Promise<JsonObject> {
  process.stdout.write('{"msg":"step"}\n');
  const parent = at(call, 'parent') ?? {};
  const status = finalizing ? (at(parent, 'status') ?? {}) : await step(parent);
  return { status, children: [], ...(finalizing ? { finalized: true } : {}) };
}

/** `version` counts the changes that are applied. */
async function step(parent: Json): Promise<JsonObject> {
  const changes = at(parent, 'spec', 'changes');
  const all = isList(changes) ? changes : [];
  const version = at(parent, 'status', 'version');
  const done = typeof version === 'number' ? version : 0;
  const change = all[done];
  if (change === undefined) return statusOf(done, all.length);
  await apply(change, parent);
  return statusOf(done + 1, all.length);
}

async function apply(change: Json, parent: Json): Promise<void> {
  const namespace = textAt(parent, 'metadata', 'namespace') ?? '';
  const [name = '', content] = [textAt(change, 'target', 'name'), at(change, 'content')];
  const object = { ...(isObject(content) ? content : {}), apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
  const account = client.asServiceAccount(namespace, textAt(parent, 'spec', 'serviceAccountName') ?? '');
  must(await account.apply(`/api/v1/namespaces/${namespace}/configmaps/${name}`, object, { fieldManager: 'bare' }));
}

function statusOf(done: number, all: number): JsonObject {
  const isOver = done === all;
  const condition = { type: 'Finished', status: isOver ? 'True' : 'False', reason: 'Bare', message: '' };
  return {
    phase: isOver ? 'Committed' : 'Committing',
    version: Math.max(1, done),
    progress: `${done}/${all}`,
    conditions: [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }],
  };
}
