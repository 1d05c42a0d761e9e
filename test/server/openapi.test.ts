// The document at /openapi.json: OpenAPI 3.1 as far as it goes, made of the schemas that validate, true of what is answered.
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { at, isObject, type Json, type JsonObject } from '../../hooks/objects/json.ts';
import { emptyStatus, encodeStatus } from '../../hooks/transactions/model/status.ts';
import { truncated } from '../../hooks/transactions/outcome/truncated.ts';
import { dialect } from '../../schemas/schema.ts';
import { syncRequest } from '../../schemas/sync-request.ts';
import { noOwn, request, rest, testApp } from './parts.ts';

const served = await testApp().server.inject('/openapi.json');
const document = served.json() as JsonObject;
const ajv = new Ajv2020({ ...dialect, keywords: [...dialect.keywords, ...Object.keys(document)], strict: false });
ajv.addSchema({ ...document, $id: 'hook' } as object);

/** The validator of a JSON body that the document has there. */
function validatorOf(...path: readonly string[]) {
  const pointer = [...path, 'content', 'application/json', 'schema'].map((part) => part.replaceAll('/', '~1')).join('/');
  return ajv.compile({ $ref: `hook#/${pointer}` });
}

const text = { type: 'string' };
const content = {
  type: 'object',
  additionalProperties: {
    type: 'object',
    required: ['schema'],
    additionalProperties: false,
    properties: { schema: { type: 'object' } },
  },
};
const response = {
  type: 'object',
  required: ['description'],
  additionalProperties: false,
  properties: { description: text, content, headers: { type: 'object' } },
};
const operation = {
  type: 'object',
  required: ['operationId', 'responses'],
  additionalProperties: false,
  properties: {
    operationId: text,
    summary: text,
    security: { type: 'array', items: { type: 'object', additionalProperties: { type: 'array', items: text } } },
    requestBody: {
      type: 'object',
      required: ['content'],
      additionalProperties: false,
      properties: { required: { type: 'boolean' }, content },
    },
    responses: {
      type: 'object',
      minProperties: 1,
      propertyNames: { pattern: '^[1-5][0-9]{2}$' },
      additionalProperties: response,
    },
  },
};
/** What OpenAPI 3.1 says of the fields that the document uses; any other is refused. */
const openApi = {
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  additionalProperties: false,
  properties: {
    openapi: { pattern: '^3\\.1\\.\\d+$' },
    info: { type: 'object', required: ['title', 'version'], additionalProperties: text },
    paths: {
      type: 'object',
      propertyNames: { pattern: '^/' },
      additionalProperties: { type: 'object', propertyNames: { enum: ['get', 'post'] }, additionalProperties: operation },
    },
    components: { type: 'object', propertyNames: { enum: ['schemas', 'securitySchemes'] } },
  },
};

t.test('the document is OpenAPI, and its references resolve', async (t) => {
  t.equal(served.statusCode, 200);
  const check = new Ajv2020({ strict: false }).compile(openApi);
  t.ok(check(document), JSON.stringify(check.errors));
  for (const [, pointer = ''] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g))
    t.ok(isObject(at(document, ...pointer.split('/'))), pointer);
  const ids = [...JSON.stringify(document).matchAll(/"operationId":"(\w+)"/g)].map(([, id]) => id);
  t.equal(new Set(ids).size, ids.length, 'no operation has the name of another');
});

t.test('the document names every route, and no other', async (t) => {
  const serving = {
    hook: async () => ({ status: {}, resyncAfterSeconds: 0, finalized: false }),
    own: noOwn,
    namespace: 'packages',
  };
  const { server } = testApp({ packages: () => serving });
  await server.inject('/healthz');
  const paths = at(document, 'paths') as JsonObject;
  for (const [path, operations] of Object.entries(paths))
    for (const method of Object.keys(operations as JsonObject))
      t.ok(server.hasRoute({ url: path, method: method.toUpperCase() as 'GET' }), `${method} ${path}`);
  const printed = server.printRoutes({ commonPrefix: false }).match(/\/[a-z.]+(?= \()/g) ?? [];
  const ends = Object.keys(paths).map((path) => path.slice(path.lastIndexOf('/')));
  t.same([...new Set(printed)].sort(), [...new Set(ends)].sort());
  const isOff = testApp().server;
  await isOff.inject('/healthz');
  const off = Object.keys(paths).filter(
    (path) => !['GET', 'POST'].some((method) => isOff.hasRoute({ url: path, method: method as 'GET' })),
  );
  const ofPackages = ['/packages/sync', '/packages/finalize', '/packages/customize'];
  const status = ['/packages/status/sync', '/packages/status/customize'];
  const own = ['/packages/own/sync', '/packages/own/finalize', '/packages/own/customize'];
  t.same(off, [...ofPackages, ...status, ...own], 'off by default');
});

t.test('the hook validates requests by the schema in the document', async (t) => {
  t.same(at(document, 'components', 'schemas', 'SyncRequest'), JSON.parse(JSON.stringify(syncRequest)));
  t.ok(validatorOf('paths', '/sync', 'post', 'requestBody')(request));
});

const statuses: readonly (readonly [string, Json])[] = [
  ['of a Transaction that begins', encodeStatus(truncated({ ...emptyStatus(1), version: 1 }))],
  ['of one that was gone before', {}],
];

for (const [which, status] of statuses)
  t.test(`answers conform to the document, with the status ${which}`, async (t) => {
    const app = testApp({ hook: async () => ({ ...rest, status: status as JsonObject }) });
    for (const path of ['/sync', '/finalize']) {
      const answer = await app.server.inject({ method: 'POST', url: path, payload: request });
      const conforms = validatorOf('paths', path, 'post', 'responses', String(answer.statusCode));
      t.ok(conforms(answer.json()), `${path}: ${JSON.stringify(conforms.errors)}`);
    }
  });

t.test('refusals and probes conform to the document', async (t) => {
  const late = testApp({
    hook: async () => ({ kind: 'retry', retryAfterSeconds: 5, because: 'a test' }),
    readiness: () => 'the API server does not answer',
  });
  const tried = [
    ['POST', '/sync', {}],
    ['POST', '/sync', request],
    ['GET', '/healthz', undefined],
    ['GET', '/readyz', undefined],
  ] as const;
  for (const [method, url, payload] of tried) {
    const answer = await late.server.inject({ method, url, ...(payload && { payload }) });
    const conforms = validatorOf('paths', url, method.toLowerCase(), 'responses', String(answer.statusCode));
    t.ok(conforms(answer.json()), `${url} ${answer.statusCode}: ${JSON.stringify(conforms.errors)}`);
  }
});
