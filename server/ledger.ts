// What was answered and is not yet known to be stored. An answer may get lost, or be given twice: it counts once its status is
// found in the API server, by the next call for that Transaction or, where another replica got that, by looking it up.
import type { StepReport, Stored } from '../hooks/call.ts';

/** An answer of which it is not known whether it was stored. */
export interface OpenEntry {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

interface Entry extends OpenEntry {
  readonly version: number;
  readonly stored: Stored;
  readonly since: number;
}

export interface Ledger {
  /** Enters what this call has answered; gives what was open and is known to be stored by what the call has found. */
  enter(report: StepReport): Stored | undefined;
  /** Takes back what was answered last about the Transaction: nobody was there to hear it. */
  lost(uid: string): void;
  /** Entries that have been open for so many ms, the oldest first. */
  open(olderThan: number, most: number): readonly OpenEntry[];
  /** By the version that is stored now. A Transaction that is gone was at rest before, so all of it was stored. */
  settle(uid: string, version: number | 'gone'): Stored | undefined;
}

/** Beyond it the oldest are forgotten, and not counted. */
const mostOpen = 20_000;

export function createLedger(monotonic: () => number): Ledger {
  const entries = new Map<string, Entry>();
  const take = (uid: string): Entry | undefined => {
    const entry = entries.get(uid);
    entries.delete(uid);
    return entry;
  };
  // What is newer than what is stored came to nothing, or is answered again.
  const storedBy = (entry: Entry | undefined, version: number) =>
    entry !== undefined && entry.version <= version ? entry.stored : undefined;
  return {
    enter({ namespace, name, uid, foundVersion, version, stored }) {
      const before = take(uid);
      if (version > foundVersion) entries.set(uid, { namespace, name, uid, version, stored, since: monotonic() });
      const oldest = entries.keys().next();
      if (entries.size > mostOpen && !oldest.done) entries.delete(oldest.value);
      return storedBy(before, foundVersion);
    },
    lost(uid) {
      entries.delete(uid);
    },
    open(olderThan, most) {
      const before = monotonic() - olderThan;
      return [...entries.values()].filter(({ since }) => since <= before).slice(0, most);
    },
    settle: (uid, version) => storedBy(take(uid), version === 'gone' ? Number.POSITIVE_INFINITY : version),
  };
}
