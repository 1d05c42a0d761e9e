// The points of the specification of package transactions, each with the tests that show it. `later`: features that do not exist yet
// (Replace).

type Shown = readonly (readonly [file: string, words: string])[];

interface Point {
  readonly point: number;
  readonly shownBy: Shown | 'later';
}

const resolve = 'test/packages/resolve.test.ts';
const contents = 'test/packages/contents.test.ts';
const command = 'test/packages/command.test.ts';
const client = 'test/packages/registry/client.test.ts';

const install = 'test/packages/install.test.ts';
const points = 'test/packages/points.test.ts';
const deletion = 'test/packages/delete.test.ts';
const rollback = 'test/packages/rollback.test.ts';
const recovery = 'test/packages/recovery.test.ts';
const decide = 'test/packages/decide.test.ts';
const kinds = 'test/packages/kinds.test.ts';
const own = 'test/packages/own.test.ts';
const ownLive = 'test/packages/own-live.test.ts';
const tree = [install, 'a tree is installed whole'] as const;

const shown: Readonly<Record<number, Shown>> = {
  4: [
    [contents, '4: a source with a tag'],
    [deletion, '4: the API server refuses a source with a tag or a digest'],
  ],
  8: [[resolve, '8, 28: the whole Lock, unchanged entries as they were']],
  11: [[resolve, '11: MissingDependency']],
  12: [
    [resolve, '12: VersionConflict with what is installed'],
    [points, '12: VersionConflict'],
  ],
  13: [
    [resolve, '13: CircularDependency with its path'],
    [points, '13: CircularDependency'],
  ],
  14: [
    [contents, '14: one CRD of two packages, or of somebody else'],
    [points, '14: CRDConflict'],
  ],
  15: [
    ['test/packages/compare.test.ts', '15: members that a definition may not lose'],
    [command, '15: against a cluster'],
  ],
  28: [
    [client, '28: the digest is the registry’s'],
    [resolve, '8, 28: the whole Lock'],
  ],
  29: [
    [client, '29: a tag that moves leaves the digest as it is'],
    [points, '29: a tag that moves between validation and install'],
  ],
  30: [[contents, '30: names']],
  35: [[command, '35: the example, its tags as digests, dependencies first']],
  1: [[kinds, '1, 5']],
  2: [[kinds, '2, 4']],
  3: [[install, '3: the snapshot keeps its digits']],
  5: [[kinds, '1, 5']],
  6: [
    [install, '6: a registry that does not answer'],
    [points, '6: a registry that is down'],
  ],
  7: [[install, '7, 20, 24, 25, 43: several at once, from two hooks']],
  9: [tree],
  24: [tree],
  26: [tree],
  31: [tree],
  36: [tree],
  37: [tree],
  38: [tree],
  55: [tree],
  16: [[kinds, '16: while stages run']],
  17: [
    [install, '17, b: a policy that refuses'],
    [rollback, 'b: a first install of three packages'],
  ],
  18: [tree],
  10: [[kinds, '10: the story']],
  19: [
    [decide, '19, 20, 22'],
    [points, '19: twenty take the Lock at once'],
  ],
  20: [
    [decide, '19, 20, 22'],
    [install, '7, 20, 24, 25, 43: several at once, from two hooks'],
    ['test/support/metacontroller/related.test.ts', 'a call because the related object of the cluster has changed'],
  ],
  22: [[decide, '19, 20, 22']],
  21: [[recovery, '21: a holder that is removed']],
  23: [[decide, '23: only the holder releases']],
  25: [[install, '25: the history keeps the newest']],
  33: [[install, '33: an update makes a second revision']],
  27: [tree],
  32: [[install, '6, 11, 15, 26, 32: the hook refuses a package']],
  39: [
    [recovery, '39: a package transaction ends without the controller manager'],
    [
      'test/packages/cascades.test.ts',
      'no deletion of a Package, a revision or a package transaction deletes a CRD or an instance',
    ],
  ],
  40: [[points, '40: a retry installs the snapshot']],
  34: [
    [deletion, '45: a Delete is refused'],
    ['test/packages/revisions.test.ts', 'revisionHistoryLimit: one Inactive revision stays'],
  ],
  45: [
    [deletion, '45: a Delete is refused'],
    ['test/packages/between.test.ts', 'that appears before each call of a Delete'],
  ],
  46: [
    [deletion, '46: a Delete removes the package'],
    ['test/packages/graphs.test.ts', 'generated graphs'],
  ],
  41: [
    ['test/packages/images.test.ts', 'an ImageConfig comes before the package'],
    ['test/packages/image-configs.test.ts', 'a mirror, and its pull secret'],
  ],
  42: [
    [own, '42: the name of a package transaction follows'],
    [ownLive, '52: a user applies a Provider'],
  ],
  43: [[install, '7, 20, 24, 25, 43: several at once, from two hooks']],
  47: [
    [own, '47: a Package that is being deleted makes a Delete'],
    [ownLive, '47: kubectl delete is refused while instances exist'],
  ],
  52: [[ownLive, '52: a user applies a Provider']],
  // The controllers of revisions are Crossplane's: a Crossplane runs revisions, and reports, and the Lock and the CRDs stay as installed.
  53: [
    ['test/packages/crossplane.test.ts', 'an install runs'],
    ['test/packages/beside.test.ts', 'Crossplane gets a revision once the Lock is written, and never the Package'],
    ['test/packages/package-status-live.test.ts', 'kubectl wait --for=condition=Healthy waits until the revision is healthy'],
  ],
  44: [tree],
  56: [
    [decide, '19, 20, 22'],
    [resolve, '11: MissingDependency'],
    ['test/packages/progress.test.ts', 'eight in each call'],
  ],
  54: [[kinds, '54: off']],
  57: [
    tree,
    [points, '6: a registry that is down'],
    [rollback, 'b: a first install of three packages'],
    ['test/packages/histories.test.ts', 'generated histories'],
    ['test/packages/crossplane.test.ts', 'an update, with an instance'],
  ],
  58: [
    [resolve, 'a large tree: 500 packages, ten versions each'],
    ['test/packages/lost.test.ts', 'a Lock with tags only gets a digest'],
  ],
};

const last = 58;
/** Replace. */
const later = [48, 49, 50, 51];

export const checklist: readonly Point[] = Array.from({ length: last }, (_, index): Point => {
  const point = index + 1;
  return { point, shownBy: shown[point] ?? (later.includes(point) ? 'later' : []) };
});
