// What failed containers printed while gates were open: the rollback deletes their Pods. It is read as the user, and is best effort: the
// command shows what it could read, and never fails because of it.
import { setTimeout as sleep } from 'node:timers/promises';
import { at, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import type { FailedLog } from '../../hooks/transactions/inspection.ts';
import type { Followed } from './follow.ts';
import type { Session } from './session.ts';

/** ms between two reads while the Transaction does not change. */
const interval = 3_000;
/** ms for which the end of the command waits for a read. */
const patience = 2_000;

interface FailureLogs {
  /** The same states; meanwhile, it reads logs. */
  seeing(states: AsyncIterable<Followed>): AsyncGenerator<Followed>;
  /** After the last state: what belongs to changes that have an error in it. */
  end(): Promise<readonly FailedLog[]>;
}

export function followLogs({ cluster }: Pick<Session, 'cluster'>): FailureLogs {
  const found = new Map<number, FailedLog>();
  const clock = { sleep: (milliseconds: number) => sleep(milliseconds, undefined, { ref: false }) };
  let [latest, reading]: [JsonObject | undefined, Promise<void> | undefined] = [undefined, undefined];
  const read = async (transaction: JsonObject): Promise<void> => {
    // It is loaded only now: the help does not need the stages of the engine.
    const { failedLogs } = await import('../../hooks/transactions/inspect.ts');
    for (const log of await failedLogs({ reader: cluster, clock }, transaction)) found.set(log.index, log);
  };
  const start = (): void => {
    if (latest === undefined || reading !== undefined || !hasOpenGate(latest)) return;
    reading = read(latest)
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
  };
  return {
    async *seeing(states) {
      const timer = setInterval(start, interval);
      try {
        for await (const state of states) {
          latest = state.object ?? latest;
          start();
          yield state;
        }
      } finally {
        clearInterval(timer);
      }
    },
    async end() {
      await Promise.race([reading, clock.sleep(patience)]);
      const errors = listAt(latest, 'status', 'items').map((item) => at(item, 'error'));
      return [...found.values()].filter(({ index }) => errors[index] !== undefined);
    },
  };
}

function hasOpenGate(transaction: JsonObject): boolean {
  if (textAt(transaction, 'status', 'phase') !== 'Committing') return false;
  return listAt(transaction, 'status', 'items').some((item) => at(item, 'gate') !== undefined);
}
