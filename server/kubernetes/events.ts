// The story of a Transaction as Events, for `kubectl describe`. Best effort: telling never delays a step or fails it.
//
// 1. One writer for all; what waits for it is bounded, and the same sentence about the same Transaction waits once.
// 2. A sentence that comes again is counted in the Event that tells it already.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Failed, Identity, Resource } from '../../hooks/cluster.ts';
import type { JsonObject } from '../../hooks/model/json.ts';
import { collectionPath, objectPath } from './paths.ts';
import type { Received, Transport } from './transport.ts';

/** One sentence about one Transaction. */
export interface Sentence {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface Storyteller {
  /** Notes the sentence and returns at once. */
  tell(sentence: Sentence): void;
  /** Resolves once everything noted is written or dropped, at the latest after so many ms. */
  flush(timeout: number): Promise<void>;
}

interface Noted {
  readonly sentence: Sentence;
  readonly times: number;
}

interface Told {
  readonly event: string;
  readonly times: number;
  readonly first: string;
}

const mostNoted = 1_000;
const mostTold = 5_000;
const longestMessage = 1_000;
const engine: Identity = { kind: 'engine' };
const events: Resource = {
  group: '',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
  verbs: ['create', 'patch'],
  statusSubresource: false,
};

export function createStoryteller(transport: Transport): Storyteller {
  const noted = new Map<string, Noted>();
  const told = new Map<string, Told>();
  let writing: Promise<void> | undefined;

  const writeAll = async () => {
    for (let next = firstOf(noted); next !== undefined; next = firstOf(noted)) {
      const [key, note] = next;
      noted.delete(key);
      remember(told, key, await write(transport, note, told.get(key)));
    }
    writing = undefined;
  };

  return {
    tell(sentence) {
      const key = JSON.stringify([sentence.uid, sentence.type, sentence.reason, sentence.message]);
      noted.set(key, { sentence, times: (noted.get(key)?.times ?? 0) + 1 });
      dropOldest(noted, mostNoted);
      writing ??= writeAll();
    },
    async flush(timeout) {
      if (writing === undefined) return;
      const over = new AbortController();
      await Promise.race([writing, sleep(timeout, undefined, { signal: over.signal })]);
      over.abort();
    },
  };
}

function firstOf(noted: ReadonlyMap<string, Noted>): readonly [string, Noted] | undefined {
  const { done, value } = noted.entries().next();
  return done ? undefined : value;
}

function remember(told: Map<string, Told>, key: string, result: Told | undefined): void {
  told.delete(key);
  if (result !== undefined) told.set(key, result);
  dropOldest(told, mostTold);
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  const oldest = map.keys().next();
  if (map.size > most && !oldest.done) map.delete(oldest.value);
}

async function write(transport: Transport, note: Noted, before: Told | undefined): Promise<Told | undefined> {
  if (before === undefined) return create(transport, note);
  const times = before.times + note.times;
  const counted = await count(transport, note.sentence, { ...before, times });
  if (counted.kind === 'ok') return { ...before, times };
  return counted.failure.kind === 'absent' ? create(transport, note) : undefined;
}

async function create(transport: Transport, { sentence, times }: Noted): Promise<Told | undefined> {
  const told = { event: eventName(sentence.name), times, first: new Date().toISOString().replace(/\.\d+Z$/, 'Z') };
  const answer = await transport.request(
    {
      method: 'POST',
      path: collectionPath(events, sentence.namespace),
      contentType: 'application/json',
      body: eventOf(sentence, told),
    },
    engine,
  );
  return answer.kind === 'ok' ? told : undefined;
}

function count(transport: Transport, sentence: Sentence, told: Told): Promise<Received | Failed> {
  const path = objectPath({ resource: events, namespace: sentence.namespace, name: told.event });
  const body = { count: told.times, lastTimestamp: new Date().toISOString().replace(/\.\d+Z$/, 'Z') };
  return transport.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body }, engine);
}

function eventName(transaction: string): string {
  const suffix = randomBytes(8).toString('hex');
  return `${transaction.slice(0, 253 - suffix.length - 1).replace(/[.-]+$/, '')}.${suffix}`;
}

function eventOf(sentence: Sentence, told: Told): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: told.event, namespace: sentence.namespace },
    involvedObject: {
      apiVersion: 'tx.janus.io/v1alpha1',
      kind: 'Transaction',
      namespace: sentence.namespace,
      name: sentence.name,
      uid: sentence.uid,
    },
    type: sentence.type,
    reason: sentence.reason,
    message: sentence.message.slice(0, longestMessage),
    source: { component: 'janus' },
    count: told.times,
    firstTimestamp: told.first,
    lastTimestamp: told.first,
  };
}
