// A few seeds of `npm run soak` in every run of the suite.
import t from 'tap';
import { openWorld } from '../faults/world.ts';
import { chanceOf } from './random.ts';
import { runSeed } from './soak.ts';

t.test('chance is equal for an equal seed, and spread evenly', async (t) => {
  const numbers = (...seeds: readonly number[]): readonly number[] => {
    const chance = chanceOf(...seeds);
    return Array.from({ length: 1_000 }, () => chance.below(10));
  };
  t.same(numbers(1, 2), numbers(1, 2));
  t.notSame(numbers(1, 2), numbers(2, 1));
  for (const digit of Array.from({ length: 10 }, (_, index) => index)) {
    const found = numbers(7).filter((number) => number === digit).length;
    t.ok(found > 60 && found < 140, `${digit} came ${found} times of 1000`);
  }
  const first = Array.from({ length: 1_000 }, (_, seed) => chanceOf(seed).next());
  t.ok(Math.abs(first.reduce((sum, number) => sum + number, 0) / first.length - 0.5) < 0.05, 'over seeds, too');
});

t.test('eight Transactions at once over twelve shared objects', async (t) => {
  const world = await openWorld();
  t.teardown(() => world.close());
  const seeds = [1, 2, 3];
  const results = await Promise.all(seeds.map((seed) => runSeed(world, seed)));
  for (const { seed, violations } of results) t.same(violations, [], `seed ${seed}: npm run soak -- --seed ${seed}`);
  const ends = results.flatMap((result) => Object.keys(result.ends));
  t.ok(
    ['Committed', 'RolledBack'].every((phase) => ends.some((end) => end.startsWith(phase))),
    'some were committed, some undone',
  );
  t.ok(
    results.every(({ faults }) => faults > 3),
    'faults struck each',
  );
});
