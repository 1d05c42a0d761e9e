// Answers that are known already: an expression over an object that has not changed has the same answer. And what took long is evaluated
// less often, so that one expression takes at most a twentieth of the thread's time.
import { createHash } from 'node:crypto';
import type { Evaluated } from '../../hooks/model/gate.ts';
import { type JsonObject, textAt } from '../../hooks/model/json.ts';

interface Known {
  readonly resourceVersion: string;
  readonly answer: Evaluated;
  /** When another version of the object may be evaluated. */
  readonly next: number;
}

interface Answers {
  /** `late`: it is too early to evaluate the expression over another version of the object. Undefined if nothing is known. */
  find(text: string, object: JsonObject): Evaluated | 'late' | undefined;
  /** `took`: ms that the evaluation took. */
  keep(text: string, object: JsonObject, answer: Evaluated, took: number): void;
}

const pauses = 20;

export function rememberAnswers(most = 2_000, now: () => number = () => performance.now()): Answers {
  const known = new Map<string, Known>();
  return {
    find(text, object) {
      const found = known.get(keyOf(text, object) ?? '');
      if (found === undefined) return undefined;
      if (found.resourceVersion === textAt(object, 'metadata', 'resourceVersion')) return found.answer;
      return now() < found.next ? 'late' : undefined;
    },
    keep(text, object, answer, took) {
      const [key, resourceVersion] = [keyOf(text, object), textAt(object, 'metadata', 'resourceVersion')];
      if (key === undefined || resourceVersion === undefined) return;
      known.delete(key);
      known.set(key, { resourceVersion, answer, next: now() + pauses * took });
      const [oldest] = known.keys();
      if (known.size > most && oldest !== undefined) known.delete(oldest);
    },
  };
}

function keyOf(text: string, object: JsonObject): string | undefined {
  const uid = textAt(object, 'metadata', 'uid');
  return uid === undefined ? undefined : `${uid} ${createHash('sha256').update(text).digest('base64')}`;
}
