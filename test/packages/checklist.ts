// The points of the specification of package transactions, each with the tests that show it. `coordinator`: it is shown by the kind and
// the hook that carry a package transaction out. `later`: by what comes behind that (Delete, Replace, the packages' own controllers).

type Shown = readonly (readonly [file: string, words: string])[];

interface Point {
  readonly point: number;
  readonly shownBy: Shown | 'coordinator' | 'later';
}

const resolve = 'test/packages/resolve.test.ts';
const contents = 'test/packages/contents.test.ts';
const command = 'test/packages/command.test.ts';
const client = 'test/packages/registry/client.test.ts';

/** The part of a point that is known before the first write. */
const shown: Readonly<Record<number, Shown>> = {
  4: [[contents, '4: a source with a tag']],
  8: [[resolve, '8, 28: the whole Lock, unchanged entries as they were']],
  11: [[resolve, '11: MissingDependency']],
  12: [[resolve, '12: VersionConflict with what is installed']],
  13: [[resolve, '13: CircularDependency with its path']],
  14: [[contents, '14: one CRD of two packages, or of somebody else']],
  15: [
    ['test/packages/compare.test.ts', '15: what a definition may not lose'],
    [command, '15: against a cluster'],
  ],
  28: [
    [client, '28: the digest is the registry’s'],
    [resolve, '8, 28: the whole Lock'],
  ],
  29: [[client, '29: a tag that moves leaves the digest as it is']],
  30: [[contents, '30: names']],
  35: [[command, '35: the example, its tags as digests, dependencies first']],
};

const last = 58;
/** Other changes than Install, precedence, names of package transactions, controllers. */
const later = [34, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 57, 58];

export const checklist: readonly Point[] = Array.from({ length: last }, (_, index): Point => {
  const point = index + 1;
  return { point, shownBy: shown[point] ?? (later.includes(point) ? 'later' : 'coordinator') };
});
