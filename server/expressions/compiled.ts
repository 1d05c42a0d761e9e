// Texts that are expressions, so that a call which had no time for all texts of its Transaction goes on where the one before ended. Only
// that is remembered: what is no expression ends its Transaction.
import { createHash } from 'node:crypto';

interface Compiled {
  has(text: string): boolean;
  keep(text: string): void;
}

/** 20 Transactions with as many expressions as they may have. */
const mostTexts = 20_000;

export function rememberCompiled(most = mostTexts): Compiled {
  const known = new Set<string>();
  const keep = (key: string): void => {
    known.delete(key);
    known.add(key);
    const [oldest] = known;
    if (known.size > most && oldest !== undefined) known.delete(oldest);
  };
  return {
    has(text) {
      const key = digestOf(text);
      if (!known.has(key)) return false;
      keep(key);
      return true;
    },
    keep: (text) => keep(digestOf(text)),
  };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
