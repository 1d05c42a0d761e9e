// An undo for which others would pay is not made: what they have put into a CustomResourceDefinition or a Namespace that was made
// here stays, and so does its container. (A Namespace in full: test/scenarios/changes/namespaces-and-crds.test.ts.)
import t from 'tap';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { isEstablished } from '../../support/install.ts';
import { commit, itemsOf, partial, showAtRest, undo } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };

interface Widgets {
  readonly content: JsonObject;
  readonly name: string;
  readonly path: string;
  readonly collection: string;
}

function widgets({ namespace }: Stage, plural: string): Widgets {
  const group = `${namespace}.example.org`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const kind = `${plural[0]?.toUpperCase()}${plural.slice(1)}`;
  const names = { plural, singular: plural, kind, listKind: `${kind}List` };
  const content = {
    spec: { group, scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true, schema }] },
  };
  const name = `${plural}.${group}`;
  return { content, name, path: `${definitions}/${name}`, collection: `/apis/${group}/v1/namespaces/${namespace}/${plural}` };
}

t.test('the undo keeps contents that other writers have put into a created container', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, namespace } = stage;

  await t.test('the undo keeps a created CustomResourceDefinition that has an instance of another writer', async (t) => {
    const { content, name, path: where, collection } = widgets(stage, 'gadgets');
    t.teardown(() => client.delete(where));
    const kind = { apiVersion: `${namespace}.example.org/v1`, kind: 'Gadgets' };
    await commit(stage, 'gadgets', [
      change('Create', name, content, definition),
      change('Create', 'ours', { spec: { a: 1 } }, kind),
    ]);
    must(await client.create(collection, { ...kind, metadata: { name: 'theirs' }, spec: { b: 1 } }));
    const status = await undo(stage, 'gadgets', partial);
    t.match(status, { phase: 'Failed', message: /others' objects would be deleted with it: Gadgets theirs/ });
    t.match(itemsOf(status), [{ error: { reason: 'NotEmpty' } }, { rolledBack: true }]);
    t.equal((await client.get(`${collection}/theirs`)).code, 200);
    t.equal((await client.get(`${collection}/ours`)).code, 404, 'ours is gone');
    await showAtRest(t, stage, 'gadgets');

    must(await client.delete(`${collection}/theirs`));
    await stage.annotate('gadgets', { 'tx.janus.io/retry-rollback': 'yes' });
    t.match(await stepToEnd(stage, 'gadgets'), { phase: 'RolledBack' });
    t.equal((await client.get(where)).code, 404, 'once they have taken it away, it goes');
  });

  await t.test('the undo keeps a CustomResourceDefinition whose instances other writers have changed', async (t) => {
    const { content, name, path: where, collection } = widgets(stage, 'gizmos');
    t.teardown(() => client.delete(where));
    const kind = { apiVersion: `${namespace}.example.org/v1`, kind: 'Gizmos' };
    await commit(stage, 'gizmos', [
      change('Create', name, content, definition),
      change('Create', 'ours', { spec: { a: 1 } }, kind),
    ]);
    must(await client.patch(`${collection}/ours`, { spec: { b: 2 } }, 'merge', { fieldManager: 'their-tool' }));
    const status = await undo(stage, 'gizmos', partial);
    t.match(itemsOf(status), [{ error: { reason: 'NotEmpty' } }, { error: { reason: 'ForeignContent' } }]);
    t.match(must(await client.get(`${collection}/ours`)), { spec: { a: 1, b: 2 } });
  });

  await t.test('the undo keeps a created Namespace with created objects that other writers have changed', async (t) => {
    const tenant = `${namespace}-tenant`;
    t.teardown(() => client.delete(`/api/v1/namespaces/${tenant}`));
    await commit(stage, 'tenant', [
      change('Create', tenant, {}, { kind: 'Namespace' }),
      change('Create', 'ours', { data: { a: '1' } }, { namespace: tenant }),
    ]);
    must(
      await client.patch(`/api/v1/namespaces/${tenant}/configmaps/ours`, { data: { b: '2' } }, 'merge', {
        fieldManager: 'their-tool',
      }),
    );
    const status = await undo(stage, 'tenant', partial);
    t.match(itemsOf(status), [{ error: { reason: 'NotEmpty' } }, { error: { reason: 'ForeignContent' } }]);
    t.equal((await client.get(`/api/v1/namespaces/${tenant}/configmaps/ours`)).code, 200);
  });

  await t.test('the undo keeps a created Namespace that another writer has labelled', async (t) => {
    const tenant = `${namespace}-labelled`;
    t.teardown(() => client.delete(`/api/v1/namespaces/${tenant}`));
    await commit(stage, 'labelled', [change('Create', tenant, {}, { kind: 'Namespace' })]);
    must(
      await client.patch(`/api/v1/namespaces/${tenant}`, { metadata: { labels: { team: 'theirs' } } }, 'merge', {
        fieldManager: 'their-tool',
      }),
    );
    const status = await undo(stage, 'labelled', partial);
    t.match(status, { phase: 'Failed', message: /metadata\.labels\.team \(by their-tool\)/ });
  });
});

t.test('the API server rewrites a new CustomResourceDefinition without a conflict', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client } = stage;
  for (const type of ['Update', 'Patch', 'Delete'] as const) {
    const { content, name, path: where } = widgets(stage, `fresh${type}`.toLowerCase());
    t.teardown(() => client.delete(where));
    must(await client.create(definitions, { ...definition, metadata: { name }, ...content }));
    const labels = { metadata: { labels: { ours: 'yes' } } };
    const changed = type === 'Delete' ? undefined : type === 'Update' ? { ...content, ...labels } : labels;
    await commit(stage, type.toLowerCase(), [change(type, name, changed, definition)], {
      'tx.janus.io/allow-irreversible': 'true',
    });
    const isServed = async (): Promise<boolean> => isEstablished(must(await client.get(where)));
    if (type !== 'Delete') await waitFor(isServed, 'the CRD to be established');
    t.match(await undo(stage, type.toLowerCase()), { phase: 'RolledBack' }, type);
    t.notMatch((await client.get(where)).text, /"ours":"yes"/);
  }
});
