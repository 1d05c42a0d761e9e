// The web server without a socket: what it takes for a call, what it answers, and what it never says.
import { readdirSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import t from 'tap';
import { at, isObject, type JsonObject, parseJson, textAt } from '../../hooks/objects/json.ts';
import { dialect } from '../../schemas/schema.ts';
import { syncResponse } from '../../schemas/sync-response.ts';
import { isWithinBounds } from '../../server/body.ts';
import { noOwn, request, rest, type TestApp, testApp } from './parts.ts';

const json = { 'content-type': 'application/json' };
const conformsToResponse = new Ajv(dialect).compile(syncResponse);

function post(app: TestApp, path: string, payload: string | object) {
  return app.server.inject({ method: 'POST', url: path, headers: json, payload });
}

t.test('the hook understands recorded calls of Metacontroller', async (t) => {
  const directory = new URL('../fixtures/metacontroller/', import.meta.url);
  const files = readdirSync(directory).filter((name) => name.endsWith('.json'));
  t.ok(files.length >= 14);
  for (const file of files) {
    const recording = parseJson(readFileSync(new URL(file, directory), 'utf8')) as JsonObject;
    const body = at(recording, 'request');
    const app = testApp();
    const answer = await post(app, textAt(recording, 'url') ?? '', JSON.stringify(body));
    t.equal(answer.statusCode, 200, file);
    t.equal(app.calls[0]?.uid, textAt(body, 'parent', 'metadata', 'uid'), file);
    t.same(app.calls[0]?.status, at(body, 'parent', 'status') ?? {}, file);
  }
});

t.test('the hook reads only the identity, the status and the observed children of a body', async (t) => {
  const app = testApp();
  const configMap = { kind: 'ConfigMap', metadata: { name: 'a' } };
  const children = { 'ConfigMap.v1': { 'shop/a': configMap, 'shop/b': configMap }, 'Secret.v1': {} };
  await post(app, '/sync', { ...request, children, finalizing: false, related: {}, controller: { spec: {} }, novel: 1 });
  t.same(app.calls, [
    {
      namespace: 'shop',
      name: 'deploy-v2',
      uid: '6f1c-01',
      status: { phase: 'Prepared' },
      children: [configMap, configMap],
    },
  ]);
});

t.test('the answer has only fields that Metacontroller knows', async (t) => {
  const reply = { ...rest, resyncAfterSeconds: 1.5, children: [{ kind: 'ConfigMap' }] };
  const app = testApp({ hook: async () => reply });
  const sync = (await post(app, '/sync', request)).json();
  t.same(sync, { status: { phase: 'Committed' }, children: [{ kind: 'ConfigMap' }], resyncAfterSeconds: 1.5 });
  const finalize = (await post(app, '/finalize', request)).json();
  t.same(finalize, { ...sync, finalized: true });
  t.ok(conformsToResponse(sync) && conformsToResponse(finalize));
});

t.test('the hook keeps large integers and odd keys', async (t) => {
  const status = '{"version":9007199254740993,"__proto__":{"a":1},"constructor":1}';
  const app = testApp({ hook: async (call) => ({ ...rest, status: call.status }) });
  const body = JSON.stringify(request).replace('{"phase":"Prepared"}', status);
  const answer = await post(app, '/sync', body);
  t.equal(answer.statusCode, 200);
  t.match(answer.body, status);
  t.equal(Object.getPrototypeOf({}), Object.prototype);
  t.notOk('a' in {});
});

t.test('the hook refers callers to later by a 429 with whole seconds, which Go can read', async (t) => {
  for (const [wish, header] of [
    [5, '5'],
    [0.2, '1'],
    [0, '1'],
    [1.5, '2'],
  ] as const) {
    const answer = await post(
      testApp({ hook: async () => ({ kind: 'retry', retryAfterSeconds: wish, because: 'a test' }) }),
      '/sync',
      request,
    );
    t.equal(answer.statusCode, 429);
    t.equal(answer.headers['retry-after'], header);
  }
});

t.test(
  'calls that hang do not take all turns: others of their namespace are referred to later, other namespaces are served',
  async (t) => {
    const { promise: hang, resolve: end } = Promise.withResolvers<void>();
    const app = testApp({ hook: ({ namespace }) => (namespace === 'hangs' ? hang.then(() => rest) : Promise.resolve(rest)) });
    const of = (namespace: string, uid: string) => ({
      parent: { ...request.parent, metadata: { ...request.parent.metadata, namespace, uid } },
    });
    const all = Array.from({ length: 40 }, (_, index) => post(app, '/sync', of('hangs', `${index}`)));
    const { promise: over, resolve: count } = Promise.withResolvers<void>();
    const refused: Awaited<(typeof all)[number]>[] = [];
    for (const one of all) void one.then((answer) => refused.push(answer) === 22 && count());
    // The wait for a turn does not keep a process running: its server does.
    const running = setInterval(() => undefined, 1_000);
    t.teardown(() => clearInterval(running));
    await over;
    t.same(new Set(refused.map(({ statusCode }) => statusCode)), new Set([429]));
    t.ok(refused.every(({ headers }) => Number(headers['retry-after']) >= 1));
    t.equal((await post(app, '/sync', of('other', 'one'))).statusCode, 200);
    end();
    t.equal((await Promise.all(all)).filter(({ statusCode }) => statusCode === 200).length, 18, 'it came alone: it leaves six');
    t.equal((await post(app, '/sync', of('hangs', 'one'))).statusCode, 200);
  },
);

const metadata = request.parent.metadata;
const invalid: readonly (readonly [because: string, body: unknown, path: string, rule: string])[] = [
  ['a call is about a parent', {}, '/', 'required parent'],
  ['a body is an object', [], '/', 'type'],
  ['a body is not null', null, '/', 'type'],
  [
    'a uid is needed',
    { parent: { ...request.parent, metadata: { name: 'a', namespace: 'b' } } },
    '/parent/metadata',
    'required uid',
  ],
  [
    'a name is a name',
    { parent: { ...request.parent, metadata: { ...metadata, name: '../x' } } },
    '/parent/metadata/name',
    'pattern',
  ],
  ['a name is text', { parent: { ...request.parent, metadata: { ...metadata, name: 7 } } }, '/parent/metadata/name', 'type'],
  ['a kind is ours', { parent: { ...request.parent, kind: 'Secret' } }, '/parent/kind', 'enum'],
  ['a group is ours', { parent: { ...request.parent, apiVersion: 'v1' } }, '/parent/apiVersion', 'pattern'],
  ['a status is an object', { parent: { ...request.parent, status: 'x' } }, '/parent/status', 'type'],
  ['children are grouped', { ...request, children: { 'ConfigMap.v1': [] } }, '/children/ConfigMap.v1', 'type'],
];

for (const [because, body, path, rule] of invalid)
  t.test(`refused, by path and rule: ${because}`, async (t) => {
    const app = testApp();
    const answer = await post(app, '/sync', JSON.stringify(body));
    t.equal(answer.statusCode, 400);
    t.match(answer.json().faults, [{ path: path.replaceAll('~1', '/'), rule }]);
    t.equal(app.calls.length, 0);
  });

t.test('a refusal quotes no value', async (t) => {
  const secret = { ...request.parent, kind: 'hunter2', metadata: { ...metadata, uid: '!hunter2' }, status: 'hunter2' };
  t.notMatch((await post(testApp(), '/sync', { parent: secret })).body, /hunter2/);
});

const broken: readonly (readonly [
  because: string,
  payload: string,
  headers: Record<string, string>,
  code: number,
  error: string,
])[] = [
  ['cut JSON', '{"parent":', json, 400, 'the request is not one JSON object'],
  ['no body', '', json, 400, 'the request is not one JSON object'],
  ['no JSON', '<hunter2/>', json, 400, 'the request is not one JSON object'],
  ['another content type', 'a=b', { 'content-type': 'text/plain' }, 415, 'the content type must be application/json'],
  ['too much', `{"x":"${'x'.repeat(1024 * 1024)}"}`, json, 413, 'the request body has too many bytes, levels or values'],
];

for (const [because, payload, headers, code, error] of broken)
  t.test(`a constant body for ${because}`, async (t) => {
    const answer = await testApp().server.inject({ method: 'POST', url: '/sync', headers, payload });
    t.equal(answer.statusCode, code);
    t.same(answer.json(), { error });
  });

/** A call whose parent has a field nested so deep. */
const nested = (levels: number, value = '1', field = 'spec'): string =>
  JSON.stringify({ ...request, parent: { ...request.parent, [field]: 'deep' } }).replace(
    '"deep"',
    `${'{"a":'.repeat(levels)}${value}${'}'.repeat(levels)}`,
  );

const huge: readonly (readonly [because: string, body: string, code: number])[] = [
  ['lists without end', '['.repeat(500_000), 413],
  ['objects without end', nested(100_000), 413],
  ['lists of large integers without end', '[1234567890123456789,'.repeat(40_000), 413],
  ['quotation marks that hide nothing', `{"\\"":${'['.repeat(20_000)}`, 413],
  ['as deep as the API server stores, if it is a call', nested(10_000), 200],
  ['that, with an integer that needs care', nested(10_000, '9007199254740993'), 200],
  ['that, but in the status, which is given back', nested(10_000, '1', 'status'), 400],
  ['as deep as the API server stores, but no call', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, 400],
  ['brackets in text', JSON.stringify({ ...request, more: '[{,:"'.repeat(150_000) }), 200],
];

t.test('the hook refuses a body nested without end, and serves the next call', async (t) => {
  const app = testApp();
  for (const [because, body, code] of huge) {
    t.equal((await post(app, '/sync', body)).statusCode, code, because);
    t.equal((await post(app, '/sync', request)).statusCode, 200);
  }
});

t.test('the hook refuses a body before its contents take memory', async (t) => {
  const inBounds = (text: string): boolean => isWithinBounds(Buffer.from(text));
  const keys = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"${index}":1`).join()}}`;
  t.ok(inBounds(keys(500_000)));
  t.notOk(inBounds(keys(1_000_000)));
  t.notOk(inBounds(`[${'{},'.repeat(1_000_000)}{}]`));
  t.ok(inBounds(`[${'0,'.repeat(1_000_000)}0]`), 'more than the API server stores of the smallest values');
  t.ok(inBounds('"not closed \\'), 'text that does not end is for the parser to refuse');
});

t.test('a bug causes a 500 without details, and a log line without quotes', async (t) => {
  const app = testApp({ hook: () => Promise.reject(new TypeError('cannot read hunter2')) });
  const answer = await post(app, '/sync', request);
  t.equal(answer.statusCode, 500);
  t.same(answer.json(), { error: 'internal error' });
  t.match(app.lines, [{ level: 50, error: 'TypeError', msg: 'call failed: internal error' }]);
  t.notMatch(JSON.stringify(app.lines), /hunter2/);
  const frames = app.lines[0]?.at;
  t.ok(Array.isArray(frames) && frames.length > 0, 'but says where');
});

t.test('the hook refuses unknown paths and methods', async (t) => {
  const app = testApp();
  const get = await app.server.inject('/sync?x=1');
  t.equal(get.statusCode, 405);
  t.equal(get.headers.allow, 'POST');
  t.same(get.json(), { error: 'method not allowed' });
  const posted = await post(app, '/healthz', {});
  t.match([posted.statusCode, posted.headers.allow], [405, 'GET, HEAD']);
  t.equal((await app.server.inject('/packages/sync')).statusCode, 404, 'not served');
  const hook = async () => ({ status: {}, resyncAfterSeconds: 0, finalized: false });
  const serving = testApp({ packages: () => ({ hook, own: noOwn, namespace: 'packages' }) });
  t.match(await serving.server.inject('/packages/sync'), { statusCode: 405, headers: { allow: 'POST' } });
  const unknown = await app.server.inject('/hunter2');
  t.equal(unknown.statusCode, 404);
  t.same(unknown.json(), { error: 'not found' });
  t.equal((await app.server.inject('/%zz')).statusCode, 400);
  t.equal((await app.server.inject('/constructor')).statusCode, 404);
});

t.test('the hook can be alive but not ready', async (t) => {
  const app = testApp({ readiness: () => 'the sealing key is not available yet' });
  t.equal((await app.server.inject('/healthz')).statusCode, 200);
  const ready = await app.server.inject('/readyz');
  t.equal(ready.statusCode, 503);
  t.same(ready.json(), { ok: false, reason: 'the sealing key is not available yet' });
  t.equal((await testApp().server.inject('/readyz')).statusCode, 200);
});

t.test('the hook keeps connections longer than Go does', async (t) => {
  t.ok(testApp().server.server.keepAliveTimeout >= 95_000);
});

t.test('a request has ten seconds to arrive, its headers no more', async (t) => {
  const { headersTimeout, requestTimeout } = testApp().server.server;
  t.same([headersTimeout, requestTimeout], [10_000, 10_000]);
});

t.test('the hook finishes its current step during shutdown, and refers further calls to later', async (t) => {
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  const hook = () => {
    start();
    return finished.then(() => rest);
  };
  const app = testApp({ hook });
  const inHand = post(app, '/sync', request);
  await started;
  t.equal(app.calls.length, 1);
  const drained = app.drain();
  t.equal((await app.server.inject('/readyz')).statusCode, 503);
  t.equal((await app.server.inject('/healthz')).statusCode, 200);
  const late = await post(app, '/sync', request);
  t.equal(late.statusCode, 429);
  t.equal(late.headers['retry-after'], '1');
  t.equal(app.calls.length, 1);
  finish();
  t.equal((await inHand).statusCode, 200);
  await drained;
});

t.test('a step that fails by a bug does not delay the shutdown', async (t) => {
  const app = testApp({ hook: () => Promise.reject(new Error('x')) });
  await post(app, '/sync', request);
  await app.drain();
  t.ok(isObject(app.lines[0]));
});
