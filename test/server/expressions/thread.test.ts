// The thread of expressions: when it is there, and that nothing outlives it.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { importsOf, readSources, type Source } from '../../support/sources.ts';
import { loops, megabyte, open, patient, yes } from './opened.ts';

const root = join(import.meta.dirname, '..', '..', '..');

t.test('no thread exists before the first expression, nor after a while without one', async (t) => {
  const { expressions, threads } = open(t, { limit: 60_000, idle: 1, wait: 60_000 });
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
    const expressions = createExpressions({ limit: 60_000, idle: 600_000, wait: 60_000 });
    process.stdout.write(JSON.stringify(await expressions.evaluate('object.ready', { ready: true }, { namespace: 'shop', uid: 'one' })));`;
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    encoding: 'utf8',
    timeout: 120_000,
  });
  t.equal(run.status, 0, run.stderr);
  t.same(JSON.parse(run.stdout), yes);
});

t.test('close ends the thread and its waiting calls', async (t) => {
  const { expressions, threads } = open(t, patient);
  const running = expressions.evaluate(loops, megabyte);
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
  const [worker, library] = ['server/expressions/worker.ts', importers('@bufbuild/cel')];
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
