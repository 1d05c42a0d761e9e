// Histories of one line of releases: the contents of each release, edits and deletions by other writers in between, and the undos that follow.
import fc from 'fast-check';

export const objects = ['a', 'b', 'c'] as const;
const keys = ['x', 'y'] as const;

export type Data = Readonly<Record<string, string>>;

/** By object; undefined: the release does not hold it. */
export type Held = readonly (Data | undefined)[];

/** Values that somebody writes; undefined deletes the object. */
export interface Edited {
  readonly object: number;
  readonly data: Data | undefined;
}

export type Deed =
  | (Edited & { readonly kind: 'edit' })
  /** The Transaction of an earlier release is deleted. */
  | { readonly kind: 'forget'; readonly release: number };

export interface Undo {
  readonly release: number;
  readonly choice: 'plain' | 'keep' | 'overwrite';
  readonly object: number;
}

export interface History {
  readonly releases: readonly Held[];
  /** After which release each is done. */
  readonly deeds: readonly { readonly after: number; readonly deed: Deed }[];
  readonly undos: readonly Undo[];
}

const values = fc.constantFrom('1', '2', '3');
export const data: fc.Arbitrary<Data> = fc.record({ x: values, y: values }, { requiredKeys: ['x'] });
export const held: fc.Arbitrary<Held> = fc.tuple(
  data,
  fc.option(data, { nil: undefined, freq: 3 }),
  fc.option(data, { nil: undefined, freq: 3 }),
);
export const index = (most: number): fc.Arbitrary<number> => fc.integer({ min: 0, max: most });
export const edited: fc.Arbitrary<Edited> = fc.record({
  object: index(objects.length - 1),
  data: fc.option(fc.dictionary(fc.constantFrom(...keys, 'z'), values, { minKeys: 1, maxKeys: 2 }), { nil: undefined, freq: 6 }),
});
const forget: fc.Arbitrary<Deed> = fc.record({ kind: fc.constant('forget' as const), release: index(5) });
const edit = edited.map((one) => ({ kind: 'edit' as const, ...one }));
const deed = fc.oneof({ weight: 3, arbitrary: edit }, { weight: 1, arbitrary: forget });

export const histories: fc.Arbitrary<History> = fc.record({
  releases: fc.array(held, { minLength: 2, maxLength: 6 }),
  deeds: fc.array(fc.record({ after: index(5), deed }), { maxLength: 2 }),
  undos: fc.array(
    fc.record({
      release: index(5),
      choice: fc.constantFrom('plain' as const, 'plain' as const, 'keep' as const, 'overwrite' as const),
      object: index(objects.length - 1),
    }),
    { minLength: 2, maxLength: 5 },
  ),
});
