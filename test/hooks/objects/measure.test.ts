// The estimate of an object's memory against V8's heap: the estimate is at most a third below the real size.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { parseJson } from '../../../hooks/objects/json.ts';
import { measureOfText } from '../../../hooks/objects/measure.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapOf(text: string): number {
  collect();
  const before = process.memoryUsage().heapUsed;
  const kept: unknown = parseJson(text);
  collect();
  const taken = process.memoryUsage().heapUsed - before;
  return kept === undefined ? 0 : taken;
}

const count = 200_000;
const many = (make: (index: number) => unknown): string =>
  JSON.stringify(Array.from({ length: count }, (_, index) => make(index)));
const keyed = (value: unknown): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value])));

for (const [what, text] of Object.entries({
  'short keys': keyed(''),
  'owned fields': keyed({}),
  'empty maps': many(() => ({})),
  'empty lists': many(() => []),
  'short texts': many((index) => `t${index}`),
  'maps of one key': many(() => ({ key: 1 })),
  'long integers': `[${Array.from({ length: count }, (_, index) => 9_007_199_254_740_993n + BigInt(index)).join(',')}]`,
  'one long text': JSON.stringify(['x'.repeat(10_000_000)]),
  'one long text beyond Latin-1': JSON.stringify(['\u20ac'.repeat(5_000_000)]),
}))
  t.test(what, async (t) => {
    const { memory } = measureOfText(text);
    const taken = heapOf(text);
    t.ok(memory > taken / 1.5, `${memory} bytes were counted, ${taken} are taken`);
    t.ok(memory < taken * 4, 'and not many times as many');
  });

t.test('quotes and backslashes in texts end nothing', async (t) => {
  const plain = measureOfText(JSON.stringify({ key: 'aa', other: 'b' }));
  const escaped = measureOfText(JSON.stringify({ key: '"\\', other: 'b' }));
  t.equal(escaped.memory - plain.memory, 2, 'two escapes are two characters more');
});
