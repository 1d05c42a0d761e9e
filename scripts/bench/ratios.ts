// Ratios of two rows of one run, as sentences.

export type Line = Readonly<Record<string, unknown>>;

export function rounded(value: number, digits = 1): number {
  return Number(value.toFixed(digits));
}

/** The value that this share of the values does not exceed; NaN without values. */
export function percentile(values: readonly number[], which: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(sorted.length * which) - 1)] ?? Number.NaN;
}

export function ratio(one: unknown, other: unknown, what: string): readonly string[] {
  return typeof one === 'number' && typeof other === 'number' ? [`${what}: ${rounded(one / other, 2)}`] : [];
}

/** Rows of Applies, each with the row for comparison. */
const applies = [
  ['apply-create', 'create'],
  ['rollback-apply-create', 'rollback-create'],
  ['apply-patch', 'patch'],
  ['rollback-apply-patch', 'rollback-patch'],
] as const;

/** All requests except Events. */
const requestKeys = ['readsPerItem', 'writesPerItem', 'dryRunsPerItem', 'reviewsPerItem'] as const;

/** Time, and requests, of Applies to those of Creates and Patches. */
export function appliesBeside(find: (name: string) => Line | undefined): readonly string[] {
  const requests = (line: Line | undefined): number | undefined =>
    line && requestKeys.reduce((sum, key) => sum + Number(line[key]), 0);
  return applies.flatMap(([name, other]) => {
    const [line, beside] = [find(name), find(other)];
    const what = `row ${name}, to that of row ${other}`;
    return [
      ...ratio(line?.p50Ms, beside?.p50Ms, `time, ${what}`),
      ...ratio(requests(line), requests(beside), `requests, ${what}`),
    ];
  });
}
