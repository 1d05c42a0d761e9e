// The rows of the bench, by name. `npm run bench` measures the usual rows; `--rows` measures any rows.

/** `requests` only makes the engine's requests; `against` is the engine of another checkout. */
export type HookKind = 'janus' | 'bare' | 'requests' | 'against';
/** A small Transaction beside the load of another tenant (scripts/bench/beside.ts). */
const besideRows = [
  'beside-nothing',
  'beside-80-expressions',
  'beside-40-of-45000-keys',
  'beside-1000-gates',
  'beside-50-large',
  'beside-500-changes',
  'beside-500-and-undo',
  'beside-40-deletes',
  'beside-60-mib-package',
] as const;

export type BesideRow = (typeof besideRows)[number];

/** The row whose engine serves package transactions. */
export const besidePackage: BesideRow = 'beside-60-mib-package';

export type Flags = 'tuned' | 'default';

export interface Row {
  readonly name: string;
  /** Changes in each Transaction. */
  readonly changes: number;
  readonly transactions: number;
  /** The number of concurrent Transactions. */
  readonly concurrency: number;
  readonly hook: HookKind;
  /** Flags of Metacontroller. */
  readonly flags: Flags;
  /** Each Transaction is also undone, and the bench measures the undo, too. */
  readonly undo?: boolean;
  /** Trees of packages (scripts/bench/packages.ts), without any Transaction. */
  readonly packages?: boolean;
  /** Packages that are installed (scripts/bench/installs.ts), on a control plane of their own. */
  readonly installs?: boolean;
  /** Bytes of data that each change sets, if more than a word. */
  readonly bytes?: number;
  /** Bytes of data that each target holds before. Each change then has a gate at the end. */
  readonly held?: number;
  /** The content of each change lies in a ConfigMap of its own, as gzipped YAML. */
  readonly sources?: boolean;
  /** The load beside which a small Transaction is measured. */
  readonly beside?: BesideRow;
  /** All changes are in one wave. */
  readonly wave?: true;
  /** The changes are Deletes, with that annotation. */
  readonly deletes?: Readonly<Record<string, string>>;
  /** Measured only if `--rows` names it. */
  readonly onDemand?: boolean;
}

const one = { transactions: 1, concurrency: 1, hook: 'janus', flags: 'tuned' } as const;
type Size = Pick<Row, 'changes'> & Partial<Pick<Row, 'transactions' | 'concurrency'>>;

/** A row of the engine, after the row of each hook for comparison. */
function compared(name: string, size: Size, own: Partial<Row> = {}): readonly Row[] {
  const others = (['requests', 'bare'] as const).map((hook) => ({ ...one, ...size, hook, name: `${hook}-${name}` }));
  return [...others, { ...one, ...size, ...own, name }];
}

const thousand = { ...one, changes: 3, transactions: 1000, concurrency: 1000, onDemand: true } as const;

const rows: readonly Row[] = [
  { ...one, name: 'tiny', changes: 2, onDemand: true },
  { ...one, name: 'requests-tiny', hook: 'requests', changes: 2, onDemand: true },
  // The first calls of a hook take several times as long, and would distort the comparison.
  ...compared('warm-up', { changes: 5, transactions: 100, concurrency: 10 }),
  ...compared('3', { changes: 3, transactions: 20 }),
  ...compared('10', { changes: 10, transactions: 10 }, { undo: true }),
  { ...one, name: '50', changes: 50, transactions: 2, onDemand: true },
  ...compared('100', { changes: 100, transactions: 2 }, { undo: true }),
  ...compared('200', { changes: 200 }),
  ...compared('many', { changes: 3, transactions: 100, concurrency: 100 }),
  { ...thousand, name: 'thousand' },
  // Shows whether the first thousand left anything in the hook.
  { ...thousand, name: 'thousand-again' },
  { ...one, name: '500', changes: 500, onDemand: true },
  // As much as all sources may hold.
  { ...one, name: 'sources-10', changes: 12, transactions: 2, bytes: 870_000, sources: true, undo: true, onDemand: true },
  // The memory of a hook for large targets: during the preparation, while gates are open, and during the undo.
  { ...one, name: 'targets-small', changes: 15, transactions: 2, held: 1, undo: true, onDemand: true },
  { ...one, name: 'targets-large', changes: 15, transactions: 2, held: 1_000_000, undo: true, onDemand: true },
  ...[3, 10, 100, 200, 500].map(
    (changes): Row => ({
      ...one,
      name: `wave-${changes}`,
      changes,
      transactions: Math.ceil(30 / changes),
      wave: true,
      undo: true,
      onDemand: true,
    }),
  ),
  { ...one, name: 'finished', changes: 3, onDemand: true },
  { ...one, name: 'fifty-deletes', changes: 50, onDemand: true },
  { ...one, name: 'kinds', changes: 1, onDemand: true },
  { ...one, name: 'releases', changes: 100, onDemand: true },
  { ...one, name: 'gates', changes: 10, onDemand: true },
  ...besideRows.map((name): Row => ({ ...one, name, beside: name, changes: 3, onDemand: true })),
  { ...one, name: 'packages-resolve', changes: 0, packages: true, onDemand: true },
  { ...one, name: 'packages-growth', changes: 0, installs: true, onDemand: true },
  { ...one, name: 'packages-replace', changes: 0, installs: true, onDemand: true },
  { ...one, name: 'packages-waiting', changes: 0, installs: true, onDemand: true },
  { ...one, name: 'packages-deletions', changes: 0, installs: true, onDemand: true },
  { ...one, name: 'default-flags', changes: 3, transactions: 3, flags: 'default', onDemand: true },
];

/** The rows, each after the row of the engine in another checkout. */
export function against(chosen: readonly Row[]): readonly Row[] {
  return chosen.flatMap((row) =>
    row.hook === 'janus' ? [{ ...row, hook: 'against' as const, name: `against-${row.name}` }, row] : [row],
  );
}

/** The rows of these names, in the order of the list; the usual rows without names. Throws on an unknown name. */
export function chosenRows(names: readonly string[]): readonly Row[] {
  const unknown = names.filter((name) => !rows.some((row) => row.name === name));
  if (unknown.length > 0)
    throw new Error(`expected rows out of ${rows.map(({ name }) => name).join(', ')}; found ${unknown.join(', ')}`);
  return names.length === 0 ? rows.filter(({ onDemand }) => onDemand !== true) : rows.filter(({ name }) => names.includes(name));
}
