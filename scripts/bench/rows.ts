// What can be measured, by name. `npm run bench` takes the usual ones, `--rows` any.

/** `requests` makes the requests of the engine and nothing else. */
export type HookKind = 'janus' | 'bare' | 'requests';
export type Flags = 'tuned' | 'default';

export interface Row {
  readonly name: string;
  /** Changes in each Transaction. */
  readonly changes: number;
  readonly transactions: number;
  /** How many of them at once. */
  readonly concurrency: number;
  readonly hook: HookKind;
  /** Of Metacontroller. */
  readonly flags: Flags;
  /** Each is undone again, which is measured beside. */
  readonly undo?: boolean;
  /** Beside many finished ones (scripts/bench/finished.ts), which also measures itself. */
  readonly finished?: boolean;
  /** Only if named by `--rows`. */
  readonly onDemand?: boolean;
}

const one = { transactions: 1, concurrency: 1, hook: 'janus', flags: 'tuned' } as const;
const bare = { ...one, hook: 'bare' } as const;
const requests = { ...one, hook: 'requests' } as const;
const warmUp = { changes: 5, transactions: 100, concurrency: 10 } as const;

export const rows: readonly Row[] = [
  { ...one, name: 'tiny', changes: 2, onDemand: true },
  { ...requests, name: 'requests-tiny', changes: 2, onDemand: true },
  // A hook mostly has run for a while: its first calls take several times as long, and with them the others would not compare.
  { ...one, name: 'warm-up', ...warmUp },
  { ...requests, name: 'requests-warm-up', ...warmUp },
  { ...bare, name: 'bare-warm-up', ...warmUp },
  { ...requests, name: 'requests-3', changes: 3, transactions: 20 },
  { ...bare, name: 'bare-3', changes: 3, transactions: 20 },
  { ...one, name: '3', changes: 3, transactions: 20 },
  { ...requests, name: 'requests-10', changes: 10, transactions: 10 },
  { ...bare, name: 'bare-10', changes: 10, transactions: 10 },
  { ...one, name: '10', changes: 10, transactions: 10 },
  { ...requests, name: 'requests-100', changes: 100, transactions: 2 },
  { ...bare, name: 'bare-100', changes: 100, transactions: 2 },
  { ...one, name: '100', changes: 100, transactions: 2, undo: true },
  { ...one, name: '200', changes: 200 },
  { ...requests, name: 'requests-many', changes: 3, transactions: 100, concurrency: 100 },
  { ...bare, name: 'bare-many', changes: 3, transactions: 100, concurrency: 100 },
  { ...one, name: 'many', changes: 3, transactions: 100, concurrency: 100 },
  { ...one, name: 'thousand', changes: 3, transactions: 1000, concurrency: 1000, onDemand: true },
  // Whether the first thousand have left anything in the hook.
  { ...one, name: 'thousand-again', changes: 3, transactions: 1000, concurrency: 1000, onDemand: true },
  { ...one, name: '500', changes: 500, onDemand: true },
  { ...one, name: 'finished', changes: 3, finished: true, onDemand: true },
  { ...one, name: 'default-flags', changes: 3, transactions: 3, flags: 'default', onDemand: true },
];

/** The rows of these names, in the order of the list; the usual ones without names. Throws on a name that is none. */
export function chosenRows(names: readonly string[]): readonly Row[] {
  const unknown = names.filter((name) => !rows.some((row) => row.name === name));
  if (unknown.length > 0)
    throw new Error(`expected rows out of ${rows.map(({ name }) => name).join(', ')}; found ${unknown.join(', ')}`);
  return names.length === 0 ? rows.filter(({ onDemand }) => onDemand !== true) : rows.filter(({ name }) => names.includes(name));
}
