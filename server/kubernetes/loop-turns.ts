// Runs long work of many callers one after the other, with a turn of the event loop between them, so that the hook answers probes.
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
