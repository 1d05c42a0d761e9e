// Caches answers to YAML texts. If a call has no time for all texts of its Transaction, the next call continues there. All answers
// together have a bound. An answer that was used lately keeps its place. Otherwise Transactions could evict each other's answers forever.
import { createHash } from 'node:crypto';
import type { Requester } from '../../hooks/objects/cluster.ts';
import type { YamlAnswer } from '../yaml.ts';

interface Texts {
  find(requester: Requester, text: string): YamlAnswer | undefined;
  keep(requester: Requester, text: string, answer: YamlAnswer): void;
}

interface Known {
  readonly answer: YamlAnswer;
  readonly size: number;
  readonly used: number;
}

/** The bound of characters: more than the sources of one Transaction have (mostSourcesBytes). */
const mostCharacters = 16 * 1024 * 1024;

/** An answer keeps its place for this time after its last use, in ms. It is longer than the wait of a late Transaction. */
const lasting = 10_000;

export function rememberTexts(most = mostCharacters, now: () => number = () => performance.now()): Texts {
  const known = new Map<string, Known>();
  let characters = 0;
  const drop = (key: string, { size }: Known): void => {
    known.delete(key);
    characters -= size;
  };
  const dropUnused = (): void => {
    for (const [key, one] of known) {
      if (one.used + lasting > now()) return;
      drop(key, one);
    }
  };
  return {
    find(requester, text) {
      const key = keyOf(requester, text);
      const found = known.get(key);
      if (found === undefined) return undefined;
      // The last entry of the map is the one that was used last.
      known.delete(key);
      known.set(key, { ...found, used: now() });
      return found.answer;
    },
    keep(requester, text, answer) {
      dropUnused();
      const size = answer.kind === 'json' ? answer.text.length : answer.why.length;
      if (characters + size > most) return;
      const key = keyOf(requester, text);
      const before = known.get(key);
      if (before !== undefined) drop(key, before);
      known.set(key, { answer, size, used: now() });
      characters += size;
    },
  };
}

/** A Transaction gets only its own answers. */
function keyOf({ uid }: Requester, text: string): string {
  return `${uid} ${createHash('sha256').update(text).digest('base64')}`;
}
