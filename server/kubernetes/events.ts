// The story of a Transaction as Events, for `kubectl describe`. Best effort: telling never delays a step or fails it.
//
// 1. The name of an Event follows from what it tells, so that the same is there once, however often and by whomever it is told.
// 2. Within a second, which is the resolution of Events, their names are in the order of the story.
// 3. One writer for all; what waits for it is bounded.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Identity, Resource } from '../../hooks/cluster.ts';
import type { JsonObject } from '../../hooks/model/json.ts';
import { formatTime } from '../../hooks/model/timeouts.ts';
import { foreign } from '../../hooks/model/words.ts';
import { collectionPath } from './paths.ts';
import type { Transport } from './transport.ts';

/** One sentence about one Transaction. */
export interface Sentence {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** When, in ms since the epoch, by the API server's clock. */
  readonly at: number;
  /** Its place in the story: the version of the status that it tells of, and the place within that. */
  readonly place: readonly [version: number, index: number];
}

export interface Storyteller {
  /** Notes the sentence and returns at once. */
  tell(sentence: Sentence): void;
  /** Resolves once everything noted is written or dropped, at the latest after so many ms. */
  flush(timeout: number): Promise<void>;
}

const mostNoted = 1_000;
const longestMessage = 1_000;
const engine: Identity = { kind: 'engine' };
const events: Resource = {
  group: '',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
  verbs: ['create'],
  statusSubresource: false,
};

export function createStoryteller(transport: Transport): Storyteller {
  const noted = new Map<string, Sentence>();
  let writing: Promise<void> | undefined;

  const writeAll = async () => {
    for (let next = firstOf(noted); next !== undefined; next = firstOf(noted)) {
      const [name, sentence] = next;
      noted.delete(name);
      // There already, or refused: either way there is nothing to be done.
      await transport.request(creation(name, sentence), engine);
    }
    writing = undefined;
  };

  return {
    tell(sentence) {
      noted.set(eventName(sentence), sentence);
      const oldest = noted.keys().next();
      if (noted.size > mostNoted && !oldest.done) noted.delete(oldest.value);
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

function firstOf(noted: ReadonlyMap<string, Sentence>): readonly [string, Sentence] | undefined {
  const { done, value } = noted.entries().next();
  return done ? undefined : value;
}

function creation(name: string, sentence: Sentence) {
  return {
    method: 'POST',
    path: collectionPath(events, sentence.namespace),
    contentType: 'application/json',
    body: eventOf(name, sentence),
  } as const;
}

/** `deploy-v2.00007-1.3f9a2c1b`: the Transaction, the place in the story, a hash of the rest. */
function eventName({ name, uid, reason, message, place: [version, index] }: Sentence): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([uid, reason, message]))
    .digest('hex')
    .slice(0, 10);
  const suffix = `${String(version).padStart(5, '0')}-${index}.${hash}`;
  return `${name.slice(0, 253 - suffix.length - 1).replace(/[.-]+$/, '')}.${suffix}`;
}

function eventOf(name: string, sentence: Sentence): JsonObject {
  const at = formatTime(sentence.at);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: sentence.namespace },
    involvedObject: {
      apiVersion: 'tx.janus.io/v1alpha1',
      kind: 'Transaction',
      namespace: sentence.namespace,
      name: sentence.name,
      uid: sentence.uid,
    },
    type: sentence.type,
    reason: sentence.reason,
    message: foreign(sentence.message, longestMessage),
    source: { component: 'janus' },
    count: 1,
    firstTimestamp: at,
    lastTimestamp: at,
  };
}
