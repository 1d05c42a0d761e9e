// Keeps replies until their status is known to be stored. A reply may be lost, or given twice. It counts once its status is found in the
// API server: by the next call for that Transaction, or by a read if that call went to another replica.
import type { StepReport, Stored } from '../../hooks/transactions/call.ts';

interface UnconfirmedReply {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

interface Entry extends UnconfirmedReply {
  readonly version: number;
  readonly stored: Stored;
  readonly since: number;
}

export interface UnconfirmedReplies {
  /** Records this reply. Returns the previous reply if its status has been stored since. */
  record(report: StepReport): Stored | undefined;
  /** Forgets the latest reply about a Transaction, because its caller had disconnected. */
  forget(uid: string): void;
  /** At most `most` replies that have been unconfirmed for `olderThan` ms, the oldest first. */
  waiting(olderThan: number, most: number): readonly UnconfirmedReply[];
  /** Confirms or drops a reply by the version stored now. A deleted Transaction was terminal before, so all of it was stored. */
  confirm(uid: string, version: number | 'gone'): Stored | undefined;
}

/** Above this number the oldest replies are dropped, and do not count. */
const mostUnconfirmed = 20_000;

export function createUnconfirmedReplies(monotonic: () => number): UnconfirmedReplies {
  const entries = new Map<string, Entry>();
  const take = (uid: string): Entry | undefined => {
    const entry = entries.get(uid);
    entries.delete(uid);
    return entry;
  };
  // If a reply is newer than the stored status, it was lost, or will be given again.
  const storedBy = (entry: Entry | undefined, version: number) =>
    entry !== undefined && entry.version <= version ? entry.stored : undefined;
  return {
    record({ namespace, name, uid, foundVersion, version, stored }) {
      const before = take(uid);
      if (version > foundVersion) entries.set(uid, { namespace, name, uid, version, stored, since: monotonic() });
      const oldest = entries.keys().next();
      if (entries.size > mostUnconfirmed && !oldest.done) entries.delete(oldest.value);
      return storedBy(before, foundVersion);
    },
    forget(uid) {
      entries.delete(uid);
    },
    waiting(olderThan, most) {
      const before = monotonic() - olderThan;
      return [...entries.values()].filter(({ since }) => since <= before).slice(0, most);
    },
    confirm: (uid, version) => storedBy(take(uid), version === 'gone' ? Number.POSITIVE_INFINITY : version),
  };
}
