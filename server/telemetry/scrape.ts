// Reads the cluster's gauges when Prometheus scrapes, at most once in a few seconds. A read never takes longer than a scrape may take.
import type { Stored } from '../../hooks/transactions/call.ts';
import type { MetricDefinitions, Source } from './definitions.ts';
import type { Inventory, TransactionInventory } from './inventory.ts';
import type { PackageInventory } from './package-inventory.ts';
import type { Active } from './rows.ts';
import type { UnconfirmedReplies } from './unconfirmed.ts';

interface ScrapeParts {
  readonly definitions: MetricDefinitions;
  readonly unconfirmed: UnconfirmedReplies;
  readonly inventory: Inventory;
  readonly monotonic: () => number;
  readonly count: (stored: Stored) => void;
}

/** Resolves when the gauges are up to date, or the API server has not answered in time. Never rejects. */
type Scrape = () => Promise<void>;

const freshFor = 5_000;
const longestWaitMs = 8_000; // Prometheus waits 10 s by default
const unconfirmedFor = 10_000;
const mostReads = 200;

export function createScrape(parts: ScrapeParts): Scrape {
  const { definitions, inventory, monotonic } = parts;
  let latest: { readonly at: number; readonly done: Promise<unknown> } | undefined;
  const readAll = () => {
    const transactions = inventory.transactions();
    const packages = inventory.packages;
    return Promise.all([
      ...(packages === undefined
        ? []
        : [refresh(definitions, 'packages', packages(), (found) => setPackages(definitions, found))]),
      refresh(definitions, 'transactions', transactions, (found) => setTransactions(definitions, found)),
      refresh(definitions, 'locks', inventory.locks(transactions), (found) => setLocks(definitions, found)),
      refresh(definitions, 'replies', confirmReplies(parts), () => undefined),
    ]);
  };
  return async () => {
    if (latest === undefined || monotonic() - latest.at >= freshFor) latest = { at: monotonic(), done: readAll() };
    await latest.done;
  };
}

/** Sets the gauges of a source to the values that were read, or removes them. */
async function refresh<Found>(
  definitions: MetricDefinitions,
  source: Source,
  read: Promise<Found | undefined>,
  set: (found: Found) => void,
): Promise<void> {
  const found = await within(longestWaitMs, read);
  clear[source](definitions);
  if (found === undefined) definitions.scrapeErrors.inc({ source });
  else set(found);
}

async function within<Found>(milliseconds: number, read: Promise<Found | undefined>): Promise<Found | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await Promise.race([read.catch(() => undefined), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads Transactions whose next call may have gone to another replica. */
async function confirmReplies({ unconfirmed, inventory, count }: ScrapeParts): Promise<true | undefined> {
  const confirmed = await Promise.all(
    unconfirmed.waiting(unconfirmedFor, mostReads).map(async (reply) => {
      const version = await inventory.version(reply);
      const stored = version === undefined ? undefined : unconfirmed.confirm(reply.uid, version);
      if (stored !== undefined) count(stored);
      return version !== undefined;
    }),
  );
  return confirmed.every(Boolean) || undefined;
}

const clear: Readonly<Record<Source, (definitions: MetricDefinitions) => void>> = {
  transactions({ active, oldestActive, unrestored }) {
    for (const gauge of [active, oldestActive, unrestored]) gauge.reset();
  },
  // `reset` sets a gauge without labels to 0, which would look like a value.
  locks({ locksHeld, oldestLock }) {
    for (const gauge of [locksHeld, oldestLock]) gauge.remove();
  },
  replies: () => undefined,
  packages({ packagesActive, oldestPackage, ownPackages, oldestDeletion }) {
    for (const gauge of [packagesActive, oldestPackage, ownPackages]) gauge.reset();
    oldestDeletion.remove();
  },
};

function setTransactions({ active, oldestActive, unrestored }: MetricDefinitions, found: TransactionInventory): void {
  for (const [phase, { count, oldest }] of found.byPhase) {
    active.set({ phase }, count);
    oldestActive.set({ phase }, oldest);
  }
  for (const [reason, count] of found.unrestored) unrestored.set({ reason }, count);
}

function setPackages(definitions: MetricDefinitions, { byPhase, own }: PackageInventory): void {
  const { packagesActive, oldestPackage, ownPackages, oldestDeletion } = definitions;
  for (const [phase, { count, oldest }] of byPhase) {
    packagesActive.set({ phase }, count);
    oldestPackage.set({ phase }, oldest);
  }
  for (const [state, { count }] of own) ownPackages.set({ state }, count);
  const deleting = own.get('Deleting');
  if (deleting !== undefined) oldestDeletion.set(deleting.oldest);
}

function setLocks({ locksHeld, oldestLock }: MetricDefinitions, { count, oldest }: Active): void {
  locksHeld.set(count);
  oldestLock.set(oldest);
}
