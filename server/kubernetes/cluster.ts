// Implements the engine's port over the real API server.
//
// 1. It retries no request, because the engine handles failures. Only a refused request is sent once more (unready.ts).
// 2. After `writeTimeout`, and 3 s for a new connection, have passed since `send`, a write has no effect: the process no longer sends it,
//    and the API server has given up on it.

import type {
  AccessAnswer,
  Answer,
  Cluster,
  Failed,
  Identity,
  ListAnswer,
  ListOptions,
  Resource,
  Write,
} from '../../hooks/objects/cluster.ts';
import { at, objectsAt, textAt } from '../../hooks/objects/json.ts';
import { limits } from '../../hooks/objects/limits.ts';
import { explained } from './apply-refusals.ts';
import type { Connection } from './connection.ts';
import { createDiscovery } from './discovery.ts';
import { unreadable } from './failures.ts';
import type { IsLate } from './head-first.ts';
import { collectionPath, objectPath } from './paths.ts';
import type { PoolOptions } from './pools.ts';
import { isReadable } from './readable-metadata.ts';
import { withRefusedParty } from './refused-party.ts';
import { type ApiRequest, accessReview, logRequest, metadataListOnly, metadataOnly, requestOfWrite } from './requests.ts';
import { createTransport, failed, type Received, type Transport } from './transport.ts';
import { withProvenRefusals } from './unready.ts';

export interface ClusterOptions extends Partial<PoolOptions> {
  /** A write has no effect after this time since `send`, in ms. */
  readonly writeTimeout: number;
  /** Wraps the transport, for example to count its requests. */
  readonly instrument?: (transport: Transport) => Transport;
}

export interface KubernetesCluster extends Cluster {
  /** The connection without the port's types, for example for Events. */
  readonly transport: Transport;
  /** Closes the connections when all requests are answered. */
  close(): Promise<void>;
}

const engine: Identity = { kind: 'engine' };
const longestAnswer = 64 * 1024 * 1024;
/** An answer about one object, in bytes. etcd stores 1.5 MiB. JSON takes at most six times as many, because an escaped control character takes six bytes. */
const largestObject = 16 * 1024 * 1024;
const graceAfterWrite = 2_000; // the API server's answer to a write that it gave up on must still arrive

export function createCluster(connection: Connection, options: ClusterOptions): KubernetesCluster {
  const requestTimeout = options.writeTimeout + graceAfterWrite;
  const plain = createTransport(connection, { connections: limits.requests.value, longestAnswer, requestTimeout, ...options });
  const transport = withRefusedParty(withProvenRefusals(options.instrument?.(plain) ?? plain));
  const discovery = createDiscovery((request) => transport.request(request, engine));
  const ask = async (request: ApiRequest, identity: Identity) => answerOf(await transport.request(request, identity));
  const write = async (intent: Write, dryRun: boolean, isLate?: IsLate) => {
    const request = { ...requestOfWrite(intent, { timeout: options.writeTimeout, dryRun }), mostBytes: largestObject };
    const answer = withWarnings(await transport.request(request, intent.identity, isLate));
    return withUnknownKind(intent, withOwnConflicts(intent, answer), discovery.isServed);
  };
  const tryOut = (intent: Write) => write(intent, true);
  return {
    transport,
    get: async (location, identity) =>
      named(await ask({ method: 'GET', path: objectPath(location), mostBytes: largestObject }, identity)),
    getMetadata: (location, identity) =>
      ask({ method: 'GET', path: objectPath(location), accept: metadataOnly, mostBytes: largestObject }, identity),
    async listMetadata(resource, namespace, identity, options) {
      const query = queryOf(options);
      const path = collectionPath(resource, namespace);
      const bound = options.mostBytes === undefined ? {} : { mostBytes: options.mostBytes };
      const request = { method: 'GET', path, query, ...bound } as const;
      if (options.whole !== true) return listOf(await transport.request({ ...request, accept: metadataListOnly }, identity));
      return withKind(listOf(await transport.request(request, identity)), resource);
    },
    resource: discovery.resource,
    resources: discovery.resources,
    async allowed(question, identity) {
      return accessOf(await transport.request(accessReview({ ...question }), identity));
    },
    async logs(query, identity) {
      const answer = await transport.request(logRequest(query), identity);
      return answer.kind === 'failed' ? answer : { kind: 'ok', text: textAt(answer.body, 'text') ?? '' };
    },
    dryRun: async (intent) => explained(intent, await tryOut(intent), tryOut),
    send: async (intent, isLate) => explained(intent, await write(intent, false, isLate), tryOut),
    close: () => transport.close(),
  };
}

function answerOf(received: Received | Failed): Answer {
  if (received.kind === 'failed') return received;
  if (!isReadable(received.body)) return failed(unreadable(200));
  return { kind: 'ok', object: received.body, serverTime: received.serverTime };
}

// The API server warns of a deprecated kind at each read, too.
function withWarnings(received: Received | Failed): Answer {
  const answer = answerOf(received);
  if (answer.kind === 'failed' || received.kind === 'failed' || received.warnings === undefined) return answer;
  return { ...answer, warnings: received.warnings };
}

function named(answer: Answer): Answer {
  if (answer.kind === 'ok' || answer.failure.reason !== 'AnswerTooLarge') return answer;
  return {
    kind: 'failed',
    failure: { ...answer.failure, said: `it is larger than ${largestObject} bytes, or takes three times as many of memory` },
  };
}

// Only an apply without force conflicts with field managers. In the answer to any other write, a webhook has written these causes.
function withOwnConflicts(intent: Write, answer: Answer): Answer {
  if (answer.kind === 'ok' || (intent.verb === 'apply' && intent.failOnConflict === true)) return answer;
  const { conflicts: _words, ...failure } = answer.failure;
  return { kind: 'failed', failure };
}

// A 404 that names no object says that the kind is not served, or a webhook has written it: so discovery decides.
async function withUnknownKind(
  { location: { resource } }: Write,
  answer: Answer,
  isServed: (resource: Resource) => Promise<boolean>,
): Promise<Answer> {
  if (answer.kind === 'ok' || answer.failure.kind !== 'absent' || answer.failure.subject !== undefined) return answer;
  if (await isServed(resource)) return answer;
  const { kind, group, version } = resource;
  const message = `the API server no longer serves kind ${kind} of ${group === '' ? version : `${group}/${version}`}`;
  return failed({ ...answer.failure, reason: 'UnknownKind', message });
}

function queryOf({ limit, labelSelector, fieldSelector, name, from }: ListOptions): Readonly<Record<string, string>> {
  const fields = {
    limit: limit?.toString(),
    labelSelector,
    fieldSelector: name === undefined ? fieldSelector : `metadata.name=${name}`,
    continue: from,
  };
  return Object.fromEntries(Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}

function listOf(received: Received | Failed): ListAnswer {
  if (received.kind === 'failed') return received;
  const next = textAt(received.body, 'metadata', 'continue') ?? '';
  const items = objectsAt(received.body, 'items');
  if (!items.every(isReadable)) return failed(unreadable(200));
  return {
    kind: 'ok',
    items,
    complete: next === '',
    next,
    size: received.size,
    serverTime: received.serverTime,
  };
}

// The API server names the kind for the list, not for each item.
function withKind(list: ListAnswer, { group, version, kind }: Resource): ListAnswer {
  if (list.kind === 'failed') return list;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return { ...list, items: list.items.map((item) => ({ apiVersion, kind, ...item })) };
}

function accessOf(received: Received | Failed): AccessAnswer {
  if (received.kind === 'failed') return received;
  return { kind: 'ok', allowed: at(received.body, 'status', 'allowed') === true };
}
