// What else is written under the name of spec.fieldManager, or after it, and what the API server adds to content that no dry run has
// shown: none of it keeps an undo from being exact, and the Transaction to undo first is named.
import t from 'tap';
import { at, type JsonObject } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { allowIrreversible, itemsOf, partial, portrait, undo, undoAll } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const apply = (content: JsonObject): JsonObject => ({ type: 'Apply', content });

function claiming(serviceName: string): JsonObject {
  const labels = { app: 'claiming' };
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'claiming' },
    spec: {
      ...{ serviceName, replicas: 0, selector: { matchLabels: labels } },
      template: { metadata: { labels }, spec: { containers: [{ name: 'one', image: 'example.org/one' }] } },
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }],
    },
  };
}

t.test('releases share a field manager', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const release = async (
    name: string,
    changes: readonly JsonObject[],
    spec: JsonObject = { fieldManager: 'app' },
  ): Promise<void> => {
    await stage.transaction(name, changes, { spec, annotations: allowIrreversible });
    t.match(await stepToEnd(stage, name), { phase: 'Committed' }, name);
  };

  await t.test('defaults in a list that is owned as a whole: created with its namespace', async (t) => {
    const namespace = `${stage.namespace}-policies`;
    t.teardown(() => client.delete(`/api/v1/namespaces/${namespace}`));
    const policy = { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] };
    await release('policies', [
      apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }),
      apply({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'one', namespace }, spec: policy }),
    ]);
    const made = must(await client.get(`/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies/one`));
    t.match(at(made, 'spec', 'ingress'), [{ ports: [{ port: 80, protocol: 'TCP' }] }], 'the API server has added a default');
    await undoAll(stage, 'policies');
  });

  await t.test('defaults in a list that is owned as a whole: recreated', async (t) => {
    const where = path('apps/v1/statefulsets/claiming');
    await release('claiming-1', [apply(claiming('one'))]);
    const isSeen = async () => at(must(await client.get(where)), 'status', 'observedGeneration') !== undefined;
    await waitFor(isSeen, 'its controller');
    const before = await portrait(stage, where, true);
    await release('claiming-2', [{ ...apply(claiming('two')), whenImmutable: 'Recreate' }]);
    t.match(must(await client.get(where)), { spec: { serviceName: 'two', volumeClaimTemplates: [{ status: {} }] } });
    await undoAll(stage, 'claiming-2');
    t.same(await portrait(stage, where, true), before);
  });

  await t.test('a controller with this manager name writes the status', async (t) => {
    const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'budget' } };
    const where = path('policy/v1/poddisruptionbudgets/budget');
    const spec = { minAvailable: 1, selector: { matchLabels: { app: 'none' } } };
    await release('budget', [apply({ ...budget, spec })]);
    const status = { currentHealthy: 0, desiredHealthy: 1, expectedPods: 0, disruptionsAllowed: 0 };
    must(await client.apply(`${where}/status`, { ...budget, status }, { fieldManager: 'app' }));
    await undoAll(stage, 'budget');
    t.equal((await client.get(where)).code, 404);
  });

  const map = (name: string, data: JsonObject) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
  const wrongOrder = async (name: string, first: () => Promise<void>, spec: JsonObject): Promise<void> => {
    const where = path(`configmaps/${name}`);
    must(await client.create(path('configmaps'), map(name, { a: '0' }), { fieldManager: 'hand' }));
    const before = await portrait(stage, where);
    await first();
    await release(`${name}-2`, [apply(map(name, { a: '2' }))], spec);
    const message = new RegExp(`was later applied by Transaction ${stage.namespace}/${name}-2 \\(${spec.fieldManager}\\)`);
    t.match(itemsOf(await undo(stage, `${name}-1`, partial)), [{ left: true, error: { reason: 'LaterTransaction', message } }]);
    await undoAll(stage, `${name}-2`);
    await stage.annotate(`${name}-1`, { 'tx.janus.io/retry-rollback': 'yes' });
    t.match(await stepToEnd(stage, `${name}-1`), { phase: 'RolledBack' });
    t.same(await portrait(stage, where), before);
  };

  await t.test('the undo of a Patch names the later Apply', async () => {
    await wrongOrder('patched', () => release('patched-1', [change('Patch', 'patched', { data: { a: '1' } })]), {
      fieldManager: 'app',
    });
  });

  await t.test('the undo of an Apply under another name names the later Apply', async () => {
    await wrongOrder('applied', () => release('applied-1', [apply(map('applied', { a: '1' }))]), {
      fieldManager: 'other',
      takeOver: ['app'],
    });
  });

  t.same(await stage.leases(), []);
});
