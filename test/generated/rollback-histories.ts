// Histories of one line of releases before a rollback over them: releases that create, change and drop objects, and what happens between
// them. Others edit objects, take fields over, delete objects and create them again; a release is undone, or its record is deleted.
import fc from 'fast-check';
import { type Data, data, type Edited, edited, type Held, held, index, objects } from './histories.ts';

export interface Given {
  readonly object: number;
  readonly data: Data;
}

/** What is done between two releases. */
export type Turn =
  | (Edited & { readonly kind: 'edit' })
  /** A second manager applies these values: it takes their fields over, or shares them. */
  | (Given & { readonly kind: 'apply' })
  /** Somebody deletes the object, and creates it again. */
  | (Given & { readonly kind: 'recreate' })
  /** The newest release is undone; `kept`: an object that its undo keeps. */
  | { readonly kind: 'undo'; readonly kept: number | undefined }
  /** The record of that release is deleted. */
  | { readonly kind: 'forget'; readonly release: number };

export interface Placed {
  /** The release that it follows. */
  readonly after: number;
  readonly turn: Turn;
}

export interface RollbackHistory {
  readonly releases: readonly Held[];
  readonly turns: readonly Placed[];
  /** Where to: of the releases that can stay, and the state before the first. */
  readonly place: number;
}

const mostReleases = 12;

const object = index(objects.length - 1);

const turn: fc.Arbitrary<Turn> = fc.oneof(
  { weight: 6, arbitrary: edited.map((one) => ({ kind: 'edit' as const, ...one })) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('apply' as const), object, data }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('recreate' as const), object, data }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('undo' as const), kept: fc.option(object, { nil: undefined, freq: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('forget' as const), release: index(mostReleases - 1) }) },
);

const placed = (releases: number): fc.Arbitrary<Placed> => fc.record({ after: index(releases - 1), turn });

/** Half of the releases and more have nothing between them: else most rollbacks meet edits that are in their way. */
export const rollbackHistories: fc.Arbitrary<RollbackHistory> = fc
  .array(held, { minLength: 2, maxLength: mostReleases, size: 'max' })
  .chain((releases) =>
    fc.record({
      releases: fc.constant(releases),
      turns: fc.array(placed(releases.length), { maxLength: Math.ceil(releases.length / 2), size: 'max' }),
      place: index(mostReleases),
    }),
  );
