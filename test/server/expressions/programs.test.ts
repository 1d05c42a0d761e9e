// Programs that are compiled once, and the number that is kept.
import t from 'tap';
import { keepPrograms } from '../../../server/expressions/programs.ts';
import { open, patient, yes } from './opened.ts';

t.test('the cache compiles a text once, and drops the oldest first', async (t) => {
  const compiled: string[] = [];
  const programOf = keepPrograms((text) => {
    compiled.push(text);
    return text.toUpperCase();
  }, 4);
  t.same(['aa', 'bb', 'aa', 'bb'].map(programOf), ['AA', 'BB', 'AA', 'BB']);
  t.same(compiled, ['aa', 'bb']);
  t.same(['cc', 'bb', 'aa'].map(programOf), ['CC', 'BB', 'AA']);
  t.same(compiled, ['aa', 'bb', 'cc', 'aa']);
  t.equal(programOf('longer'), 'LONGER', 'more than there is room for');
});

t.test('a cached program evaluates each object correctly', async (t) => {
  const { expressions } = open(t, patient);
  const text = 'object.a == 1';
  t.same(await expressions.evaluate(text, { a: 1 }), yes);
  t.same(await expressions.evaluate(text, {}), { kind: 'unset' });
  t.same(await expressions.evaluate(text, { a: 2 }), { kind: 'value', value: false });
  t.same(await expressions.evaluate(text, { a: 1 }), yes);
});
