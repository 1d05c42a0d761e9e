// Variety that is identical in each run: fast-check's arbitraries, sampled with a fixed seed.
import fc from 'fast-check';

/** Another seed, or more cases, by environment: JANUS_TEST_SEED, JANUS_FUZZ_BODIES, JANUS_FUZZ_TRANSACTIONS. */
export const seed = Number(process.env.JANUS_TEST_SEED ?? '20260101');

/** This number of values; equal for an equal name and seed. */
export function sample<Value>(arbitrary: fc.Arbitrary<Value>, name: string, count: number): readonly Value[] {
  const own = [...name].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) | 0, seed);
  return fc.sample(arbitrary, { seed: own, numRuns: count });
}

/** Text of any characters but a lone surrogate, which JSON cannot carry. */
export const anyText = fc.string({ unit: 'binary', maxLength: 40 });

const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789');

/** A DNS label. */
export const label = fc.string({ unit: letter, minLength: 1, maxLength: 20 });

/** Somewhere in good text, something bad. */
export function around(good: fc.Arbitrary<string>, bad: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(good, bad, good).map((parts) => parts.join(''));
}

export const control = fc.integer({ min: 0, max: 31 }).map((code) => String.fromCharCode(code));

/** Keys that are special to JavaScript. */
export const specialKey = fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf');

/** Runs a task for each, so many at a time. */
export async function each<Value>(
  values: readonly Value[],
  atOnce: number,
  task: (value: Value) => Promise<void>,
): Promise<void> {
  const queue = values.values();
  const work = async (): Promise<void> => {
    for (const value of queue) await task(value);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
