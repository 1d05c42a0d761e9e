// The number that an autoscaler has, beside a Deployment with a HorizontalPodAutoscaler: under KEDA, in a custom resource with a path of its
// own, after a crash between the write and its record, and for a ServiceAccount that may not list autoscalers.
import t, { type Test } from 'tap';
import type { Cluster } from '../../../hooks/objects/cluster.ts';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { plan } from '../../../hooks/transactions/inspect.ts';
import { must, waitFor } from '../../support/client.ts';
import { Death } from '../../support/death.ts';
import { openEngines } from '../../support/engine.ts';
import { planParts } from '../../support/planning.ts';
import { itemsOf, portrait, undoAll } from '../../support/round-trip.ts';
import { account, type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';

const labels = { app: 'api' };
const kind = { apiVersion: 'apps/v1', kind: 'Deployment' };
const place = 'apps/v1/deployments/api';
const hpas = 'autoscaling/v2/horizontalpodautoscalers';
const deployment = (tag: string, replicas = 2): JsonObject => ({
  ...kind,
  metadata: { name: 'api' },
  spec: {
    ...{ replicas, selector: { matchLabels: labels } },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: `reg.example/api:${tag}` }] } },
  },
});
const autoscaler = (scaleTargetRef: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'api', ...metadata } },
  spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 9 },
});
const scaledObject: JsonObject = {
  ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name: 'api' } },
  spec: { scaleTargetRef: { name: 'api' }, triggers: [] },
};

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

interface Defined {
  readonly group: string;
  readonly names: JsonObject;
  readonly version: JsonObject;
}

/** Resolves once the kind is served. */
async function define(t: Test, { client, path }: Stage, { group, names, version }: Defined): Promise<void> {
  const name = `${textAt(names, 'plural')}.${group}`;
  t.teardown(() => client.delete(`${definitions}/${name}`));
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } } };
  const versions = [{ served: true, storage: true, schema, ...version }];
  must(await client.create(definitions, { metadata: { name }, spec: { group, scope: 'Namespaced', names, versions } }));
  const all = path(`${group}/${textAt(version, 'name')}/${textAt(names, 'plural')}`);
  await waitFor(async () => (await client.list(all)).code === 200, `${name} to be served`);
}

async function scaleTo({ client, path }: Stage, suffix: string, replicas: number, fieldManager: string): Promise<void> {
  must(await client.patch(`${path(suffix)}/scale`, { spec: { replicas } }, 'merge', { fieldManager }));
}

/** The last item. */
async function release(stage: Stage, name: string, content: JsonObject, others: readonly JsonObject[] = []): Promise<JsonObject> {
  const changes = [...others, content].map((one) => ({ type: 'Apply', content: one }));
  await stage.transaction(name, changes, { spec: { fieldManager: 'shop' } });
  const { phase, status } = await stepToEnd(stage, name);
  if (phase !== 'Committed') throw new Error(`expected ${name} to be Committed: ${textAt(status, 'message')}`);
  return itemsOf(status).at(-1) ?? {};
}

const numberOf = async ({ client, path }: Stage, suffix = place, ...names: readonly string[]) =>
  at(must(await client.get(path(suffix))), 'spec', ...(names.length === 0 ? ['replicas'] : names));

t.test('a live 0 stays only under KEDA', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  await define(t, stage, {
    group: 'keda.sh',
    names: { plural: 'scaledobjects', kind: 'ScaledObject' },
    version: { name: 'v1alpha1' },
  });
  await release(stage, 'r1', deployment('1'));

  await t.test('under a HorizontalPodAutoscaler that is turned off, the number of content is set', async (t) => {
    must(await client.create(path(hpas), autoscaler({ ...kind, name: 'api' })));
    await scaleTo(stage, place, 0, 'somebody');
    const { note } = await release(stage, 'r2', deployment('2'));
    t.match(note, /spec\.replicas is set: 0 has turned HorizontalPodAutoscaler \S+\/api off/);
    t.equal(await numberOf(stage), 2);
    must(await client.delete(path(`${hpas}/api`)));
  });

  await t.test('under a ScaledObject that the same Transaction creates, by its defaults', async (t) => {
    await scaleTo(stage, place, 0, 'keda');
    const { note } = await release(stage, 'r3', deployment('3'), [scaledObject]);
    t.match(note, /spec\.replicas stays 0: ScaledObject \S+\/api scales it, content says 2/);
    t.equal(await numberOf(stage), 0);
  });

  await t.test('under a HorizontalPodAutoscaler that KEDA owns, whoever may not list ScaledObjects', async (t) => {
    const { uid } = must(await client.get(path('keda.sh/v1alpha1/scaledobjects/api'))).metadata as JsonObject;
    const owner = { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', name: 'api', uid, controller: true } as JsonObject;
    const owned = { name: 'keda-hpa-api', ownerReferences: [{ ...owner, blockOwnerDeletion: true }] };
    must(await client.create(path(hpas), autoscaler({ ...kind, name: 'api' }, owned)));
    const roles = `/apis/rbac.authorization.k8s.io/v1/clusterroles/${stage.namespace}`;
    const rules = [
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['*'] },
      { apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers'], verbs: ['list'] },
    ];
    must(await client.patch(roles, { rules }));
    const mayList = {
      resourceAttributes: { verb: 'list', group: 'keda.sh', resource: 'scaledobjects', namespace: stage.namespace },
    };
    const asked = { spec: { user: `system:serviceaccount:${stage.namespace}:${account}`, ...mayList } };
    const reviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    await waitFor(
      async () => at(must(await client.create(reviews, asked)), 'status', 'allowed') !== true,
      'the right to be taken',
    );
    const { note } = await release(stage, 'r4', deployment('4'));
    t.match(note, /spec\.replicas stays 0: HorizontalPodAutoscaler \S+\/keda-hpa-api scales it/);
    t.equal(await numberOf(stage), 0);
    await scaleTo(stage, place, 3, 'keda');
    t.match(itemsOf(await undoAll(stage, 'r4'))[0], { note: 'spec.replicas stays 3 (scaled by keda)' });
    t.equal(await numberOf(stage), 3);
  });
});

t.test('a custom resource keeps the number at the path of its CustomResourceDefinition', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;
  const group = `${namespace}.example.org`;
  const scale = { specReplicasPath: '.spec.workers.count', statusReplicasPath: '.status.count' };
  await define(t, stage, {
    group,
    names: { plural: 'fleets', kind: 'Fleet' },
    version: { name: 'v1', subresources: { scale, status: {} } },
  });
  const fleet = { apiVersion: `${group}/v1`, kind: 'Fleet' };
  const where = `${group}/v1/fleets/api`;
  const content = (color: string): JsonObject => ({
    ...fleet,
    metadata: { name: 'api' },
    spec: { color, workers: { count: 2 } },
  });
  must(await client.create(path(hpas), autoscaler({ ...fleet, name: 'api' })));

  await t.test('whoever has written it, if nobody has scaled', async (t) => {
    must(await client.create(path(`${group}/v1/fleets`), { ...content('red'), spec: { color: 'red', workers: { count: 7 } } }));
    const { note } = await release(stage, 'r1', content('green'));
    t.match(note, /spec\.workers\.count stays 7: HorizontalPodAutoscaler \S+\/api scales it, content says 2/);
  });

  await t.test('after a client has scaled; its undo leaves it, and all else is as before', async (t) => {
    await scaleTo(stage, where, 4, 'kube-controller-manager');
    const before = await portrait(stage, path(where));
    t.match((await release(stage, 'r2', content('blue'))).note, /spec\.workers\.count stays 4/);
    await undoAll(stage, 'r2');
    t.same(await portrait(stage, path(where)), before);
    await release(stage, 'r3', content('blue'));
    await scaleTo(stage, where, 5, 'kube-controller-manager');
    t.match(itemsOf(await undoAll(stage, 'r3'))[0], {
      note: 'spec.workers.count stays 5 (scaled by kube-controller-manager)',
    });
    t.equal(await numberOf(stage, where, 'workers', 'count'), 5);
    t.equal(await numberOf(stage, where, 'color'), 'green');
  });
});

t.test('the engine dies between the write and its record, and the autoscaler scales meanwhile', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const engines = await openEngines(t, stage);
  await release(stage, 'r1', deployment('1'));
  must(await client.create(path(hpas), autoscaler({ ...kind, name: 'api' })));
  await scaleTo(stage, place, 3, 'kube-controller-manager');
  // A controller's write of the status may refuse the first attempt: the engine dies after the one that is made.
  const dying = (cluster: Cluster): Cluster => ({
    ...cluster,
    send: async (write, isLate) => {
      const answer = await cluster.send(write, isLate);
      if (answer.kind === 'ok' && write.location.resource.plural === 'deployments') throw new Death();
      return answer;
    },
  });
  // The Deployment controller's own annotation raises the generation: only the engine's writes are counted.
  const counting =
    (made: string[]) =>
    (cluster: Cluster): Cluster => ({
      ...cluster,
      send: async (write, isLate) => {
        const answer = await cluster.send(write, isLate);
        if (answer.kind === 'ok') made.push(write.location.resource.plural);
        return answer;
      },
    });

  await t.test('in a release: it is found made, once', async (t) => {
    await stage.transaction('r2', [{ type: 'Apply', content: deployment('2') }], { spec: { fieldManager: 'shop' } });
    await t.rejects(stepToEnd(engines.start({ wrap: dying }), 'r2'), new Death());
    await scaleTo(stage, place, 4, 'kube-controller-manager');
    const made: string[] = [];
    const { phase, status } = await stepToEnd(engines.start({ wrap: counting(made) }), 'r2');
    t.equal(phase, 'Committed', textAt(status, 'message') ?? '');
    t.match(itemsOf(status)[0], { note: /spec\.replicas stays 4/ });
    t.same([...new Set(made)], ['leases'], 'the Deployment is written once');
    t.equal(await numberOf(stage), 4);
  });

  await t.test('in its undo: it is found undone, and the number stays', async (t) => {
    await stage.annotate('r2', { 'tx.janus.io/request-rollback': 'yes' });
    await t.rejects(stepToEnd(engines.start({ wrap: dying }), 'r2'), new Death());
    await scaleTo(stage, place, 5, 'kube-controller-manager');
    const { status } = await stepToEnd(engines.start(), 'r2');
    t.match(status, { phase: 'RolledBack' });
    t.match(itemsOf(status)[0], { note: 'spec.replicas stays 5 (scaled by kube-controller-manager)' });
    t.equal(await numberOf(stage), 5);
    const [container] = at(
      must(await client.get(path(place))),
      'spec',
      'template',
      'spec',
      'containers',
    ) as readonly JsonObject[];
    t.equal(textAt(container, 'image'), 'reg.example/api:1');
  });
});

t.test('the plan says that the ServiceAccount could not list autoscalers', async (t) => {
  const rules = [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['*'] }];
  const stage = await startStage(t, { withoutLoop: true, rules });
  const { client, path, namespace } = stage;
  must(await client.create(path('apps/v1/deployments'), deployment('1', 4)));
  must(await client.create(path(hpas), autoscaler({ ...kind, name: 'api' })));
  const changes = [{ type: 'Apply', content: deployment('2') }];
  const object = { metadata: { name: 'planned', namespace }, spec: { serviceAccountName: account, changes } };
  const { verdict, changes: planned } = await plan(planParts(t, stage), object);
  t.equal(verdict, 'accepted');
  t.match(
    planned[0]?.note,
    /spec\.replicas is set, as the ServiceAccount could not list HorizontalPodAutoscalers \(Forbidden\).*janus rbac/,
  );
  t.match(
    planned[0]?.fields.find(({ path: one }) => one === 'spec.replicas'),
    { before: { value: 4 }, after: { value: 2 } },
  );
});
