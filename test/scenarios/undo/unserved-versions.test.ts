// A version of a kind that is no longer served hides objects, which live on in the other one: they are not gone. Their undo waits, and
// not for long; it is retried once the version is served again. Where the kind itself is gone, so are they.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { createCallReads } from '../../../hooks/transactions/reading/call-reads.ts';
import { listAll } from '../../../hooks/transactions/reading/listing.ts';
import { failureOf, openCluster } from '../../server/kubernetes/real.ts';
import { must, waitFor } from '../../support/client.ts';
import { ownerOf } from '../../support/owned.ts';
import { commit, itemsOf, partial } from '../../support/round-trip.ts';
import { account, startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const short = { spec: { timeout: '16s' } };
const undo = { 'tx.janus.io/request-rollback': 'yes' };

t.test('the API server no longer serves a version', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;
  const group = `${namespace}.example.org`;
  const definition = `${definitions}/parts.${group}`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const versions = (isServed: boolean): JsonObject[] => [
    { name: 'v1', served: true, storage: true, schema },
    { name: 'v1beta1', served: isServed, storage: false, schema },
  ];
  const names = { plural: 'parts', kind: 'Part' };
  const spec = { group, scope: 'Namespaced', names, versions: versions(true) };
  const parts = (version: string, name = ''): string => `/apis/${group}/${version}/namespaces/${namespace}/parts${name}`;
  const old = { apiVersion: `${group}/v1beta1`, kind: 'Part' };
  const isAnswered = async (version: string, code: number): Promise<boolean> => (await client.list(parts(version))).code === code;
  const serve = async (isServed: boolean): Promise<void> => {
    must(await client.patch(definition, { spec: { versions: versions(isServed) } }));
    await waitFor(() => isAnswered('v1beta1', isServed ? 200 : 404), 'the API server to hear of it');
  };
  must(await client.create(definitions, { metadata: { name: `parts.${group}` }, spec }));
  t.teardown(() => client.delete(definition));
  await waitFor(() => isAnswered('v1beta1', 200), 'the kind to be served');

  for (const name of ['patched', 'owner', 'late'])
    must(await client.create(parts('v1'), { apiVersion: `${group}/v1`, kind: 'Part', metadata: { name } }));
  const owner = ownerOf(must(await client.get(parts('v1beta1', '/owner'))));
  must(await client.create(path('configmaps'), { metadata: { name: 'owned', ownerReferences: [owner] } }));
  await createConfigMaps(stage, ['other']);
  const changes = [
    change('Patch', 'patched', { spec: { size: 2 } }, old),
    change('Create', 'created', { spec: { size: 1 } }, old),
    change('Patch', 'other', { data: { color: 'green' } }),
  ];
  await stage.transaction('changed', changes, short);
  t.match(await stepToEnd(stage, 'changed'), { phase: 'Committed' });
  await stage.transaction('late', [change('Patch', 'late', { spec: { size: 2 } }, old)], short);
  t.match(await stepToEnd(stage, 'late'), { phase: 'Committed' });
  await commit(stage, 'owned', [change('Delete', 'owned')]);
  const cluster = openCluster();
  t.teardown(() => cluster.close());
  const lister = () => ({
    reader: cluster,
    identity: { kind: 'serviceAccount', namespace, name: account } as const,
    callReads: createCallReads({ now: () => 0, until: 1, lists: new Map() }),
  });
  const found = await cluster.resource(`${group}/v1beta1`, 'Part');
  if (found.kind === 'failed') throw new Error(failureOf(found).message);
  const list = () => listAll(lister(), 'parts', { resource: found.resource, namespace }, (object) => [object]);
  t.match(await list(), { kind: 'listed', items: { length: 4 } });
  await serve(false);

  await t.test('a requested undo is refused long before spec.timeout', async (t) => {
    await stage.annotate('changed', { 'tx.janus.io/request-rollback': 'first' });
    const { status } = await stepToEnd(stage, 'changed');
    const items = [0, 1].map((index) => ({
      index,
      verdict: 'Blocked',
      reason: 'UnknownKind',
      message: /v1beta1 of parts\.\S+ is not served/,
    }));
    t.match(status, { phase: 'Committed', undo: { reason: 'UndoRefused', items } });
    t.same(await stage.leases(), []);
  });

  await t.test('the engine cannot undo objects of this version, and undoes all others', async (t) => {
    await stage.annotate('changed', { ...undo, ...partial });
    const { status } = await stepToEnd(stage, 'changed');
    t.match(status, { phase: 'Failed' });
    const message = /cannot be read: version v1beta1 of parts\.\S+ is not served, .*retry the rollback/;
    const left = { left: true, error: { reason: 'UnknownKind', message } };
    t.match(itemsOf(status), [left, left, { rolledBack: true }]);
    t.equal(at(must(await client.get(parts('v1', '/patched'))), 'spec', 'size'), 2);
    t.equal((await client.get(parts('v1', '/created'))).code, 200);
  });

  await t.test('objects of this version still exist', async (t) => {
    t.match(await list(), { kind: 'trouble', failure: { kind: 'transient', code: 404 } });
  });

  await t.test('the undo keeps an owner reference of this version', async (t) => {
    await stage.annotate('owned', undo);
    const { status } = await stepToEnd(stage, 'owned');
    t.match(status, { phase: 'RolledBack' });
    t.equal(textAt(itemsOf(status)[0] ?? {}, 'note'), undefined);
    t.match(at(must(await client.get(path('configmaps/owned'))), 'metadata', 'ownerReferences'), [owner]);
  });

  await t.test('a retry finishes the rollback when the API server serves the version again', async (t) => {
    await serve(true);
    await stage.annotate('changed', { 'tx.janus.io/retry-rollback': 'yes' });
    t.match((await stepToEnd(stage, 'changed')).status, { phase: 'RolledBack' });
    t.equal(at(must(await client.get(parts('v1', '/patched'))), 'spec', 'size'), undefined);
    t.equal((await client.get(parts('v1', '/created'))).code, 404);
  });

  await t.test('the engine distinguishes a kind that is gone from a version that is not served', async (t) => {
    must(await client.delete(definition));
    await waitFor(
      async () => (await client.get(definition)).code === 404 && (await isAnswered('v1', 404)),
      'the kind to be gone',
    );
    t.match(await list(), { kind: 'listed', items: { length: 0 } });
    await stage.annotate('late', undo);
    const { status } = await stepToEnd(stage, 'late');
    t.match(status, { phase: 'Failed' });
    t.match(itemsOf(status), [{ left: true, error: { reason: 'Gone' } }]);
  });
});
