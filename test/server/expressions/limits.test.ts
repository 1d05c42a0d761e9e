// The thread of expressions: when it is there, what ends it, and that nothing outlives it.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import type { JsonObject } from '../../../hooks/model/json.ts';
import { importsOf, readSources, type Source } from '../../support/sources.ts';
import { open, patient } from './opened.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const yes = { kind: 'value', value: true };
const numbers = Array.from({ length: 1000 }, (_, index) => index);
const megabyte = 'a'.repeat(1_000_000);
const large: JsonObject = { items: numbers.map((number) => ({ number, text: 'x'.repeat(1_000) })), megabyte };
const loops = 'object.items.all(a, object.items.all(b, object.items.all(c, a.number + b.number + c.number >= 0)))';

/** Longer than that of the server: the small expressions beside have it too, on a machine that does much else. */
const limit = 2_000;

t.test('what takes too long is ended, and what was asked at the same time is answered', async (t) => {
  const { expressions, threads } = open(t, { limit, idle: 60_000 });
  const [hostile, beside, after] = await Promise.all([
    expressions.evaluate(loops, large),
    expressions.evaluate('object.ready', { ready: true }),
    expressions.compile('object.ready'),
  ]);
  t.same(hostile, { kind: 'broken', message: 'the expression takes longer than 2000 ms' });
  t.same(beside, yes, 'its own time began after the hostile one');
  t.equal(after, undefined);
  t.equal(threads.length, 2, 'one after the other');
  t.equal(threads[0]?.threadId, -1, 'the first is over');
});

t.test('the server ends it after 250 ms', async (t) => {
  const { expressions } = open(t);
  t.same(await expressions.evaluate(loops, large), { kind: 'broken', message: 'the expression takes longer than 250 ms' });
});

t.test('where this process was late, the answer counts that has come meanwhile', async (t) => {
  const { expressions, threads } = open(t, { limit: 1_000, idle: 60_000 });
  await expressions.evaluate('true', {});
  const [thread] = threads;
  const block = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000);
  thread?.once('message', () => setImmediate(block));
  t.same(
    await expressions.evaluate('object.items.all(a, object.items.all(b, a + b >= 0))', { items: numbers.slice(0, 100) }),
    yes,
  );
  t.equal(threads.length, 1);
});

t.test('a regular expression takes time in proportion to the text', async (t) => {
  const { expressions, threads } = open(t, patient);
  const object = { metadata: { name: `${'a'.repeat(50_000)}!` } };
  t.same(await expressions.evaluate("object.metadata.name.matches('^(a+)+$')", object), { kind: 'value', value: false });
  t.same(await expressions.evaluate("object.metadata.name.matches('(a+)+$')", object), { kind: 'value', value: false });
  t.equal(threads.length, 1);
});

t.test('text that doubles is bounded', async (t) => {
  const { expressions, threads } = open(t, patient);
  const message = 'the expression makes more than 4194304 characters of text';
  for (const expression of [
    `[object.megabyte]${'.map(x, x + x)'.repeat(9)}.exists(x, x.contains("b"))`,
    `[bytes(object.megabyte)]${'.map(x, x + x)'.repeat(9)}.exists(x, size(x) == 0)`,
    'object.items.map(x, object.megabyte.split("")).exists(x, size(x) == 0)',
    'object.items.map(x, "%s".format([object.megabyte])).exists(x, size(x) == 0)',
    'object.items.map(x, string(bytes(object.megabyte))).exists(x, size(x) == 0)',
  ])
    t.same(await expressions.evaluate(expression, large), { kind: 'broken', message }, expression);
  t.same(await expressions.evaluate('(object.megabyte + "b").endsWith("ab")', large), yes);
  t.equal(threads.length, 1, 'no limit of the thread was reached');
});

t.test('so is memory', async (t) => {
  const { expressions } = open(t, patient);
  const wide = `object.items.map(x, object.items.map(y, [${'y,'.repeat(400)}1])).exists(x, size(x) == 0)`;
  const message = 'the expression takes too much memory';
  t.same(await expressions.evaluate(wide, large), { kind: 'broken', message });
  t.same(await expressions.evaluate('object.ready', { ready: true }), yes, 'in another thread');
});

t.test('there is no thread before the first expression, nor when there has been none for a while', async (t) => {
  const { expressions, threads } = open(t, { limit: 60_000, idle: 1 });
  t.equal(threads.length, 0);
  for (const started of [1, 2]) {
    t.same(await expressions.evaluate('object.ready', { ready: true }), yes);
    t.equal(threads.length, started);
    const [, last = threads[0]] = threads;
    last?.ref();
    if (last?.threadId !== -1) await once(last as never, 'exit');
  }
});

t.test('the thread keeps no process from ending once it has answered', async (t) => {
  const script = `import { createExpressions } from './server/expressions/expressions.ts';
    const expressions = createExpressions({ limit: 60_000, idle: 600_000 });
    process.stdout.write(JSON.stringify(await expressions.evaluate('object.ready', { ready: true })));`;
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    encoding: 'utf8',
    timeout: 120_000,
  });
  t.equal(run.status, 0, run.stderr);
  t.same(JSON.parse(run.stdout), yes);
});

t.test('close ends the thread, and what waits for it', async (t) => {
  const { expressions, threads } = open(t, patient);
  const running = expressions.evaluate(loops, large);
  const waiting = expressions.compile('true');
  const rejected = Promise.all([t.rejects(running, /has ended/), t.rejects(waiting, /are closed/)]);
  if (threads.length === 0) await once(process, 'worker');
  await expressions.close();
  await rejected;
  t.equal(threads.length, 1);
  t.equal(threads[0]?.threadId, -1);
  await t.rejects(expressions.evaluate('true', {}), /are closed/);
  t.equal(threads.length, 1, 'none is started any more');
});

t.test('only the thread loads the library', async (t) => {
  const sources = readSources('server', 'hooks');
  const importers = (text: string): readonly string[] =>
    sources.filter((source) => valueImportsOf(source).some(({ target }) => target.includes(text))).map(({ path }) => path);
  const [worker, library] = ['server/expressions/worker.ts', importers('@bufbuild/')];
  t.ok(library.length > 0);
  const loaded = new Set(library);
  for (const path of loaded) if (path !== worker) for (const importer of importers(path)) loaded.add(importer);
  t.ok(loaded.delete(worker), 'the thread does');
  t.same(importers(worker), [], 'nothing imports it');
  for (const path of loaded) t.ok(path.startsWith('server/expressions/') && !path.endsWith('/expressions.ts'), path);
});

function valueImportsOf(source: Source): ReturnType<typeof importsOf> {
  return importsOf({ ...source, text: source.text.replaceAll(/^import type .*$/gm, '') });
}
