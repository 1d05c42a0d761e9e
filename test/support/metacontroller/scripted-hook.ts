// For tests of the loop itself: a hook with scripted answers, and a parent kind like Transaction but smaller. Each test creates its
// own kind, so that its loop sees no objects but its own.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import process from 'node:process';
import { isObject, type JsonObject, parseJson, textAt } from '../../../hooks/objects/json.ts';
import { type Client, must, type Teardown, waitFor } from '../client.ts';
import { findMetacontroller } from './binary.ts';
import type { LoopKind } from './loop.ts';
import { listPath, objectPath, type ParentResource } from './parents.ts';

/** Both loops if a real Metacontroller is installed. */
export const loopKinds: readonly LoopKind[] = findMetacontroller() === undefined ? ['double'] : ['double', 'metacontroller'];

export function kubeconfigOfTests(): string {
  const path = process.env.JANUS_TEST_KUBECONFIG ?? process.env.KUBECONFIG;
  if (path === undefined)
    throw new Error('JANUS_TEST_KUBECONFIG or KUBECONFIG: expected a kubeconfig of a control plane for tests, found neither');
  return path;
}

export interface Received {
  /** ms of performance.now() */
  readonly at: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly request: JsonObject;
  readonly parent: JsonObject;
  /** Aborted when the caller gives up. */
  readonly signal: AbortSignal;
}

export interface Scripted {
  readonly code?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonObject | string;
}

interface ScriptedHook {
  readonly url: string;
  readonly received: readonly Received[];
  stop(): Promise<void>;
}

/** `answer` may wait. It gets the calls as they come, each with its 1-based number for that parent. */
export async function startScriptedHook(
  answer: (call: Received, number: number) => Scripted | Promise<Scripted>,
): Promise<ScriptedHook> {
  const received: Received[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const givenUp = new AbortController();
    response.once('close', () => givenUp.abort());
    const call = { ...(await receive(request)), signal: givenUp.signal };
    received.push(call);
    const { code = 200, headers = {}, body } = await answer(call, received.filter((one) => isSameParent(one, call)).length);
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
  server.keepAliveTimeout = 95_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const stop = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${port}`, received, stop };
}

function isSameParent(left: Received, right: Received): boolean {
  return textAt(left.parent, 'metadata', 'uid') === textAt(right.parent, 'metadata', 'uid');
}

async function receive(request: IncomingMessage): Promise<Omit<Received, 'signal'>> {
  const at = performance.now();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = parseJson(Buffer.concat(chunks).toString('utf8'));
  const whole = isObject(body) ? body : {};
  const parent = isObject(whole.parent) ? whole.parent : {};
  return { at, path: request.url ?? '', headers: request.headers, request: whole, parent };
}

/** A kind `transactions` with the spec and status of the recordings, and with the version rule for the status. */
export async function installParentKind(
  client: Client,
  t: Teardown,
  scope: 'Namespaced' | 'Cluster' = 'Namespaced',
): Promise<ParentResource> {
  const group = `r${randomBytes(4).toString('hex')}.recording.tx.janus.io`;
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  must(await client.create(path, parentDefinition(group, scope)));
  const resource = { apiVersion: `${group}/v1`, resource: 'transactions' };
  t.teardown(async () => {
    await releaseParents(client, resource);
    await client.delete(`${path}/transactions.${group}`);
  });
  await waitFor(async () => (await client.get(`/apis/${group}/v1/transactions`)).code === 200, `${group} to be served`);
  return resource;
}

// A stopped loop leaves its finalizers: with them, neither the kind nor the namespace could be deleted.
async function releaseParents(client: Client, resource: ParentResource): Promise<void> {
  for (const parent of (await client.list(listPath(resource))).items)
    await client.patch(objectPath(resource, parent), { metadata: { finalizers: null } });
}

const versionRule =
  '!has(oldSelf.status) || !has(oldSelf.status.version) || (has(self.status) && has(self.status.version) && ' +
  '(self.status.version > oldSelf.status.version || ' +
  '(self.status.version == oldSelf.status.version && self.status.phase == oldSelf.status.phase)))';

function parentDefinition(group: string, scope: string): JsonObject {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const status = {
    ...open,
    properties: { phase: { type: 'string' }, version: { type: 'integer' }, observedGeneration: { type: 'integer' } },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `transactions.${group}` },
    spec: {
      group,
      names: { kind: 'Transaction', plural: 'transactions' },
      scope,
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: open, status },
              'x-kubernetes-validations': [{ rule: versionRule, message: 'status.version must grow with every change of phase' }],
            },
          },
        },
      ],
    },
  };
}
