// From the thirtieth release back to the fifth, of an application with a PodDisruptionBudget and an autoscaler, while its status is written
// 20 times a second: one Transaction, one rollout, and it is ready. The undo of the rollback brings back the thirtieth release.
// The real controllers run: that of the autoscaler raises the number to its minimum, and a stand-in for kubelets makes Pods ready.
import t, { type Test } from 'tap';
import { at, type JsonObject, listAt, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { running, startKubelet } from '../../support/kubelet.ts';
import { ownControlPlane } from '../../support/own-control-plane.ts';
import { release, rollBack, takeBack } from '../../support/releases.ts';
import { startStage } from '../../support/stage.ts';
import { portraits } from '../../support/targets.ts';

const labels = { app: 'api' };

const changesOf = (version: number): readonly JsonObject[] =>
  [
    {
      ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'api' } },
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    },
    {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'api', annotations: { release: `v${version}` } } },
      spec: {
        ...{ replicas: 2, selector: { matchLabels: labels } },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: `reg.example/api:${version}` }] } },
      },
    },
    {
      ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'api' } },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api' },
        ...{ minReplicas: 3, maxReplicas: 5 + (version % 2) },
      },
    },
  ].map((content) => ({ type: 'Apply', content }));

const newest = 30;
const gate = { timeout: '2m' };

t.test('v30 back to v5', async (t: Test) => {
  await ownControlPlane(t, { allControllers: true });
  const stage = await startStage(t);
  const { client, path } = stage;
  startKubelet(t, client, stage.namespace).play('app=api', running);
  const place = path('apps/v1/deployments/api');
  const places = [path('policy/v1/poddisruptionbudgets/api'), place, path('autoscaling/v2/horizontalpodautoscalers/api')];
  const seen = async () => {
    const found = must(await client.get(place));
    const [container] = listAt(found, 'spec', 'template', 'spec', 'containers');
    return {
      image: textAt(container, 'image'),
      release: textAt(found, 'metadata', 'annotations', 'release'),
      replicas: at(found, 'spec', 'replicas'),
      generation: Number(at(found, 'metadata', 'generation')),
      revision: Number(textAt(found, 'metadata', 'annotations', 'deployment.kubernetes.io/revision')),
      available: at(found, 'status', 'availableReplicas'),
      observed: at(found, 'status', 'observedGeneration'),
    };
  };
  const settled = async () => {
    const now = await seen();
    return now.replicas === 3 && now.available === 3 && now.observed === now.generation ? now : undefined;
  };
  await release(stage, 'v1', changesOf(1));
  await waitFor(async () => (await seen()).replicas === 3, 'the autoscaler to raise the number to its minimum');
  for (let version = 2; version <= newest; version += 1) await release(stage, `v${version}`, changesOf(version));
  const before = await waitFor(settled, 'the autoscaler and the Pods');
  const shown = await portraits(client, places);
  const writer = writesStatus(t, () =>
    client.patch(
      `${place}/status`,
      { status: { conditions: [{ type: 'Busy', status: 'True', reason: `At${Math.round(performance.now())}`, message: '' }] } },
      // Conditions merge by their type: a merge patch would remove those of the Deployment's controller.
      'strategic',
      { fieldManager: 'busy' },
    ),
  );

  await t.test('one Transaction, one rollout, and it is ready', async (t) => {
    const status = await rollBack(stage, 'back', { to: 'v5' }, { spec: { gate } });
    t.equal(textAt(status, 'phase'), 'Committed', String(textAt(status, 'message')));
    t.equal(listAt(status, 'rollback', 'undone').length, newest - 5);
    const after = await waitFor(settled, 'the Pods of the fifth release');
    t.match(after, { image: 'reg.example/api:5', release: 'v5', replicas: 3 });
    t.equal(after.generation, before.generation + 1);
    t.equal(after.revision, before.revision + 1);
    t.ok(writer.written() > 10, `the status was written ${writer.written()} times`);
  });

  await t.test('its undo brings back the thirtieth', async (t) => {
    await takeBack(stage, 'back');
    const after = await waitFor(settled, 'the Pods of the thirtieth release');
    t.match(after, { image: `reg.example/api:${newest}`, generation: before.generation + 2 });
    await writer.stop();
    t.same((await portraits(client, places))[2], shown[2], 'the autoscaler is as before');
  });

  await t.test('before the first release: the application leaves', async (t) => {
    const status = await rollBack(stage, 'leaves', { to: '' });
    t.equal(textAt(status, 'phase'), 'Committed', String(textAt(status, 'message')));
    for (const one of places) t.equal((await client.get(one)).code, 404, one);
  });
});

/** ms: 20 times a second. */
const interval = 50;

function writesStatus(t: Test, write: () => Promise<{ readonly code: number }>) {
  let [count, isOver] = [0, false];
  const running = (async () => {
    while (!isOver) {
      const { code } = await write();
      if (code === 200) count += 1;
      await new Promise((resolve) => setTimeout(resolve, interval));
    }
  })();
  const stop = async (): Promise<void> => {
    isOver = true;
    await running;
  };
  t.teardown(stop);
  return { written: (): number => count, stop };
}
