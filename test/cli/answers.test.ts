// The command line against answers that an API server gives seldom: pure of any control plane.
import type { IncomingMessage } from 'node:http';
import t from 'tap';
import { startAnswers, status, typed } from './here.ts';

const resources = {
  kind: 'APIResourceList',
  groupVersion: 'v1',
  resources: [
    { name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: ['get', 'list', 'create', 'patch', 'update', 'delete'] },
    { name: 'namespaces', kind: 'Namespace', namespaced: false, verbs: ['get', 'list', 'create', 'patch', 'update', 'delete'] },
  ],
};

/** A cluster that serves ConfigMaps and Namespaces, lets everybody do everything, and has nothing in it. */
function empty({ method, url = '' }: IncomingMessage) {
  if (url.startsWith('/api/v1?') || url === '/api/v1') return { body: resources };
  if (url.includes('selfsubjectaccessreviews')) return { code: 201, body: { status: { allowed: true } } };
  if (method === 'POST' || method === 'PATCH') return undefined;
  return status(404, 'NotFound');
}

t.test('rbac prints no Role where not all permissions are known', async (t) => {
  const seen: string[] = [];
  const server = await startAnswers(t, (request) => {
    seen.push(`${request.method} ${request.url}`);
    if (request.method === 'PATCH') return status(503, 'ServiceUnavailable');
    return empty(request) ?? status(404, 'NotFound');
  });
  const found = await typed(t, ['rbac', '-f', 'cm.json', '--service-account', 'deployer'], { server });
  t.same([found.code, found.out], [1, ''], JSON.stringify([found, seen], null, 1));
  t.match(found.err, /^janus: Not all permissions are known, and no Role is printed: not all changes could be tried \(Serv/m);
});

t.test('Ctrl-C ends what waits for an answer', async (t) => {
  const server = await startAnswers(t, () => undefined);
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
    const started = performance.now();
    const interrupted = AbortSignal.timeout(100);
    t.match(await typed(t, words, { server, interrupted }), { code: 130, out: /^$/ }, words.join(' '));
    t.ok(performance.now() - started < 4_000, `${performance.now() - started} ms`);
  }
});

t.test('--timeout ends what waits for an answer, a watch too', async (t) => {
  const silent = await startAnswers(t, () => undefined);
  const words = ['status', 'one', '--watch', '--timeout', '500ms'];
  const found = await typed(t, words, { server: silent });
  t.match(found, { code: 5, out: /^$/, err: /Nothing was seen of the Transaction in that time/ });
  const metadata = { name: 'one', namespace: 'default', uid: 'a', resourceVersion: '1' };
  const list = { metadata: { resourceVersion: '1' }, items: [{ metadata, spec: { changes: [] } }] };
  const lists = await startAnswers(t, ({ url }) => (url?.includes('watch=true') ? undefined : { body: list }));
  t.match(await typed(t, words, { server: lists }), { code: 5, out: /Pending after 0:00: it goes on/, err: /^$/ });
});
