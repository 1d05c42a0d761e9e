// An autoscaler has the number of an object: a release keeps that number and says so, whenever the autoscaler writes, and the undo
// leaves it (attribution/kept-scale.ts).
import t from 'tap';
import type { Cluster } from '../../../hooks/objects/cluster.ts';
import { managersOf } from '../../../hooks/objects/content/fields.ts';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { itemsOf, undoAll } from '../../support/round-trip.ts';
import { account, type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';

const labels = { app: 'api' };
const place = 'apps/v1/deployments/api';
const deployment = (tag: string, replicas: number | undefined = 2): JsonObject => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'api' } },
  spec: {
    ...(replicas === undefined ? {} : { replicas }),
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: `reg.example/api:${tag}` }] } },
  },
});
// The controller manager of the test runs no autoscalers: the test writes as that controller does.
const autoscaler = (name = 'api'): JsonObject => ({
  ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name } },
  spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api' }, minReplicas: 1, maxReplicas: 9 },
});

/** Called before each write of the Deployment, and each dry run. */
let before: (() => Promise<void>) | undefined;

const wrap = (cluster: Cluster): Cluster => ({
  ...cluster,
  send: async (write, isLate) => {
    if (write.location.resource.plural === 'deployments') await before?.();
    return cluster.send(write, isLate);
  },
});

async function scaleTo({ client, path }: Stage, replicas: number): Promise<void> {
  const by = { fieldManager: 'kube-controller-manager' };
  must(await client.patch(`${path(place)}/scale`, { spec: { replicas } }, 'merge', by));
}

async function seen({ client, path }: Stage): Promise<JsonObject> {
  const found = must(await client.get(path(place)));
  const [container] = at(found, 'spec', 'template', 'spec', 'containers') as readonly JsonObject[];
  return { replicas: at(found, 'spec', 'replicas') ?? 0, image: textAt(container, 'image') ?? '' };
}

t.test('a Deployment with an autoscaler', async (t) => {
  const stage = await startStage(t, { withoutLoop: true, wrap });
  const { client, path } = stage;
  const release = async (
    name: string,
    content: JsonObject,
    more: JsonObject = {},
    others: readonly JsonObject[] = [],
  ): Promise<JsonObject> => {
    const changes = [...others, { type: 'Apply', content, ...more }];
    await stage.transaction(name, changes, { spec: { fieldManager: 'shop' } });
    const { phase, status } = await stepToEnd(stage, name);
    t.equal(phase, 'Committed', textAt(status, 'message') ?? '');
    return itemsOf(status).at(-1) ?? {};
  };

  await release('r1', deployment('1'));
  const made = await release('with', autoscaler());
  t.notHas(made, { note: /replicas/ });
  await scaleTo(stage, 3);

  await t.test('a release keeps its number, and says so', async (t) => {
    t.match(await release('r2', deployment('2')), {
      note: `spec.replicas stays 3: HorizontalPodAutoscaler ${stage.namespace}/api scales it, content says 2`,
    });
    t.same(await seen(stage), { replicas: 3, image: 'reg.example/api:2' });
  });

  await t.test('the undo leaves the number that the autoscaler has set since, and names it', async (t) => {
    await release('r3', deployment('3'));
    await scaleTo(stage, 5);
    const note = 'spec.replicas stays 5 (scaled by kube-controller-manager)';
    t.match(itemsOf(await undoAll(stage, 'r3'))[0], { note }, 'not the release, which has owned the number');
    const status = await undoAll(stage, 'r2');
    t.match(itemsOf(status)[0], { rolledBack: true, note });
    t.same(await seen(stage), { replicas: 5, image: 'reg.example/api:1' });
    const owners = managersOf(must(await client.get(path(place)))).map(({ name, fields }) => [
      name,
      fields.has('["f:spec","f:replicas"]'),
    ]);
    t.same(
      owners.filter(([, has]) => has),
      [['kube-controller-manager', true]],
    );
  });

  await t.test('a write of the autoscaler right before each write of the engine changes no outcome', async (t) => {
    let number = 3;
    let left = 0;
    before = async () => {
      if (left === 0) return;
      left -= 1;
      number = number === 3 ? 4 : 3;
      await scaleTo(stage, number);
    };
    for (const tag of ['3', '4', '5']) {
      left = 2;
      t.match(await release(`busy-${tag}`, deployment(tag)), { note: new RegExp(`^spec.replicas stays ${number}`) });
      t.same(await seen(stage), { replicas: number, image: `reg.example/api:${tag}` });
    }
    left = 2;
    const status = await undoAll(stage, 'busy-5');
    t.match(itemsOf(status)[0], { note: new RegExp(`spec.replicas stays ${number}`) });
    t.same(await seen(stage), { replicas: number, image: 'reg.example/api:4' });
    before = undefined;
  });

  await t.test('replicas: Set, and 0, set the number; the undo restores the one right before', async (t) => {
    await scaleTo(stage, 4);
    let isFirst = true;
    before = async () => {
      if (isFirst) await scaleTo(stage, 7);
      isFirst = false;
    };
    t.notMatch(textAt(await release('set', deployment('6'), { replicas: 'Set' }), 'note') ?? '', /replicas/);
    before = undefined;
    t.same(await seen(stage), { replicas: 2, image: 'reg.example/api:6' });
    await undoAll(stage, 'set');
    t.same(await seen(stage), { replicas: 7, image: 'reg.example/api:4' });
    await release('zero', deployment('6', 0));
    t.same(await seen(stage), { replicas: 0, image: 'reg.example/api:6' });
    await release('on', deployment('6'));
    t.same(await seen(stage), { replicas: 2, image: 'reg.example/api:6' }, 'a live 0 turns the autoscaler off: it does not stay');
  });

  await t.test('a release that no longer names the number keeps it', async (t) => {
    await scaleTo(stage, 6);
    await release('names', deployment('7'));
    await release('leaves-out', deployment('7', undefined));
    t.same(await seen(stage), { replicas: 6, image: 'reg.example/api:7' });
  });

  await t.test('autoscalers count as this Transaction leaves them', async (t) => {
    await scaleTo(stage, 3);
    const target = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', name: 'api' };
    await release('without', deployment('8'), {}, [{ type: 'Delete', target }]);
    t.same(await seen(stage), { replicas: 2, image: 'reg.example/api:8' });
    await scaleTo(stage, 3);
    await release('again', deployment('9'), {}, [{ type: 'Apply', content: autoscaler() }]);
    t.same(await seen(stage), { replicas: 3, image: 'reg.example/api:9' });
  });
});

t.test('a kind without the subresource scale takes no replicas: Set', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const content = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: {} };
  await stage.transaction('wrong', [{ type: 'Apply', content, replicas: 'Set' }]);
  const { status } = await stepToEnd(stage, 'wrong');
  t.match(status, {
    phase: 'Failed',
    message: /ConfigMap .*a: objects of this kind have no subresource scale: leave replicas out/,
  });
  t.same(await stage.leases(), []);
});

t.test('without the right to list autoscalers, the number of content is set', async (t) => {
  const rules = [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['*'] }];
  const stage = await startStage(t, { withoutLoop: true, rules });
  must(await stage.client.create(stage.path('apps/v1/deployments'), deployment('1', 4)));
  must(await stage.client.create(stage.path('autoscaling/v2/horizontalpodautoscalers'), autoscaler()));
  await stage.transaction('sets', [{ type: 'Apply', content: deployment('2') }]);
  t.equal((await stepToEnd(stage, 'sets')).phase, 'Committed', account);
  t.same(await seen(stage), { replicas: 2, image: 'reg.example/api:2' });
});
