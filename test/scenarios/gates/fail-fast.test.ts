// A gate that fails before its timeout, because the containers of a new Pod do not start.
import t, { type Test } from 'tap';
import type { Cluster } from '../../../hooks/objects/cluster.ts';
import { at, type JsonObject, textAt, withPath } from '../../../hooks/objects/json.ts';
import { parseTime } from '../../../hooks/objects/time.ts';
import { failingPods } from '../../../hooks/transactions/gates/new-pods.ts';
import { listIn, readBelow } from '../../../hooks/transactions/observe/pods.ts';
import { clock } from '../../../server/clock.ts';
import { locationOf } from '../../server/kubernetes/real.ts';
import { waitFor } from '../../support/client.ts';
import { startInTurn } from '../../support/in-turn.ts';
import { crashLooping, running, startKubelet, terminated, waiting } from '../../support/kubelet.ts';
import { startNode, toleration } from '../../support/node.ts';
import { itemsOf } from '../../support/round-trip.ts';
import { inAllOnly } from '../../support/selection.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { gated, verdict } from './place.ts';
import { deployment, hasCondition, labels, startScene, template, web } from './scene.ts';

/** A stage with a loop whose calls go to two hooks, and the lists of Pods that these make as a ServiceAccount. */
async function startReplicas(t: Test, rules?: readonly JsonObject[]) {
  const lists: string[] = [];
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    listMetadata(resource, namespace, identity, options) {
      if (identity.kind === 'serviceAccount') lists.push(resource.plural);
      return cluster.listMetadata(resource, namespace, identity, options);
    },
  });
  const [first, second] = [await startStage(t, { withoutLoop: true, wrap }), await startStage(t, { withoutLoop: true, wrap })];
  const { address, close } = await startInTurn(() => [first.hookUrl, second.hookUrl]);
  t.teardown(close);
  const stage = await startStage(t, { hooks: async () => address, ...(rules === undefined ? {} : { rules }) });
  return { stage, lists, kubelet: startKubelet(t, stage.client, stage.namespace) };
}

const next = {
  ...template({ container: { image: 'registry.example/app:none' } }),
  metadata: { labels: { ...labels, release: 'two' } },
};

/** The second release of the Deployment. */
const release = (gate: JsonObject) => gated('Patch', { ...deployment(), spec: { template: next } }, gate);

/** The first release, which runs. */
async function runFirst({ client, path }: Stage): Promise<void> {
  await client.create(path('apps/v1/deployments'), deployment(), { fieldManager: 'kubectl-create' });
  const isThere = async () => hasCondition((await client.get(path(web))).body, 'Progressing', 'NewReplicaSetAvailable');
  await waitFor(isThere, 'the first release to run');
}

const timeOf = (status: JsonObject, name: string): number => parseTime(textAt(status, name)) ?? Number.NaN;

t.test('a bad image under a gate of 5 minutes is undone in less than 40 s, although two hooks answer in turn', async (t) => {
  const { stage, lists, kubelet } = await startReplicas(t);
  kubelet.play('app=web', running);
  await runFirst(stage);
  const specOf = async () => at((await stage.client.get(stage.path(web))).body, 'spec');
  const before = await specOf();
  kubelet.play('release=two', waiting('ErrImagePull', 'manifest unknown'));
  await stage.transaction('bad', [release({ at: 'AtEnd', timeout: '5m' })]);
  const seen = async () => textAt(itemsOf(at(await stage.read('bad'), 'status') as JsonObject)[0], 'gate', 'pod', 'found');
  const found = await waitFor(seen, 'the Pod to be seen', { timeoutMs: 30_000 });
  t.match(found, /^ErrImagePull: manifest unknown \(Pod web-\S+, container app\)$/);
  kubelet.play('release=two', waiting('ImagePullBackOff', 'Back-off pulling image'));
  const status = await stage.finished('bad', { timeoutMs: 60_000 });
  t.match(verdict(status, 0), {
    succeeded: { status: 'False', reason: 'GateFailed' },
    error: {
      message: /a container that has not started for \d\ds .*; Pod web-\S+: container app is waiting \(ImagePullBackOff\)/,
    },
  });
  const took = timeOf(status, 'completionTime') - timeOf(status, 'startTime');
  t.ok(took >= 20_000 && took < 40_000, `${took} ms`);
  // One every 10 s, one of the diagnosis, and at the first two times perhaps one of each hook.
  const pods = lists.filter((plural) => plural === 'pods').length;
  t.ok(pods >= 3 && pods <= 6, `${pods} lists of Pods`);
  t.same(await specOf(), before);
});

t.test('a crash loop ends a gate, and the words name no Pod if the ServiceAccount may not list Pods', async (t) => {
  const stage = await startStage(t);
  const kubelet = startKubelet(t, stage.client, stage.namespace);
  kubelet.play('app=web', crashLooping(3, '', 3));
  await stage.transaction('loop', [gated('Create', deployment(), { failFast: { containerAfter: '1s' } })]);
  const status = await stage.finished('loop', { timeoutMs: 60_000 });
  const message = /a container that has not started for \d+s .*container app is waiting \(CrashLoopBackOff\), ended before/;
  t.match(verdict(status, 0), { succeeded: { reason: 'GateFailed' }, error: { message } });
});

t.test('without rights on Pods a gate fails at its timeout, and says why it cannot fail earlier', inAllOnly, async (t) => {
  const verbs = ['get', 'create', 'update', 'patch', 'delete'];
  const stage = await startStage(t, { rules: [{ apiGroups: ['apps'], resources: ['deployments'], verbs }] });
  startKubelet(t, stage.client, stage.namespace).play('app=web', waiting('ErrImagePull'));
  await stage.transaction('blind', [gated('Create', deployment(), { timeout: '9s', failFast: { imageAfter: '1s' } })]);
  const found = 'ReplicaSets and their Pods could not be read (Forbidden), so that the gate cannot fail before its timeout';
  const isSaid = async () => {
    const status = at(await stage.read('blind'), 'status') as JsonObject;
    return (
      textAt(status, 'message')?.endsWith(`; ${found}`) === true && textAt(itemsOf(status)[0], 'gate', 'pod', 'found') === found
    );
  };
  await waitFor(isSaid, 'the message to say it', { timeoutMs: 30_000 });
  const status = await stage.finished('blind', { timeoutMs: 60_000 });
  t.match(verdict(status, 0), { succeeded: { reason: 'GateTimeout' } });
});

t.test(
  'keepLogs keeps what the container of a Pod has printed, and an Event names the Pod and its node',
  inAllOnly,
  async (t) => {
    const stage = await startStage(t);
    const queries: string[] = [];
    const node = await startNode(t, stage.client, stage.namespace, (container, query) => {
      queries.push(`${container} ${query}`);
      return 'starting\n\u001b[31mno database\u001b[0m\n';
    });
    startKubelet(t, stage.client, stage.namespace).play('app=web', terminated(1));
    const { spec } = template({ restartPolicy: 'Never' }) as { readonly spec: JsonObject };
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'alone' },
      spec: { ...spec, nodeName: node, tolerations: [toleration] },
    };
    const change = gated('Create', pod, { keepLogs: true });
    await stage.transaction('logs', [{ ...change, content: { ...(change.content as JsonObject), metadata: { labels } } }]);
    const status = await stage.finished('logs', { timeoutMs: 60_000 });
    t.match(itemsOf(status)[0], {
      error: {
        message: /container app ended with exit code 1 \(Error\)\..* Its last lines are in status\.items\[0\]\.gate\.logs\.$/,
      },
      gate: { logs: 'starting\nno database' },
    });
    t.match(queries, [/^app .*tailLines=20/]);
    const isOfPod = (event: JsonObject): boolean => textAt(event, 'reason') === 'PodFailed';
    const event = async () => (await stage.client.list(stage.path('events'))).items.find(isOfPod);
    t.match(await waitFor(event, 'the Event'), { type: 'Warning', message: `Pod alone on node ${node}: container app ended` });
  },
);

/** The labels `release` of the Pods that make a gate of the object fail. */
async function failingReleases(
  scene: Awaited<ReturnType<typeof startScene>>,
  path: string,
  begun = 0,
): Promise<readonly unknown[]> {
  const object = await scene.read(path);
  const location = await locationOf(scene.cluster, object, scene.namespace);
  const owner = { reader: scene.cluster, identity: { kind: 'engine' } as const, clock, location, object };
  const { pods = [], replicaSet } = await readBelow(listIn(owner), owner);
  const found = failingPods({ resource: location.resource, object, replicaSet, pods, begun, sealed: false });
  const of = (uid: string) => pods.find((pod) => textAt(pod, 'metadata', 'uid') === uid);
  return found.map(({ uid }) => textAt(of(uid), 'metadata', 'labels', 'release'));
}

t.test('Pods of the new revision, as the controllers make them', inAllOnly, async (t) => {
  const scene = await startScene(t);
  await startNode(t, scene.client, scene.namespace, () => '');
  const released = (release: string): JsonObject => {
    const { spec } = template() as { readonly spec: JsonObject };
    return { metadata: { labels: { ...labels, release } }, spec: { ...spec, tolerations: [toleration] } };
  };
  const kinds = {
    'apps/v1/statefulsets/db': { replicas: 2, serviceName: 'db', podManagementPolicy: 'Parallel' },
    'apps/v1/daemonsets/agent': {},
    [web]: { replicas: 1, strategy: { rollingUpdate: { maxUnavailable: 0 } } },
  };
  for (const [path, spec] of Object.entries(kinds)) {
    const [collection, name = ''] = [path.replace(/\/[^/]+$/, ''), path.split('/').at(-1)];
    const app = `${name}-app`;
    const of = { selector: { matchLabels: { of: app } }, template: withPath(released('one'), ['metadata', 'labels', 'of'], app) };
    await scene.create(collection, { metadata: { name }, spec: { ...spec, ...of } });
  }
  scene.kubelet.play('app=web', running);
  // A new Pod is Pending before the kubelet has written about its containers.
  const are = (phase: string, release: string) => (pod: JsonObject) =>
    textAt(pod, 'status', 'phase') === phase &&
    at(pod, 'status', 'containerStatuses') !== undefined &&
    textAt(pod, 'metadata', 'labels', 'release') === release;
  await scene.pods(are('Running', 'one'), 4);
  await scene.patch(web, { spec: { paused: true } });
  // Before the patches: a new Pod of the StatefulSet that runs for a moment would let its next Pod be replaced.
  scene.kubelet.play('app=web', waiting('ErrImagePull'));
  await scene.pods(are('Pending', 'one'), 4);
  for (const path of Object.keys(kinds))
    await scene.patch(path, { spec: { template: { metadata: { labels: { release: 'two' } } } } });
  await scene.pods(are('Pending', 'two'), 2);
  await scene.pods(are('Pending', 'one'), 2);
  t.same(await failingReleases(scene, web), [], 'a paused Deployment has no Pod of its present template');
  await scene.patch(web, { spec: { paused: false } });
  await scene.pods(are('Pending', 'two'), 3);
  for (const path of Object.keys(kinds)) {
    t.same(await failingReleases(scene, path), ['two'], path);
    t.same(await failingReleases(scene, path, Date.now() + 60_000), [], `${path}: older than the Transaction`);
  }
});
