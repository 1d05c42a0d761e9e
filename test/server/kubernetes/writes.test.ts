// Each verb of the port on the real API server: its effect, its precondition, and that a dry run changes nothing.
import t from 'tap';
import type { Write } from '../../../hooks/objects/cluster.ts';
import { at, type JsonObject, parseJson, textAt, withPath } from '../../../hooks/objects/json.ts';
import { freeNamespace, must, waitFor } from '../../support/client.ts';
import { connectToCluster } from '../../support/install.ts';
import { configMap, create, engine, failureOf, fieldManager, locationOf, objectOf, openCluster, versionOf } from './real.ts';

const client = connectToCluster();
const cluster = openCluster();
t.teardown(() => Promise.all([client.close(), cluster.close()]));
const namespace = await freeNamespace(client, 'port', t);
const otherUid = '00000000-0000-4000-8000-000000000000';

t.test('create: absence is the precondition', async (t) => {
  const object = configMap('created');
  const location = await locationOf(cluster, object, namespace);
  const write: Write = { verb: 'create', identity: engine, location, object, fieldManager };
  const answer = await cluster.send(write);
  t.match(answer, { kind: 'ok', object: { data: { a: '1' }, metadata: { managedFields: [{ manager: fieldManager }] } } });
  t.ok(answer.kind === 'ok' && Math.abs(answer.serverTime - Date.now()) < 60_000 && answer.serverTime % 1000 === 0);
  t.match(failureOf(await cluster.send(write)), { kind: 'exists', code: 409, definitive: true });
});

t.test('update: uid and resourceVersion are preconditions', async (t) => {
  const stored = await create(cluster, configMap('updated'), namespace);
  const location = await locationOf(cluster, stored, namespace);
  const update = (precondition = versionOf(stored)): Write => ({
    verb: 'update',
    identity: engine,
    location,
    object: withPath(stored, ['data', 'a'], '2'),
    precondition,
    fieldManager,
  });
  t.match(failureOf(await cluster.send(update({ ...versionOf(stored), resourceVersion: '1' }))), {
    kind: 'stale',
    definitive: true,
  });
  t.match(failureOf(await cluster.send(update({ ...versionOf(stored), uid: otherUid }))), { kind: 'stale', definitive: true });
  t.match(objectOf(await cluster.send(update())), { data: { a: '2' } });
  t.match(failureOf(await cluster.send(update())), { kind: 'stale' });
});

t.test('update: a vanished object is not created again', async (t) => {
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'vanished' }, rules: [] };
  const stored = await create(cluster, role, namespace);
  const location = await locationOf(cluster, stored, namespace);
  const precondition = versionOf(stored);
  objectOf(await cluster.send({ verb: 'delete', identity: engine, location, precondition }));
  const answer = await cluster.send({ verb: 'update', identity: engine, location, object: stored, precondition, fieldManager });
  t.match(failureOf(answer), { kind: 'stale', definitive: true });
  t.equal((await cluster.get(location, engine)).kind, 'failed');
});

t.test('the port does not complete a write that is late when its head is sent', async (t) => {
  const stored = await create(cluster, configMap('late'), namespace);
  const fresh = configMap('too-late');
  const location = await locationOf(cluster, stored, namespace);
  const known = { identity: engine, location, precondition: versionOf(stored), fieldManager };
  const change = withPath(stored, ['data', 'a'], '2');
  const patch = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late' }, data: { a: '3' } };
  const writes: readonly Write[] = [
    { verb: 'create', identity: engine, location: await locationOf(cluster, fresh, namespace), object: fresh, fieldManager },
    { verb: 'update', object: change, ...known },
    { verb: 'apply', object: patch, ...known },
    { verb: 'delete', ...known },
  ];
  for (const write of writes) {
    const late = await cluster.send(write, () => true);
    t.match(failureOf(late), { kind: 'transient', reason: 'Timeout', definitive: false }, write.verb);
  }
  t.same(objectOf(await cluster.get(location, engine)), stored, 'it is as it was');
  t.equal((await client.get(`/api/v1/namespaces/${namespace}/configmaps/too-late`)).code, 404);
  for (const write of writes.slice(0, 2)) t.equal((await cluster.send(write, () => false)).kind, 'ok', `in time: ${write.verb}`);
});

t.test('apply: takes fields by force, under preconditions', async (t) => {
  const stored = await create(cluster, configMap('applied', { a: '1', b: '1' }), namespace);
  const location = await locationOf(cluster, stored, namespace);
  const apply = (precondition = versionOf(stored)): Write => ({
    verb: 'apply',
    identity: engine,
    location,
    object: configMap('applied', { a: '2' }),
    precondition,
    fieldManager: 'janus-applied',
  });
  t.match(failureOf(await cluster.send(apply({ ...versionOf(stored), resourceVersion: '1' }))), {
    kind: 'stale',
    definitive: true,
  });
  t.match(failureOf(await cluster.send(apply({ ...versionOf(stored), uid: otherUid }))), {
    definitive: true,
    kind: /stale|refused/,
  });
  const applied = objectOf(await cluster.send(apply()));
  t.match(applied, { data: { a: '2', b: '1' } });
  const managers = at(applied, 'metadata', 'managedFields');
  t.match(managers, [{ manager: 'janus-applied', operation: 'Apply' }, { manager: fieldManager }]);
  objectOf(await cluster.send({ verb: 'delete', identity: engine, location, precondition: versionOf(applied) }));
  t.match(failureOf(await cluster.send(apply(versionOf(applied)))), { kind: 'stale' });
  t.equal((await cluster.get(location, engine)).kind, 'failed', 'and creates nothing');
});

t.test('delete: the precondition is heard, and a dry run of it too', async (t) => {
  const stored = await create(cluster, configMap('deleted'), namespace);
  const location = await locationOf(cluster, stored, namespace);
  const deletion = (precondition = versionOf(stored)): Write => ({ verb: 'delete', identity: engine, location, precondition });
  t.match(failureOf(await cluster.send(deletion({ ...versionOf(stored), resourceVersion: '1' }))), {
    kind: 'stale',
    definitive: true,
  });
  t.match(failureOf(await cluster.send(deletion({ ...versionOf(stored), uid: otherUid }))), { kind: 'stale', definitive: true });
  t.equal((await cluster.dryRun(deletion())).kind, 'ok');
  t.same(versionOf(objectOf(await cluster.get(location, engine))), versionOf(stored));
  t.equal((await cluster.send(deletion())).kind, 'ok');
  t.match(failureOf(await cluster.send(deletion())), { kind: 'absent', code: 404, reason: 'NotFound', definitive: true });
});

t.test('a dry run returns the result without a write', async (t) => {
  const object = configMap('tried');
  const location = await locationOf(cluster, object, namespace);
  const tried = objectOf(await cluster.dryRun({ verb: 'create', identity: engine, location, object, fieldManager }));
  t.match(tried, { data: { a: '1' }, metadata: { uid: /.+/ } });
  t.match(failureOf(await cluster.get(location, engine)), { kind: 'absent' });

  const stored = await create(cluster, object, namespace);
  const change = { identity: engine, location, precondition: versionOf(stored), fieldManager };
  const updated = await cluster.dryRun({ ...change, verb: 'update', object: withPath(stored, ['data', 'a'], '2') });
  t.match(objectOf(updated), { data: { a: '2' } });
  t.match(objectOf(await cluster.dryRun({ ...change, verb: 'apply', object: configMap('tried', { a: '3' }) })), {
    data: { a: '3' },
  });
  t.same(objectOf(await cluster.get(location, engine)), stored);
});

t.test('a write of status goes to the subresource if the kind has it', async (t) => {
  const replicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'with-status' },
    spec: {
      replicas: 0,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
    },
  };
  const location = await locationOf(cluster, replicaSet, namespace);
  t.equal(location.resource.statusSubresource, true);
  await create(cluster, replicaSet, namespace);
  for (;;) {
    const stored = objectOf(await cluster.get(location, engine));
    const object = withPath(withPath(stored, ['spec', 'replicas'], 5), ['status', 'replicas'], 7);
    const write = { identity: engine, location, object, precondition: versionOf(stored), fieldManager };
    const answer = await cluster.send({ ...write, verb: 'update', subresource: 'status' });
    if (answer.kind === 'failed' && answer.failure.kind === 'stale') continue; // the controller wrote in between
    t.match(objectOf(answer), { spec: { replicas: 0 }, status: { replicas: 7 } });
    break;
  }
});

t.test('integers above 2^53, odd keys and empty values survive a round trip', async (t) => {
  const definition = await definitionOf('fidelities');
  t.teardown(() => client.delete(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition}`));
  const text =
    '{"apiVersion":"test.janus.io/v1","kind":"Fidelity","metadata":{"name":"odd"},' +
    '"spec":{"large":9007199254740993,"least":-9223372036854775808,"__proto__":{"polluted":true},"constructor":"x","empty":{},"list":[],"text":""}}';
  const object = parseJson(text) as JsonObject;
  const stored = await create(cluster, object, namespace);
  const expected = JSON.stringify(at(object, 'spec'));
  const sorted = (json: string) => [...json].sort().join('');
  t.equal(sorted(JSON.stringify(at(stored, 'spec'))), sorted(expected));
  t.match(JSON.stringify(at(stored, 'spec')), '"large":9007199254740993');
  t.match(JSON.stringify(at(stored, 'spec')), '"__proto__":{"polluted":true}');
  const location = await locationOf(cluster, stored, namespace);
  const write = { identity: engine, location, precondition: versionOf(stored), fieldManager } as const;
  const updated = objectOf(await cluster.send({ ...write, verb: 'update', object: withPath(stored, ['spec', 'text'], 'new') }));
  t.match(JSON.stringify(at(updated, 'spec')), '"least":-9223372036854775808');
  t.notOk('polluted' in {});
});

async function definitionOf(plural: string): Promise<string> {
  const names = { plural, kind: 'Fidelity', singular: 'fidelity' };
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.test.janus.io` },
    spec: { group: 'test.janus.io', scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true, schema }] },
  };
  must(await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition));
  await waitFor(async () => (await client.get(`/apis/test.janus.io/v1/${plural}`)).code === 200, `${plural} to be served`);
  return textAt(definition, 'metadata', 'name') ?? '';
}

t.test('the API server finally refuses content that does not fit its kind, for each verb', async (t) => {
  const service = (spec: JsonObject): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'misfit' },
    spec: { ports: [{ port: 80 }], ...spec },
  });
  const location = await locationOf(cluster, service({}), namespace);
  const base = { identity: engine, location, fieldManager } as const;
  const misspelt = service({ selektor: { a: 'b' } });
  t.match(failureOf(await cluster.dryRun({ ...base, verb: 'create', object: misspelt })), {
    kind: 'refused',
    code: 400,
    definitive: true,
  });
  const stored = await create(cluster, service({}), namespace);
  const precondition = versionOf(stored);
  const misfits = [misspelt, service({ type: 7 }), service({ ports: [{ port: 80 }, { port: 80 }] })];
  for (const object of misfits) {
    const tried = failureOf(await cluster.dryRun({ ...base, verb: 'apply', object, precondition }));
    t.match(tried, { kind: 'refused', definitive: true });
    const sent = failureOf(await cluster.send({ ...base, verb: 'apply', object, precondition }));
    t.match(sent, { kind: 'refused', reason: tried.reason, definitive: true });
  }
  t.same(objectOf(await cluster.get(location, engine)), stored);
});

t.test('the port does not send a write to an impossible name', async (t) => {
  const stored = await create(cluster, configMap('kept'), namespace);
  const location = { ...(await locationOf(cluster, stored, namespace)), name: '../configmaps/kept' };
  const answer = await cluster.send({ verb: 'delete', identity: engine, location, precondition: versionOf(stored) });
  t.match(failureOf(answer), { kind: 'refused', reason: 'InvalidName', definitive: true });
});
