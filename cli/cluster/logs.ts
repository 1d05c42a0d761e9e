// What failed containers printed while gates were open: the rollback deletes their Pods. It is read as the user, and is best effort: the
// command shows what it could read, and never fails because of it.
import { setTimeout as sleep } from 'node:timers/promises';
import { at, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import type { FailedLog } from '../../hooks/transactions/inspection.ts';
import type { Session } from './session.ts';

/** ms between two reads while the Transaction does not change. */
const interval = 3_000;
/** ms for which the end of the command waits for a read. */
const patience = 2_000;

export interface FailureLogs {
  /** Each state of the Transaction, as it is followed. */
  see(transaction: JsonObject): void;
  /** Reads no more; returns what belongs to changes that have an error in this last state. */
  end(transaction: JsonObject): Promise<readonly FailedLog[]>;
}

export function followLogs({ cluster }: Pick<Session, 'cluster'>): FailureLogs {
  const found = new Map<number, FailedLog>();
  const clock = { sleep: (milliseconds: number) => sleep(milliseconds, undefined, { ref: false }) };
  let [latest, reading]: [JsonObject | undefined, Promise<void> | undefined] = [undefined, undefined];
  const read = async (transaction: JsonObject): Promise<void> => {
    // It is loaded only now: a command that follows nothing does not need the stages of the engine.
    const { failedLogs } = await import('../../hooks/transactions/inspect.ts');
    const logs = await failedLogs({ reader: cluster, clock }, transaction);
    for (const log of logs) found.set(log.index, log);
  };
  const start = (): void => {
    if (latest === undefined || reading !== undefined || textAt(latest, 'status', 'phase') !== 'Committing') return;
    reading = read(latest)
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
  };
  const timer = setInterval(start, interval);
  timer.unref();
  return {
    see(transaction) {
      latest = transaction;
      start();
    },
    async end(transaction) {
      clearInterval(timer);
      latest = undefined;
      await Promise.race([reading, clock.sleep(patience)]);
      const errors = listAt(transaction, 'status', 'items').map((item) => at(item, 'error'));
      return [...found.values()].filter(({ index }) => errors[index] !== undefined);
    },
  };
}
