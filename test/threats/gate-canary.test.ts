// A gate on an object in another namespace fails: no text of its Pods, their Events or its status appears where readers of the
// Transaction see it. Every value that people write into them is a canary; then every object of every kind is searched, the log down to
// its last level, the figures and the answers of the hook.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { deployment, template, waitsFor } from '../scenarios/gates/scene.ts';
import { must, waitFor } from '../support/client.ts';
import { type Gadgets, serveGadgets } from '../support/gadgets.ts';
import { crashLooping, type Kubelet, startKubelet, terminated, waiting, warn } from '../support/kubelet.ts';
import { pathIn } from '../support/stage.ts';
import { stepTo, stepToEnd } from '../support/stepping.ts';
import { change } from '../support/targets.ts';
import { everything, findings, openWorld, type World } from './canaries.ts';

interface GateWorld extends World {
  readonly kubelet: Kubelet;
  readonly gadgets: Gadgets;
}

async function openGateWorld(t: Test): Promise<GateWorld> {
  const world = await openWorld(t);
  const { stage, elsewhere } = world;
  const gadgets = await serveGadgets(t, { ...stage, namespace: elsewhere });
  return { ...world, gadgets, kubelet: startKubelet(t, stage.client, elsewhere) };
}

function templateOf({ fresh }: GateWorld, app: string, restartPolicy = 'Always'): JsonObject {
  const env = [{ name: 'TOKEN', value: fresh() }];
  const container = { name: fresh(), image: `registry.example/${fresh()}`, env };
  const plain = template({ restartPolicy, container });
  return { ...plain, metadata: { labels: { app }, annotations: { note: fresh() } } };
}

function workload(world: GateWorld, app: string): JsonObject {
  const { spec } = deployment({ selector: { matchLabels: { app } }, template: templateOf(world, app) });
  return { spec: spec ?? {} };
}

interface Failing {
  readonly change: JsonObject;
  readonly gate: JsonObject;
  /** Happens while the gate is open. */
  readonly meanwhile: () => Promise<unknown>;
  /** The text that the status may show. */
  readonly told: RegExp;
}

/** Up to the open gate, what happens then, and the end: all is undone. */
async function undone({ stage }: GateWorld, name: string, { change, gate, meanwhile, told }: Failing): Promise<void> {
  await stage.transaction(name, [{ ...change, gate }]);
  await stepTo(stage, name, 'its gate to be open', ({ status }) => JSON.stringify(at(status, 'items')).includes('"gate"'));
  await meanwhile();
  const { phase, status } = await stepToEnd(stage, name);
  t.equal(phase, 'RolledBack', name);
  t.match(textAt((at(status, 'items') as readonly JsonObject[])[0], 'error', 'message'), told, name);
}

async function podOf({ stage, elsewhere }: GateWorld, app: string, holds: (pod: JsonObject) => boolean): Promise<JsonObject> {
  const all = pathIn(elsewhere, 'pods');
  return waitFor(
    async () => (await stage.client.list(all, { labelSelector: `app=${app}` })).items.find(holds),
    `a Pod of ${app}`,
  );
}

const late = { timeout: '1s' };

async function deployments(world: GateWorld): Promise<void> {
  const { stage, kubelet, fresh, elsewhere: namespace } = world;
  const make = (name: string): JsonObject =>
    change('Create', name, workload(world, name), { apiVersion: 'apps/v1', kind: 'Deployment', namespace });
  kubelet.play('app=pulls', (pod, now) => ({ ...waiting('ImagePullBackOff', fresh())(pod, now), message: fresh() }));
  await undone(world, 'pulls', {
    change: make('pulls'),
    gate: late,
    meanwhile: async () => warn(stage.client, await podOf(world, 'pulls', waitsFor('ImagePullBackOff')), 'Failed', fresh()),
    told: /container is waiting \(ImagePullBackOff\)\. Last Warning Events: Pod \(Failed\)/,
  });
  kubelet.play('app=loops', crashLooping(7, fresh()));
  await undone(world, 'loops', {
    change: make('loops'),
    gate: late,
    meanwhile: async () => warn(stage.client, await podOf(world, 'loops', waitsFor('CrashLoopBackOff')), fresh(), fresh()),
    told: /container is waiting \(CrashLoopBackOff\), ended before \(Error\)\. Last Warning Events: Pod\.$/,
  });
  const name = fresh();
  must(await stage.client.create(pathIn(namespace, 'resourcequotas'), { metadata: { name }, spec: { hard: { pods: '0' } } }));
  await undone(world, 'full', {
    change: make('full'),
    gate: late,
    meanwhile: () => reaches(world, 'apps/v1/deployments/full', 'ReplicaFailure'),
    told: /ReplicaSet: ReplicaFailure=True \(FailedCreate\)\. There is no Pod/,
  });
}

async function jobsAndPods(world: GateWorld): Promise<void> {
  const { stage, kubelet, fresh, elsewhere: namespace } = world;
  kubelet.play('app=job', terminated(42, fresh()));
  const spec = { backoffLimit: 0, template: templateOf(world, 'job', 'Never') };
  await undone(world, 'job', {
    change: change('Create', 'job', { spec }, { apiVersion: 'batch/v1', kind: 'Job', namespace }),
    gate: {},
    meanwhile: () => reaches(world, 'batch/v1/jobs/job', 'Failed'),
    told: /Pod: container ended \(Error\)\. Failed=True \(BackoffLimitExceeded\)/,
  });
  await undone(world, 'pod', {
    change: change('Create', 'pod', templateOf(world, 'pod'), { kind: 'Pod', namespace }),
    gate: { failed: { field: { path: '.status.reason' } } },
    meanwhile: async () => {
      const status = { phase: 'Pending', reason: fresh(), message: fresh() };
      must(await stage.client.patch(pathIn(namespace, 'pods/pod/status'), { status }));
    },
    told: /expected .* \.status\.reason to have a value; found \.status\.reason is set/,
  });
}

async function reaches({ stage, elsewhere }: GateWorld, path: string, type: string): Promise<void> {
  await waitFor(async () => {
    const conditions = at(must(await stage.client.get(pathIn(elsewhere, path))), 'status', 'conditions');
    return (conditions as readonly JsonObject[]).some((one) => one.type === type);
  }, `${path} to have ${type}`);
}

/** The status of a custom resource, and the value that a gate compares: either would reveal it, too. */
async function statuses(world: GateWorld): Promise<void> {
  const { gadgets, fresh, elsewhere: namespace } = world;
  const gadget = (name: string, gate: JsonObject, reported: JsonObject, told: RegExp): Promise<void> => {
    const { target, ...plain } = gadgets.change('Create', name) as { readonly target: JsonObject };
    const meanwhile = (): Promise<void> => gadgets.report(name, undefined, reported);
    return undone(world, name, { change: { ...plain, target: { ...target, namespace } }, gate, meanwhile, told });
  };
  const isBad = (): JsonObject => ({ conditions: [{ type: 'Ready', status: 'False', reason: fresh(), message: fresh() }] });
  const failed = { condition: { type: 'Ready', status: 'False' } };
  await gadget('says', { failed }, isBad(), /found condition Ready is False/);
  await gadget('late', late, isBad(), /found condition Ready is False/);
  const text = fresh();
  const field = { field: { path: '.status.key', value: text } };
  await gadget('field', { ready: field, ...late }, { key: fresh() }, /found \.status\.key is not as required/);
  await gadget('equal', { failed: field }, { key: text }, /found \.status\.key is as required/);
  const expression = `object.status.key == '${text}'`;
  await gadget('cel', { failed: { expression } }, { key: text }, /found its expression is true/);
  const number = `int(object.status.key) == 1 || '${text}' == ''`;
  await gadget('number', { ready: { expression: number } }, { key: fresh() }, /found its expression cannot be evaluated/);
}

/** Refused before the first change: text that is no CEL, with a value in it. */
async function refusals({ stage, gadgets, fresh, elsewhere: namespace }: GateWorld): Promise<void> {
  const { target, ...plain } = gadgets.change('Create', 'wrong') as { readonly target: JsonObject };
  const changes = ["object.status.key == '%' ==== 1", "object.status.key = '%'", "'%"].map((text) => ({
    ...plain,
    target: { ...target, namespace },
    gate: { ready: { expression: text.replace('%', fresh()) } },
  }));
  for (const [index, change] of changes.entries()) {
    await stage.transaction(`wrong-${index}`, [change]);
    const { phase, status } = await stepToEnd(stage, `wrong-${index}`);
    t.match([phase, textAt(status, 'message')], ['Failed', /write an expression in CEL/]);
  }
}

t.test('a gate shows no text from another namespace', async (t) => {
  const world = await openGateWorld(t);
  const { stage, values, log, answers, elsewhere } = world;
  await jobsAndPods(world);
  await deployments(world);
  await statuses(world);
  await refusals(world);
  t.ok(values.length > 25, `${values.length} canaries`);
  const isTold = async (): Promise<boolean> =>
    (await stage.client.list(stage.path('events'))).items.filter((one) => /^Gate/.test(textAt(one, 'reason') ?? '')).length > 5;
  await waitFor(isTold, 'the Events');

  const places = new Map(await everything(stage.client));
  const own = [...places.keys()].filter((place) => place.includes(` ${elsewhere}/`));
  t.ok(findings(places, values, []).length >= 8, 'the search finds them where they belong');
  places.set('log', log.join(''));
  places.set('answers', answers.join('\n'));
  places.set('figures', await (await fetch(`${stage.hookUrl}/metrics`)).text());
  t.ok(log.length > 50 && answers.length > 50 && places.size > 100, `${places.size} places`);
  t.same(findings(places, values, own), [], 'and nowhere else');
});
