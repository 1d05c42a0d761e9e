// A look that takes several calls: it goes on behind what was found in order, and never takes one try's findings for another's.
import t from 'tap';
import { checkAll, createMemory } from '../../hooks/crossplane/observe/progress.ts';

const items = Array.from({ length: 20 }, (_, index) => `i${index}`);
const nameOf = (item: string): string => item;

/** Looks once, with no time left; what it looked at. */
async function lookHastily(memory: ReturnType<typeof createMemory>, look = 'Validating 1', faulty?: string) {
  const seen: string[] = [];
  const progress = { ...memory.recall('uid', look), isOver: () => true };
  const answer = await checkAll(
    items,
    nameOf,
    async (item) => (seen.push(item) > 0 && item === faulty ? ['broken'] : []),
    progress,
  );
  return { seen, answer };
}

t.test('eight in each call, each once, until all are looked at', async (t) => {
  const memory = createMemory();
  t.same(await lookHastily(memory), { seen: items.slice(0, 8), answer: 'unfinished' });
  t.same(await lookHastily(memory), { seen: items.slice(8, 16), answer: 'unfinished' });
  t.same(await lookHastily(memory), { seen: items.slice(16), answer: [] });
  t.same(await lookHastily(memory), { seen: [], answer: [] });
});

t.test('the readings begin again in another try, phase or process', async (t) => {
  const memory = createMemory();
  await lookHastily(memory);
  t.equal((await lookHastily(memory, 'Verifying 1')).seen[0], 'i0');
  t.equal((await lookHastily(memory, 'Verifying 2')).seen[0], 'i0');
  t.equal((await lookHastily(createMemory(), 'Verifying 2')).seen[0], 'i0');
});

t.test('the engine reports a bad object at once, and reads it again', async (t) => {
  const memory = createMemory();
  t.same((await lookHastily(memory, 'Validating 1', 'i3')).answer, ['broken']);
  const { seen, answer } = await lookHastily(memory, 'Validating 1', 'i3');
  t.same(answer, ['broken']);
  t.same(seen, ['i3', ...items.slice(8, 15)]);
});

t.test('the engine remembers few readings', async (t) => {
  const memory = createMemory();
  memory.recall('first', 'look').add('one');
  for (let index = 0; index < 16; index += 1) memory.recall(`uid-${index}`, 'look').add('one');
  t.notOk(memory.recall('first', 'look').has('one'));
  t.ok(memory.recall('uid-15', 'look').has('one'));
});
