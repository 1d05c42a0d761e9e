// Parses the sources of one call, one after the other: so a call waits for other Transactions only, and not for long. What it has parsed is
// remembered for the next call (server/manifests/texts.ts).
import type { Clock, Manifest, Manifests } from '../cluster.ts';
import type { Asker } from '../model/asker.ts';

/** Ms that one source waits for its turn. */
const longestTurn = 500;

/** Ms for all sources of a call; after that they are parsed only where nobody else is there. */
const longest = 3_000;

export type Parse = (bytes: Uint8Array, asker: Asker) => Promise<Manifest | 'late'>;

export function parseInTurn(manifests: Manifests, clock: Pick<Clock, 'monotonic'>): Parse {
  let left = longest;
  let last: Promise<unknown> = Promise.resolve();
  return (bytes, asker) => {
    const next = last.then(async () => {
      const began = clock.monotonic();
      const read = await manifests.parse(bytes, asker, Math.max(0, Math.min(longestTurn, Math.round(left))));
      left = read === 'late' ? 0 : left - (clock.monotonic() - began);
      return read;
    });
    last = next.catch(() => undefined);
    return next;
  };
}
