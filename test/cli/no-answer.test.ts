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
  // `apply` sends three requests at once: whose name it is, whether the Transaction exists, and the dry run.
  const rows = [
    ['list', 1],
    ['locks', 1],
    ['doctor', 1],
    ['apply -f tx.json', 3],
  ] as const;
  for (const [line, count] of rows) {
    const paths: string[] = [];
    const server = await startSilence(t, (path) => paths.push(path));
    const found = await typed(t, [...line.split(' '), '--request-timeout', '1s'], { server });
    t.match(found, { code: 1, err: /gives no answer \(Timeout\)/ }, line);
    t.equal(new Set(paths).size, count, `${line}: ${paths.join(', ')}`);
    t.equal(paths.length, count, `${line}: each once`);
  }
});
