// Turns of the event loop: work that is cut into steps lets others run between the steps, and gives the result of the whole work.
import t from 'tap';
import { inOwnTurns } from '../../../../hooks/objects/requests/loop-turns.ts';
import { atOnce } from '../../../../hooks/objects/steps.ts';

function* sum(seen: string[], numbers: readonly number[]): Generator<undefined, number> {
  let all = 0;
  for (const number of numbers) {
    yield;
    seen.push(`step ${number}`);
    all += number;
  }
  return all;
}

t.test('two works share the event loop step by step', async (t) => {
  const seen: string[] = [];
  const results = await Promise.all([inOwnTurns(sum(seen, [1, 2])), inOwnTurns(sum(seen, [3, 4]))]);
  t.same(results, [3, 7]);
  t.same(seen, ['step 1', 'step 3', 'step 2', 'step 4']);
});

t.test('a timer gets its turn between two steps', async (t) => {
  const seen: string[] = [];
  const fired = new Promise<void>((resolve) => {
    setTimeout(() => {
      seen.push('timer');
      resolve();
    }, 0);
  });
  const many = Array.from({ length: 1_000 }, (_, index) => index);
  t.equal(await inOwnTurns(sum(seen, many)), 499_500);
  await fired;
  t.ok(seen.indexOf('timer') < many.length);
});

t.test('at once, the whole work runs in one turn', async (t) => {
  const seen: string[] = [];
  t.equal(atOnce(sum(seen, [1, 2])), 3);
  t.same(seen, ['step 1', 'step 2']);
});

t.test('a step that throws ends the work', async (t) => {
  const broken = (function* () {
    yield;
    throw new Error('broken');
  })();
  await t.rejects(inOwnTurns(broken), { message: 'broken' });
});
