import t from 'tap';
import { decodeAnswer } from './answer.ts';
import { secondsOf } from './hook-call.ts';
import { tokenBucket } from './limits.ts';
import { readEvents } from './watch-stream.ts';

t.test('a good answer', async (t) => {
  const rows = [
    { text: '{}', reason: 'all fields may be absent', answer: {} },
    { text: 'null', reason: 'null is an answer without fields', answer: {} },
    { text: '{"status":null,"children":null,"resyncAfterSeconds":null,"finalized":null}', reason: 'null is absent', answer: {} },
    { text: '{"status":{"a":{"b":1}},"children":[]}', reason: 'a status', answer: { status: { a: { b: 1 } } } },
    {
      text: '{"resyncAfterSeconds":0.5,"finalized":true}',
      reason: 'fractions',
      answer: { resyncAfterSeconds: 0.5, finalized: true },
    },
  ];
  for (const { text, reason, answer } of rows)
    t.same(decodeAnswer(text), { status: {}, resyncAfterSeconds: 0, finalized: false, ...answer }, reason);
});

t.test('an answer that is refused', async (t) => {
  const rows: readonly (readonly [text: string, fault: RegExp])[] = [
    ['', /can't unmarshal/],
    ['{"status":{}} {}', /can't unmarshal/],
    ['[]', /expected an object, found \[\]/],
    ['{"Status":{}}', /unknown field "Status"/],
    ['{"__proto__":{}}', /unknown field "__proto__"/],
    ['{"constructor":1}', /unknown field "constructor"/],
    ['{"status":[]}', /status: expected an object/],
    ['{"resyncAfterSeconds":"1"}', /resyncAfterSeconds: expected a number, found "1"/],
    ['{"finalized":1}', /finalized: expected a boolean/],
    ['{"children":[{"kind":"ConfigMap"}]}', /children: expected an empty list/],
  ];
  for (const [text, fault] of rows) t.throws(() => decodeAnswer(text), fault, text);
});

t.test('Retry-After', async (t) => {
  const rows = [
    ['2', 2],
    ['0', 0],
    [undefined, 0],
    ['1.5', 0],
    ['soon', 0],
    ['', 0],
    ['-3', -3],
    ['2026-01-01', 0],
  ] as const;
  for (const [header, seconds] of rows) t.equal(secondsOf(header), seconds, String(header));
  const ahead = secondsOf(new Date(Date.now() + 10_000).toUTCString());
  t.ok(ahead >= 9 && ahead <= 10, 'a date');
});

t.test('a bucket of tokens', async (t) => {
  let now = 0;
  const bucket = tokenBucket({ perSecond: 5, burst: 10 }, () => now);
  t.same(
    Array.from({ length: 12 }, () => bucket.reserve()),
    [...Array(10).fill(0), 200, 400],
    'ten at once, then five a second',
  );
  now += 1000;
  t.equal(bucket.reserve(), 0);
  now += 100_000;
  t.same(Array.from({ length: 11 }, () => bucket.tryTake()).indexOf(false), 10, 'no more than the burst is saved up');
});

t.test('a watch may be cut into chunks anywhere', async (t) => {
  const events = [
    { type: 'ADDED', object: { metadata: { name: 'ä€😀', resourceVersion: '1' } } },
    { type: 'BOOKMARK', object: { metadata: { resourceVersion: '2' } } },
    { type: 'DELETED', object: { big: 12 } },
  ];
  const bytes = new TextEncoder().encode(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    t.same(await collect(chunks), events, `${size} bytes a chunk`);
  }
  await t.rejects(
    collect([new TextEncoder().encode('{"type":"ERROR","object":{"code":410,"message":"gone"}}\n')]),
    /ended with ERROR: gone/,
  );
  await t.rejects(collect([new TextEncoder().encode('{"kind":"Status"}\n')]), /expected a watch event/);
});

async function collect(chunks: readonly Uint8Array[]): Promise<readonly unknown[]> {
  async function* stream() {
    yield* chunks;
  }
  const found: unknown[] = [];
  for await (const event of readEvents(stream())) found.push(event);
  return found;
}
