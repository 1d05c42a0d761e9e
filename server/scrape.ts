// What is asked of the API server when Prometheus asks us: at most once in a few seconds, and never for longer than a scrape has.
import type { Stored } from '../hooks/call.ts';
import type { Figures, Source } from './figures.ts';
import type { Census, TransactionCensus, UnderWay } from './kubernetes/census.ts';
import type { Ledger } from './ledger.ts';

export interface ScrapeParts {
  readonly figures: Figures;
  readonly ledger: Ledger;
  readonly census: Census;
  readonly monotonic: () => number;
  readonly count: (stored: Stored) => void;
}

/** Resolves when the gauges are as fresh as they get. Never rejects. */
export type Scrape = () => Promise<void>;

const freshFor = 5_000;
const longestWait = 8_000; // Prometheus waits 10 s by default
const openFor = 10_000;
const mostLookedUp = 200;

export function createScrape(parts: ScrapeParts): Scrape {
  const { figures, census, monotonic } = parts;
  let latest: { readonly at: number; readonly done: Promise<unknown> } | undefined;
  const take = () =>
    Promise.all([
      ask(figures, 'transactions', census.transactions(), (found) => showTransactions(figures, found)),
      ask(figures, 'locks', census.locks(), (found) => showLocks(figures, found)),
      ask(figures, 'answers', lookUp(parts), () => undefined),
    ]);
  return async () => {
    if (latest === undefined || monotonic() - latest.at >= freshFor) latest = { at: monotonic(), done: take() };
    await latest.done;
  };
}

/** Shows what was found, or nothing at all. */
async function ask<Found>(
  figures: Figures,
  source: Source,
  asked: Promise<Found | undefined>,
  show: (found: Found) => void,
): Promise<void> {
  const found = await within(longestWait, asked);
  clear[source](figures);
  if (found === undefined) figures.scrapeErrors.inc({ source });
  else show(found);
}

async function within<Found>(milliseconds: number, asked: Promise<Found | undefined>): Promise<Found | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await Promise.race([asked.catch(() => undefined), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Answers whose Transaction another replica has been called for since. */
async function lookUp({ ledger, census, count }: ScrapeParts): Promise<true | undefined> {
  const settled = await Promise.all(
    ledger.open(openFor, mostLookedUp).map(async (entry) => {
      const version = await census.version(entry);
      const stored = version === undefined ? undefined : ledger.settle(entry.uid, version);
      if (stored !== undefined) count(stored);
      return version !== undefined;
    }),
  );
  return settled.every(Boolean) || undefined;
}

const clear: Readonly<Record<Source, (figures: Figures) => void>> = {
  transactions({ active, oldest, left }) {
    for (const gauge of [active, oldest, left]) gauge.reset();
  },
  // A gauge without labels is reset to 0, which would be a figure.
  locks({ locksHeld, oldestLock }) {
    for (const gauge of [locksHeld, oldestLock]) gauge.remove();
  },
  answers: () => undefined,
};

function showTransactions({ active, oldest, left }: Figures, found: TransactionCensus): void {
  for (const [phase, underWay] of found.byPhase) {
    active.set({ phase }, underWay.count);
    oldest.set({ phase }, underWay.oldest);
  }
  for (const [reason, amount] of found.left) left.set({ reason }, amount);
}

function showLocks({ locksHeld, oldestLock }: Figures, { count, oldest }: UnderWay): void {
  locksHeld.set(count);
  oldestLock.set(oldest);
}
