// Lets long work of many callers run one after the other, with a turn of the event loop between them: probes are answered meanwhile.
import { setImmediate } from 'node:timers/promises';

interface LoopTurns {
  /** Resolves in a turn of the event loop that no other caller of these turns has. */
  next(): Promise<void>;
}

export function createLoopTurns(): LoopTurns {
  let last = Promise.resolve();
  return {
    next() {
      last = last.then(() => setImmediate());
      return last;
    },
  };
}
