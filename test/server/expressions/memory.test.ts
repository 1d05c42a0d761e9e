// The memory that an evaluation may take.
import t from 'tap';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { open, patient, yes } from './opened.ts';

const object: JsonObject = { items: Array.from({ length: 1000 }, (_, index) => index), megabyte: 'a'.repeat(1_000_000) };

t.test('the thread bounds text that doubles', async (t) => {
  const { expressions, threads } = open(t, patient);
  const message = 'the expression makes more than 4194304 characters of text';
  for (const expression of [
    `[object.megabyte]${'.map(x, x + x)'.repeat(9)}.exists(x, x.contains("b"))`,
    `[bytes(object.megabyte)]${'.map(x, x + x)'.repeat(9)}.exists(x, size(x) == 0)`,
    'object.items.map(x, object.megabyte.split("")).exists(x, size(x) == 0)',
    'object.items.map(x, "%s".format([object.megabyte])).exists(x, size(x) == 0)',
    'object.items.map(x, string(bytes(object.megabyte))).exists(x, size(x) == 0)',
  ])
    t.same(await expressions.evaluate(expression, object), { kind: 'broken', message }, expression);
  t.same(await expressions.evaluate('(object.megabyte + "b").endsWith("ab")', object), yes);
  t.equal(threads.length, 1, 'no limit of the thread was reached');
});

t.test('the thread bounds its memory', async (t) => {
  const { expressions } = open(t, patient);
  const wide = `object.items.map(x, object.items.map(y, [${'y,'.repeat(400)}1])).exists(x, size(x) == 0)`;
  const message = 'the expression takes too much memory';
  t.same(await expressions.evaluate(wide, object), { kind: 'broken', message });
  t.same(await expressions.evaluate('object.ready', { ready: true }), yes, 'in another thread');
});
