// Remembers texts that compile. If a call has no time for all texts of its Transaction, the next call continues there. Texts that do not
// compile are not remembered, because they end their Transaction.
import { createHash } from 'node:crypto';

interface Compiled {
  has(text: string): boolean;
  keep(text: string): void;
}

/** Enough for 20 Transactions with the largest number of expressions. */
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
