// The kind of package transactions on the real API server: what it accepts, what it refuses, and the story that its status says.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { at, type JsonObject, parseJson, textAt, withPath } from '../../hooks/objects/json.ts';
import { dialect } from '../../schemas/schema.ts';
import { must } from '../support/client.ts';
import { hookEnvironment, post, ready, startHookProcess } from '../support/hook-process.ts';
import { hookToken } from '../support/hook-token.ts';
import { createDriver } from '../support/package-driver.ts';
import { lockPath, ptxPath } from '../support/package-paths.ts';
import { startPackageWorld, statusOf, storyOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { openPages } from '../support/typing.ts';

t.setTimeout(600_000);

const world = await startPackageWorld(t, { isByHand: true });
const { client, source } = world;
const driver = createDriver(t, world);
const calls = join(import.meta.dirname, '..', '..', 'examples', 'packages', 'calls');

const example: JsonObject = {
  apiVersion: 'pkg.crossplane.io/v1alpha1',
  kind: 'Transaction',
  metadata: { name: 'example' },
  spec: {
    change: 'Install',
    install: {
      package: {
        apiVersion: 'pkg.crossplane.io/v1',
        kind: 'Provider',
        metadata: { name: 'provider-aws-s3' },
        spec: { package: 'registry.example.org/acme/provider-aws-s3:v1.0.0' },
      },
    },
  },
};
const packageName = ['spec', 'install', 'package', 'metadata', 'name'];
const reference = ['spec', 'install', 'package', 'spec', 'package'];

t.test('examples/packages/calls: each recorded call works, and its answer fits the OpenAPI document', async (t) => {
  const hook = await world.startHook();
  const document = (await (await request(`${hook.url}/openapi.json`)).body.json()) as JsonObject;
  const ajv = new Ajv2020({ ...dialect, keywords: [...dialect.keywords, ...Object.keys(document)], strict: false });
  ajv.addSchema({ ...document, $id: 'hook' } as object);
  const as = (text: string): string => text.replace(/HOOK=\S+ HOOK_TOKEN=\S+/, `HOOK=${hook.url} HOOK_TOKEN=${hookToken}`);
  const place = { folder: calls, env: { KUBECONFIG: world.plane.kubeconfig }, as };
  const [typed = ''] = await openPages('test/packages/kinds.test.ts').type(t, place, 'examples/packages/calls/README.md');
  const uid = textAt(must(await client.get(ptxPath('example'))), 'metadata', 'uid') ?? '';
  const call = async (name: string): Promise<JsonObject> => {
    const env = { PATH: process.env.PATH, HOOK: hook.url, HOOK_TOKEN: hookToken, TRANSACTION_UID: uid };
    return read(name, (await promisify(execFile)('sh', ['curl.sh'], { cwd: join(calls, name), env })).stdout);
  };
  const read = (name: string, stdout: string): JsonObject => {
    const pointer = `paths/~1packages~1${name}/post/responses/200/content/application~1json/schema`;
    const isAsSaid = ajv.compile({ $ref: `hook#/${pointer}` });
    const answer = parseJson(stdout) as JsonObject;
    t.ok(isAsSaid(answer), `${name}: ${JSON.stringify(isAsSaid.errors)}`);
    asInExample(t, name, stdout.replaceAll(uid, '{uid}'));
    return answer;
  };
  await call('customize');
  const figures = await (await request(`${hook.url}/metrics`)).body.text();
  t.match(figures, 'janus_package_transactions_active{phase="Waiting"} 1', 'no status is stored');
  const { status = {} } = read('sync', typed.slice(typed.indexOf('{')));
  must(
    await client.update(`${ptxPath('example')}/status`, withPath(must(await client.get(ptxPath('example'))), ['status'], status)),
  );
  must(await client.delete(ptxPath('example')));
  await call('finalize');
  must(await client.patch(ptxPath('example'), { metadata: { finalizers: null } }));
  await hook.kill();
  // What follows begins without a Lock.
  must(await client.delete(lockPath));
});

function asInExample(t: Test, name: string, answer: string): void {
  const masked = answer.replaceAll(/\d{4}-\d\d-\d\dT[\d:]{8}Z/g, '{time}').replaceAll(/sha256:[0-9a-f]{64}/g, '{digest}');
  const file = join(calls, name, 'answer.json');
  if (process.env.JANUS_WRITE_EXAMPLES === '1') writeFileSync(file, `${JSON.stringify(parseJson(masked), undefined, 2)}\n`);
  t.same(parseJson(masked), parseJson(readFileSync(file, 'utf8')), name);
}

t.test('1, 5: the example is accepted; retryLimit is 5; a PUT leaves the status as it is', async (t) => {
  const created = must(await client.create(ptxPath(), example));
  t.equal(at(created, 'spec', 'retryLimit'), 5);
  t.same(at(created, 'status'), { observedGeneration: -1 }, 'the default');
  const put = must(await client.update(ptxPath('example'), { ...created, status: { phase: 'Succeeded', version: 1 } }));
  t.same(at(put, 'status'), { observedGeneration: -1 });
  const edited = await client.update(ptxPath('example'), withPath(put, reference, 'registry.example.org/acme/other:v1.0.0'));
  t.equal(edited.code, 422);
  t.match(edited.text, /spec is immutable/);
});

t.test('a status never goes back', async (t) => {
  const stored = async (status: JsonObject) =>
    client.update(`${ptxPath('example')}/status`, withPath(must(await client.get(ptxPath('example'))), ['status'], status));
  must(await stored({ phase: 'Validating', version: 5, failures: 0 }));
  for (const status of [{ phase: 'Waiting', version: 4 }, { phase: 'Waiting', version: 5, failures: 0 }, {}])
    t.match(await stored(status), { code: 422, text: /status\.version/ }, JSON.stringify(status));
  must(await stored({ phase: 'Validating', version: 5, failures: 0, retryTime: '2026-01-01T00:00:00Z' }));
  must(await stored({ phase: 'Preparing', version: 6, failures: 0 }));
});

t.test('2, 4: the API server refuses a malformed package transaction when it is created', async (t) => {
  const rows: readonly (readonly [readonly string[], JsonObject[string]])[] = [
    [['spec', 'change'], 'Delete'],
    [['spec', 'change'], 'Upgrade'],
    [['spec', 'delete'], { source: 'registry.example.org/acme/one' }],
    [['spec', 'retryLimit'], 0],
    [['spec', 'install', 'package', 'kind'], 'Lock'],
    [reference, 'no-registry/one:v1'],
    [reference, 'registry.example.org/Acme/one:v1'],
    [reference, 'registry.example.org/acme/../one:v1'],
    [reference, `registry.example.org/${'a'.repeat(2_000)}:v1`],
    [reference, 7],
    [['metadata', 'name'], 'a'.repeat(64)],
    [['metadata', 'finalizers'], ['metacontroller.io/compositecontroller-janus-packages']],
    [packageName, 'a'.repeat(64)],
    [packageName, 'a/b'],
    [packageName, 'Upper'],
    [packageName, 'a..b'],
  ];
  for (const [path, value] of rows) {
    const answer = await client.create(ptxPath(), withPath(withPath(example, ['metadata', 'name'], 'bad'), path, value));
    t.equal(answer.code, 422, `${path.join('.')}: ${JSON.stringify(value)?.slice(0, 60)}: ${answer.text.slice(0, 200)}`);
  }
  const { install: _, ...rest } = at(example, 'spec') as JsonObject;
  t.equal((await client.create(ptxPath(), { ...example, spec: rest })).code, 422, 'without install');
});

t.test('10: the story of an install; 16: while stages run', async (t) => {
  await world.publish({ name: 'story', tag: 'v1.0.0', objects: [definitionOf('ones', 'story.org')] });
  await world.install('story', `${source('story')}:v1.0.0`, { packageName: 'story' });
  const stories: string[] = [];
  for (let phase = ''; phase !== 'Succeeded'; ) {
    const status = statusOf(await driver.step('story'));
    phase = textAt(status, 'phase') ?? '';
    const story = storyOf(status)
      .map((one) => one.replace(/^\w+ /, ''))
      .join(' ');
    if (stories.at(-1) !== story) stories.push(story);
  }
  const [synced, running] = ['True/ReconcileSuccess', 'False/TransactionInProgress'];
  t.same(stories, [
    `Unknown/WaitingForLock Unknown/InstallationPending Unknown/TransactionInProgress ${synced} ${running}`,
    `Unknown/Resolving Unknown/InstallationPending Unknown/TransactionInProgress ${synced} ${running}`,
    `True/AllValidationsPassed Unknown/InstallationInProgress Unknown/TransactionInProgress ${synced} ${running}`,
    `True/AllValidationsPassed True/InstallationComplete Unknown/TransactionInProgress ${synced} ${running}`,
    `True/AllValidationsPassed True/InstallationComplete True/TransactionComplete ${synced} True/TransactionComplete`,
  ]);
});

t.test('54: off, the paths answer 404; on, a body that is no call answers 400', async (t) => {
  const off = startHookProcess(t, hookEnvironment(t, world.engineKubeconfig, 'janus-system'));
  const [offUrl, on] = [await ready(await off.address()), await world.startHook()];
  for (const path of ['sync', 'finalize', 'customize']) {
    const answer = await post(`${offUrl}/packages/${path}`, { parent: example });
    t.equal(answer.statusCode, 404, path);
    await answer.body.dump();
    const refused = await post(`${on.url}/packages/${path}`, { parent: { kind: 'Transaction' } });
    t.equal(refused.statusCode, 400, path);
    await refused.body.dump();
  }
  const parent = must(await client.get(ptxPath('example')));
  const customized = await post(`${on.url}/packages/customize`, { parent });
  t.match(await customized.body.json(), {
    relatedResources: [{ resource: 'locks', names: ['lock'] }, { namespace: 'janus-packages' }],
  });
  await on.kill();
});
