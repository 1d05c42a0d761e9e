// The command line if the server at the address of the API server never answers.
import t from 'tap';
import { startSilence, typed } from './here.ts';

t.test('Ctrl-C ends a request that waits for an answer', async (t) => {
  const server = await startSilence(t);
  const rows: readonly (readonly string[])[] = [
    ['plan', '-f', 'tx.json'],
    ['plan', '-f', '-'],
    ['diff', 'one'],
    ['rbac', '-f', 'tx.json'],
    ['history'],
    ['locks'],
    ['list'],
    ['status', 'one'],
    ['status', 'one', '--watch'],
    ['apply', '-f', '-'],
    ['apply', '-f', 'tx.json'],
  ];
  for (const words of rows) {
    const interrupted = AbortSignal.timeout(100);
    t.match(await typed(t, words, { server, interrupted }), { code: 130, out: /^$/ }, words.join(' '));
  }
});

t.test('--timeout ends a request that waits for an answer, and a watch', async (t) => {
  const silent = await startSilence(t);
  const words = ['status', 'one', '--watch', '--timeout', '500ms'];
  const found = await typed(t, words, { server: silent });
  t.match(found, { code: 5, out: /^$/, err: /The command could not read the Transaction in that time/ });
});

t.test('a command ends with the first request that has no answer', async (t) => {
  for (const words of [['list'], ['locks'], ['doctor'], ['apply', '-f', 'tx.json']]) {
    const paths: string[] = [];
    const server = await startSilence(t, (path) => paths.push(path));
    const found = await typed(t, [...words, '--request-timeout', '1s'], { server });
    t.match(found, { code: 1, err: /gives no answer \(Timeout\)/ }, words.join(' '));
    t.equal(paths.length, 1, `${words.join(' ')}: ${paths.join(', ')}`);
  }
});
