// Caches answers: if an object has not changed, the answer of an expression has not changed. Slow expressions are evaluated less often,
// so that one expression takes at most a twentieth of the thread's time.
//
// A Transaction gets only its own answers. So no tenant can give an answer to another tenant, even if an API server repeats a uid. An
// object in another version of the API is another object, even if its resourceVersion is equal.
import { createHash } from 'node:crypto';
import type { ExpressionResult, Requester } from '../../hooks/objects/cluster.ts';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { createLruCache } from '../../hooks/objects/lru-cache.ts';

interface Known {
  readonly resourceVersion: string;
  readonly answer: ExpressionResult;
  /** The time from which on another version of the object may be evaluated. */
  readonly next: number;
}

interface Question {
  readonly requester: Requester;
  readonly text: string;
  readonly object: JsonObject;
}

interface Answers {
  /** `late`: it is too early to evaluate the expression over another version of the object. Undefined if nothing is known. */
  find(question: Question): ExpressionResult | 'late' | undefined;
  /** `took`: ms that the evaluation took. */
  keep(question: Question, answer: ExpressionResult, took: number): void;
}

const pauses = 20;

export function rememberAnswers(most = 2_000, now: () => number = () => performance.now()): Answers {
  const known = createLruCache<Known>({ most });
  return {
    find(question) {
      const found = known.get(keyOf(question) ?? '');
      if (found === undefined) return undefined;
      if (found.resourceVersion === textAt(question.object, 'metadata', 'resourceVersion')) return found.answer;
      return now() < found.next ? 'late' : undefined;
    },
    keep(question, answer, took) {
      const [key, resourceVersion] = [keyOf(question), textAt(question.object, 'metadata', 'resourceVersion')];
      if (key === undefined || resourceVersion === undefined) return;
      known.set(key, { resourceVersion, answer, next: now() + pauses * took });
    },
  };
}

function keyOf({ requester, text, object }: Question): string | undefined {
  const uid = textAt(object, 'metadata', 'uid');
  const digest = createHash('sha256').update(text).digest('base64');
  return uid === undefined ? undefined : [requester.uid, textAt(object, 'apiVersion'), uid, digest].join(' ');
}
