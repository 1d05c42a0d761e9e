// A status that is written between each read and the dry run, or the write, that follows it changes no outcome: a Conflict is read again.
import t from 'tap';
import type { Cluster, Write } from '../../../hooks/objects/cluster.ts';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import type { Client } from '../../support/client.ts';
import { undoAll } from '../../support/round-trip.ts';
import { pathIn, startStage } from '../../support/stage.ts';
import { stepTo, stepToEnd } from '../../support/stepping.ts';
import { portraits } from '../../support/targets.ts';

/** How often the status of each object is written right before a dry run, or a write, of that object. */
let writes = 0;
const written = new Map<string, number>();
let client: Client | undefined;

async function writeStatus({ verb, location: { resource, namespace, name } }: Write): Promise<void> {
  const { group, version, plural } = resource;
  const count = written.get(plural) ?? 0;
  if (client === undefined || !['update', 'apply'].includes(verb) || group === 'coordination.k8s.io' || count >= writes) return;
  written.set(plural, count + 1);
  const condition = {
    type: 'Busy',
    status: 'True',
    reason: `Write${count}`,
    lastTransitionTime: '2026-01-01T00:00:00Z',
    message: '',
  };
  const body = { status: { conditions: [condition] } };
  await client.patch(`${pathIn(namespace ?? '', `${group}/${version}/${plural}/${name}`)}/status`, body, 'merge', {
    fieldManager: 'busy',
  });
}

const busy = (cluster: Cluster): Cluster => ({
  ...cluster,
  dryRun: async (write) => {
    await writeStatus(write);
    return cluster.dryRun(write);
  },
  send: async (write, isLate) => {
    await writeStatus(write);
    return cluster.send(write, isLate);
  },
});

const labels = { app: 'api' };
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'another' };
const release = (tag: number): readonly JsonObject[] => [
  {
    ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'api' } },
    spec: { minAvailable: tag, selector: { matchLabels: labels } },
  },
  {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'api' } },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: `reg.example/api:${tag}` }] } },
    },
  },
  {
    ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'api' } },
    spec: { scaleTargetRef, maxReplicas: tag + 1 },
  },
];
const places = ['policy/v1/poddisruptionbudgets/api', 'apps/v1/deployments/api', 'autoscaling/v2/horizontalpodautoscalers/api'];

t.test('a Deployment, its PodDisruptionBudget and an autoscaler whose status is written all the time', async (t) => {
  const stage = await startStage(t, { withoutLoop: true, wrap: busy });
  client = stage.client;
  t.teardown(() => {
    client = undefined;
  });
  const make = async (tag: number): Promise<void> => {
    const changes = release(tag).map((content) => ({ type: 'Apply', content }));
    await stage.transaction(`r${tag}`, changes, { spec: { fieldManager: 'shop' } });
    const { phase, status } = await stepToEnd(stage, `r${tag}`);
    t.equal(phase, 'Committed', textAt(status, 'message') ?? '');
  };
  const specs = async () =>
    (await portraits(stage.client, places.map(stage.path))).map(
      (one) => at(one as JsonObject, 'object', 'spec') ?? at(one as JsonObject, 'spec'),
    );

  await make(1);
  const before = await specs();
  writes = 2;
  await make(2);
  t.same([...written.values()], [2, 2, 2], 'each has met two Conflicts');

  await t.test('a requested undo ends at the first request', async (t) => {
    written.clear();
    await undoAll(stage, 'r2');
    t.same(await specs(), before);
    t.same([...written.values()], [2, 2, 2]);
  });

  await t.test('a plan of an undo whose every dry run meets a Conflict says so', async (t) => {
    await make(3);
    written.clear();
    writes = Number.POSITIVE_INFINITY;
    await stage.annotate('r3', { 'tx.janus.io/plan-undo': 'busy' });
    const { status } = await stepTo(stage, 'r3', 'the plan', (now) => textAt(now.status, 'undo', 'request', 'value') === 'busy');
    writes = 0;
    const [item] = at(status, 'undo', 'items') as readonly JsonObject[];
    t.match(item, { verdict: 'Undecided', reason: 'Conflict', message: /changed before each of 20 dry runs of its undo/ });
  });
});
