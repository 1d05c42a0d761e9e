// A status that is written between each read and the dry run, or the write, that follows it changes no outcome: a Conflict is read again.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { plan } from '../../../hooks/transactions/inspect.ts';
import { busyStatus } from '../../support/busy-status.ts';
import { planParts } from '../../support/planning.ts';
import { undoAll } from '../../support/round-trip.ts';
import { account, startStage } from '../../support/stage.ts';
import { stepTo, stepToEnd } from '../../support/stepping.ts';
import { portraits } from '../../support/targets.ts';

const busy = busyStatus();

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

/** Conflicts in a row that a dry run takes: one fewer than its reads. */
const most = 19;

t.test('a Deployment, its PodDisruptionBudget and an autoscaler whose status is written all the time', async (t) => {
  const stage = await startStage(t, { withoutLoop: true, wrap: busy.wrap });
  const { client, namespace } = stage;
  t.teardown(() => busy.begin(client, 0));
  const changesOf = (tag: number) => release(tag).map((content) => ({ type: 'Apply', content }));
  const make = async (tag: number): Promise<void> => {
    await stage.transaction(`r${tag}`, changesOf(tag), { spec: { fieldManager: 'shop' } });
    const { phase, status } = await stepToEnd(stage, `r${tag}`);
    t.equal(phase, 'Committed', textAt(status, 'message') ?? '');
  };
  const specs = async () =>
    (await portraits(client, places.map(stage.path))).map(
      (one) => at(one as JsonObject, 'object', 'spec') ?? at(one as JsonObject, 'spec'),
    );
  const kinds = ['deployments', 'horizontalpodautoscalers', 'poddisruptionbudgets'];
  const meets = (t: Test, ...how: readonly string[]): void => {
    const expected = how.flatMap((one) => kinds.map((kind) => [`${one} ${kind}`, most]));
    t.same([...busy.written].toSorted(), expected.toSorted(), 'each has met that many Conflicts');
  };

  await make(1);
  const before = await specs();

  await t.test('a plan is made at the first request, however many Conflicts its dry runs meet', async (t) => {
    const parts = planParts(t, stage);
    busy.begin(client, most);
    const object = {
      metadata: { name: 'r2', namespace },
      spec: { serviceAccountName: account, fieldManager: 'shop', changes: changesOf(2) },
    };
    const found = await plan({ ...parts, reader: busy.wrapReader(parts.reader) }, object);
    t.match(found, { verdict: 'accepted', refusal: [] });
    meets(t, 'tried');
  });

  await t.test('dry runs and writes of a release', async (t) => {
    busy.begin(client, most);
    await make(2);
    meets(t, 'tried', 'sent');
  });

  await t.test('a requested undo ends at the first request', async (t) => {
    busy.begin(client, most);
    await undoAll(stage, 'r2');
    t.same(await specs(), before);
    meets(t, 'tried', 'sent');
  });

  await t.test('a plan of an undo whose every dry run meets a Conflict says so', async (t) => {
    busy.begin(client, 0);
    await make(3);
    busy.begin(client, Number.POSITIVE_INFINITY);
    await stage.annotate('r3', { 'tx.janus.io/plan-undo': 'busy' });
    const { status } = await stepTo(stage, 'r3', 'the plan', (now) => textAt(now.status, 'undo', 'request', 'value') === 'busy');
    busy.begin(client, 0);
    const [item] = at(status, 'undo', 'items') as readonly JsonObject[];
    t.match(item, { verdict: 'Undecided', reason: 'Conflict', message: /changed before each of 20 dry runs of its undo/ });
  });
});
