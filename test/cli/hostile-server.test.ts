// The command line where the API server is hostile, or somebody in its place: what it answers moves no terminal, leads to no other host, and
// takes bounded memory.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { allPages } from '../../cli/cluster/pages.ts';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { startServer, typed } from './here.ts';

const evil = '\u001b]0;title\u0007\u001b[2J\u202e\n\r\u009b8m';
const moving = /(?!\n)[\p{Cc}\p{Cf}]/u;

const transaction = (phase = 'Committed'): JsonObject => ({
  ...{ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction' },
  metadata: { name: `a${evil}`, namespace: evil, uid: evil, resourceVersion: phase, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { changes: [{ type: evil, target: { apiVersion: evil, kind: evil, name: evil, namespace: evil } }] },
  status: {
    ...{ phase, progress: evil, message: evil, items: [{ state: evil, error: { reason: evil, message: evil } }] },
    conditions: [
      { type: 'Finished', status: 'True' },
      { type: 'Succeeded', status: 'True', reason: evil },
    ],
    undo: {
      request: { annotation: evil, value: evil },
      reason: 'UndoRefused',
      message: evil,
      digest: evil,
      counts: {},
      items: [],
    },
  },
});
const list = (items: readonly JsonObject[], metadata: JsonObject = { resourceVersion: '5' }): JsonObject => ({ metadata, items });
const secret = { metadata: { name: evil, namespace: evil, labels: { 'tx.janus.io/contents': 'true' } } };
const lease = { metadata: { name: evil, annotations: { 'tx.janus.io/transaction': evil } } };
const engine = { metadata: { labels: { 'app.kubernetes.io/version': evil } } };
const table = {
  kind: 'Table',
  metadata: { resourceVersion: evil },
  columnDefinitions: [{ name: evil, priority: 0 }],
  rows: [{ cells: [evil], object: { metadata: { name: evil, namespace: evil } } }],
};

const isWatch = ({ url = '' }: IncomingMessage): boolean => url.includes('watch=true');
const json = (answer: ServerResponse, body: JsonObject): unknown =>
  answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));

function bodyFor({ url = '', method, headers }: IncomingMessage): JsonObject {
  if (headers.accept?.includes('Table')) return table;
  const [, plural = '', name = ''] = /\/(leases|secrets|deployments|transactions)(\/?)/.exec(url) ?? [];
  const isOne = name !== '' || method !== 'GET';
  const found = { leases: list([lease]), secrets: list([secret]), deployments: engine, transactions: list([transaction()]) };
  return isOne && plural === 'transactions' ? transaction() : (found[plural as keyof typeof found] ?? {});
}

t.test('no text of the API server moves a terminal', async (t) => {
  const server = await startServer(t, (request, answer) => json(answer, bodyFor(request)));
  const rows: readonly (readonly string[])[] = [
    ['list', '-A'],
    ...['name', 'json', 'yaml'].map((format) => ['list', '-o', format]),
    ['history'],
    ['status'],
    ['status', 'a', '--watch'],
    ['locks'],
    ['diff', 'a'],
    ['version'],
    ['undo', 'a', '--yes'],
    ['__complete', 'status', ''],
  ];
  for (const words of rows) {
    const { out, err } = await typed(t, words, { server });
    t.ok(out !== '' || err !== '', words.join(' '));
    t.notMatch(`${out}${err}`, moving, words.join(' '));
    t.notMatch(`${out}${err}`, /title$/m, 'no line break of the server');
  }
});

t.test('a Transaction that is nested without end ends no list', async (t) => {
  const deep = `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`;
  const whole = JSON.stringify(list([transaction(), { metadata: { name: 'deep' }, spec: { changes: [{ content: 'DEEP' }] } }]));
  const server = await startServer(t, (_, answer) => answer.end(whole.replace('"DEEP"', deep)));
  for (const format of ['json', 'yaml']) {
    const { code, out } = await typed(t, ['list', '-o', format], { server });
    t.equal(code, 0);
    t.match(out, /content"?: ["']?\(nested deeper than 500 levels\)/);
  }
  t.match(await typed(t, ['list'], { server }), { code: 0 });
});

t.test('a Transaction of 150 000 changes, more than a call has arguments, is printed', async (t) => {
  const changes = Array.from({ length: 150_000 }, (_, index) => ({
    ...{ type: 'Patch', target: { apiVersion: 'v1', kind: 'ConfigMap', name: `n${index}` } },
  }));
  const large = { ...transaction('Committing'), spec: { changes } };
  const server = await startServer(t, (request, answer) => {
    if (request.url?.includes('/deployments')) return answer.writeHead(500).end('{}');
    return json(answer, list(request.url?.includes('/transactions') ? [large] : []));
  });
  const { code, out, err } = await typed(t, ['locks'], { server });
  t.equal(code, 0, err);
  t.equal(out.split('\n').filter((line) => line.startsWith('ConfigMap ')).length, changes.length);
});

t.test('a shell completes no name that it would run', async (t) => {
  const names = ['release-1', '$(reboot)', '`reboot`', 'a;reboot', '*', '-rf', ':0', evil];
  const server = await startServer(t, (_, answer) => json(answer, list(names.map((name) => ({ metadata: { name } })))));
  t.equal((await typed(t, ['__complete', 'status', ''], { server })).out, 'release-1\n:4\n');
});

/** Follows a Transaction until `watched` has answered its watch by what ends it. */
async function followed(t: Parameters<typeof startServer>[0], watched: (answer: ServerResponse) => unknown) {
  let phase = 'Committing';
  const server = await startServer(t, (request, answer) => {
    if (!isWatch(request)) return json(answer, list([transaction(phase)]));
    phase = 'Committed';
    return watched(answer);
  });
  return typed(t, ['status', 'a', '--watch'], { server });
}

t.test('a watch follows no redirect', async (t) => {
  const asked: string[] = [];
  const other = await startServer(t, ({ url = '' }, answer) => {
    asked.push(url);
    answer.end();
  });
  t.match(await followed(t, (answer) => answer.writeHead(307, { location: `${other}/elsewhere` }).end()), { code: 0 });
  t.same(asked, []);
});

t.test('no request follows a redirect, which would carry the token', async (t) => {
  const asked: string[] = [];
  const other = await startServer(t, ({ url = '' }, answer) => {
    asked.push(url);
    answer.end('{}');
  });
  const server = await startServer(t, ({ url = '' }, answer) => answer.writeHead(308, { location: `${other}${url}` }).end());
  const rows = [
    ['list'],
    ['status', 'a'],
    ['undo', 'a', '--yes'],
    ['history'],
    ['locks'],
    ['diff', 'a'],
    ['doctor'],
    ['abort', 'a'],
  ];
  for (const words of rows) {
    const { out, err } = await typed(t, words, { server });
    t.match(`${out}${err}`, /AnswerUnreadable/, words.join(' '));
  }
  t.same(asked, []);
});

t.test('a watch ends at invalid input: compressed data, or a line without end', async (t) => {
  const packed = gzipSync(`${JSON.stringify({ type: 'MODIFIED', object: transaction('Unpacked') })}\n`);
  const { code, out } = await followed(t, (answer) => answer.writeHead(200, { 'content-encoding': 'gzip' }).end(packed));
  t.equal(code, 0);
  t.notMatch(out, /Unpacked/);
  let sent = 0;
  const block = Buffer.alloc(1024 * 1024, 'a');
  const flood = (answer: ServerResponse): void => {
    sent += 1;
    if (!answer.destroyed) answer.write(block, () => flood(answer));
  };
  t.match(await followed(t, flood), { code: 0 });
  t.ok(sent >= 16 && sent < 64, `${sent} MiB were sent`);
});

t.test('a watch skips malformed events', async (t) => {
  const odd = ['', 'null', '5', '[]', '{"type":"MODIFIED"}', '{"type":"MODIFIED","object":5}', '{"type":5,"object":{}}', '{'];
  const good = JSON.stringify({ type: 'MODIFIED', object: transaction('Failed') });
  const { code, out } = await followed(t, (answer) => answer.write(`${[...odd, good].join('\n')}\n`));
  t.match({ code, out }, { code: 2, out: / failed after / });
});

t.test('the program stops retrying a write that is always stale', async (t) => {
  const stale = JSON.stringify({ kind: 'Status', reason: 'Conflict', code: 409 });
  const server = await startServer(t, ({ method }, answer) =>
    method === 'PATCH' ? answer.writeHead(409).end(stale) : json(answer, transaction()),
  );
  t.match(await typed(t, ['undo', 'a', '--yes'], { server }), { code: 1, err: /changed during each attempt/ });
});

t.test('the program ends a list without end', async (t) => {
  for (const size of [1, 64 * 1024 * 1024]) {
    const all = allPages(async () => ({ kind: 'ok', next: 'more', size }));
    await t.rejects(all, /larger than 256 MiB or 1000 pages/, `pages of ${size} characters`);
  }
  let pages = 0;
  const server = await startServer(t, (_, answer) => {
    pages += 1;
    return json(answer, list([transaction()], { resourceVersion: '5', continue: `${pages}` }));
  });
  t.match(await typed(t, ['list'], { server }), { code: 1, err: /name a namespace with -n/ });
  t.ok(pages <= 1_001, `${pages} pages`);
});
