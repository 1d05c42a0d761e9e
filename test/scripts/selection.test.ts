// The files that `npm test` leaves to `npm run test:all`: no kind of behaviour is left out whole.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import process from 'node:process';
import t from 'tap';
import { readTestOptions } from '../../scripts/test-options.ts';
import { filesInAllOnly, inAllOnly, share } from '../support/selection.ts';

t.test('each file that npm test leaves out is there, and so is the file that tries its kind of behaviour', async (t) => {
  t.ok(filesInAllOnly.size > 0);
  for (const [left, tried] of filesInAllOnly) {
    for (const file of [left, tried]) t.ok(existsSync(`test/${file}.test.ts`), file);
    t.notOk(filesInAllOnly.has(tried), `${tried} is tried by npm test`);
  }
});

t.test('a file that is named runs whole', async (t) => {
  const selected = process.env.JANUS_TESTS === 'selected';
  t.same([inAllOnly.skip !== false, share(1, 2)], selected ? [true, 1] : [false, 2]);
  t.equal(readTestOptions([]).all, false);
  t.equal(readTestOptions(['--all']).all, true);
  t.equal(readTestOptions(['test/hooks']).all, true);
});

t.test('a part of a title chooses the files that hold it, and these run whole', async (t) => {
  // This file must not hold the texts that it searches for.
  const { JANUS_TEST_KUBECONFIG: _, ...env } = process.env;
  const run = (...words: readonly string[]) =>
    spawnSync(process.execPath, ['scripts/test.ts', 'test/scripts', '--grep', words.join(' ')], { encoding: 'utf8', env });
  const found = run('a missing LINE', 'is an error that names it');
  t.match(found.stdout, /picture\.test\.ts: 5 passed, 0 failed.*\n5 passed, 0 failed\n$/);
  t.match(run('a title', 'that no test has').stderr, /No test files found.*--grep/);
  t.equal(readTestOptions(['--grep', 'a title']).all, true);
});

t.test('a shard is a number of a number', async (t) => {
  t.same(readTestOptions(['--shard', '2/4']).shard, { index: 2, of: 4 });
  for (const text of ['5/4', '0/4', '2', '2/', 'two/four'])
    t.throws(() => readTestOptions(['--shard', text]), /expected a number of a number/);
});
