// What server-side apply alone would leave behind, or could not reach: keys that leave `stringData` of a Secret, and a member of a union
// that the API server filled in. Also under a field manager that releases share, also if the engine dies between its two writes.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { dying, untilDeath, writesOf } from '../../support/death.ts';
import { openEngines } from '../../support/engine.ts';
import { itemsOf, portrait, undoAll } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';

const apply = (content: JsonObject): JsonObject => ({ type: 'Apply', content });
const shared = { fieldManager: 'shop' };
const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function release(stage: Stage, name: string, content: JsonObject, spec: JsonObject): Promise<JsonObject> {
  await stage.transaction(name, [apply(content)], { spec });
  const { status } = await stepToEnd(stage, name);
  if (textAt(status, 'phase') !== 'Committed') throw new Error(`${name} is ${textAt(status, 'message')}`);
  return status;
}

t.test('the engine removes a key that leaves stringData from the Secret, and the undo restores it', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const path = stage.path('secrets/app');
  const secret = (stringData: JsonObject, data: JsonObject = {}): JsonObject => {
    const metadata = { name: 'app', namespace: stage.namespace };
    return { apiVersion: 'v1', kind: 'Secret', metadata, stringData, data };
  };
  const dataOf = async () => at(must(await stage.client.get(path)), 'data');
  await release(stage, 'one', secret({ user: 'u', old: 'revoked' }, { user: base64('less') }), shared);
  t.same(await dataOf(), { user: base64('u'), old: base64('revoked') }, 'stringData wins, as it does in the API server');
  const before = await portrait(stage, path);
  await release(stage, 'two', secret({ user: 'v' }), shared);
  t.same(await dataOf(), { user: base64('v') });
  await undoAll(stage, 'two');
  t.same(await portrait(stage, path), before);

  // By another client, under this manager, as kubectl sends it.
  const { stringData, ...rest } = secret({ user: 'u', old: 'revoked' });
  const sent = { ...rest, data: {}, stringData: stringData ?? {} };
  must(await stage.client.patch(path, sent, 'apply', { fieldManager: 'shop', force: true }));
  const status = await release(stage, 'three', secret({ user: 'w' }), shared);
  t.match(itemsOf(status)[0], {
    note: /^1 of its keys that content does not name stay: an earlier apply sent them as stringData/,
  });
  t.same(await dataOf(), { user: base64('w'), old: base64('revoked') });
});

interface Workload {
  readonly plural: string;
  readonly kind: string;
  readonly member: string;
  readonly type: string;
}

const deployment: Workload = { plural: 'deployments', kind: 'Deployment', member: 'strategy', type: 'Recreate' };

const workloads: readonly Workload[] = [
  deployment,
  { plural: 'statefulsets', kind: 'StatefulSet', member: 'updateStrategy', type: 'OnDelete' },
  { plural: 'daemonsets', kind: 'DaemonSet', member: 'updateStrategy', type: 'OnDelete' },
];

const labels = { app: 'app' };

function workload(stage: Stage, { kind, member }: Workload, image: string, strategy?: JsonObject): JsonObject {
  const containers = [{ name: 'c', image, ports: [{ containerPort: 80 }] }];
  const template = { metadata: { labels }, spec: { containers, nodeSelector: { nowhere: 'yes' } } };
  const replicas = kind === 'DaemonSet' ? {} : { replicas: 0 };
  const spec = {
    ...replicas,
    selector: { matchLabels: labels },
    template,
    ...(strategy === undefined ? {} : { [member]: strategy }),
  };
  return { apiVersion: 'apps/v1', kind, metadata: { name: 'app', namespace: stage.namespace, labels }, spec };
}

// The API server increments it at every write of a DaemonSet.
const withoutCounter = (found: unknown): string =>
  JSON.stringify(found).replaceAll(/"deprecated\.daemonset\.template\.generation":"\d+"/g, '');

const managers = [
  ['under a manager of its own', {}],
  ['under a shared manager', shared],
] as const;

for (const [title, spec] of managers)
  t.test(`a discriminator that forbids what the API server filled in, ${title}`, async (t: Test) => {
    for (const one of workloads)
      await t.test(one.kind, async (t) => {
        const stage = await startStage(t, { withoutLoop: true });
        const path = stage.path(`apps/v1/${one.plural}/app`);
        await release(stage, 'first', workload(stage, one, 'reg.example/app:1'), spec);
        const before = await portrait(stage, path);
        const second = workload(stage, one, 'reg.example/app:2', { type: one.type });
        await release(stage, 'second', second, spec);
        const found = must(await stage.client.get(path));
        t.equal(textAt(found, 'spec', one.member, 'type'), one.type);
        if (one.kind !== 'DaemonSet') t.same(at(found, 'spec', one.member), { type: one.type });
        await undoAll(stage, 'second');
        t.same(withoutCounter(await portrait(stage, path)), withoutCounter(before));
      });
  });

for (const [title, spec] of managers)
  for (const goesOn of [true, false])
    t.test(`the engine dies between the two writes, ${title}, and ${goesOn ? 'goes on' : 'undoes'}`, async (t) => {
      const stage = await startStage(t, { withoutLoop: true });
      const engines = await openEngines(t, stage);
      const path = stage.path('apps/v1/deployments/app');
      await release(stage, 'first', workload(stage, deployment, 'reg.example/app:1'), spec);
      const before = await portrait(stage, path);
      await stage.transaction('second', [apply(workload(stage, deployment, 'reg.example/app:2', { type: 'Recreate' }))], {
        spec,
      });
      await untilDeath(engines.start({ wrap: dying(writesOf('app', 'apply'), { write: 1, side: 'after' }) }), 'second');
      t.match(must(await stage.client.get(path)), {
        spec: { strategy: { type: 'RollingUpdate' }, template: { spec: { containers: [{ image: 'reg.example/app:1' }] } } },
      });
      if (!goesOn) await stage.annotate('second', { 'tx.janus.io/request-rollback': 'yes' });
      const later = engines.start();
      const { status } = await stepToEnd(later, 'second');
      t.equal(textAt(status, 'phase'), goesOn ? 'Committed' : 'RolledBack', JSON.stringify(itemsOf(status)));
      if (goesOn) {
        t.same(at(must(await stage.client.get(path)), 'spec', 'strategy'), { type: 'Recreate' });
        await undoAll(later, 'second');
      }
      t.same(await portrait(stage, path), before);
    });

t.test('the API server refuses the second write', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const path = stage.path('apps/v1/deployments/app');
  for (const [number, [, spec]] of managers.entries())
    await release(stage, `first-${number}`, workload(stage, deployment, `reg.example/app:${number}`), spec);
  const before = await portrait(stage, path);
  const second = workload(stage, deployment, 'reg.example/app:9', { type: 'Recreate' });
  await refuseRecreate(t, stage, { ...second, metadata: { name: 'probe' } });
  for (const [number, [title, spec]] of managers.entries()) {
    await stage.transaction(`second-${number}`, [apply(second)], { spec });
    const { status } = await stepToEnd(stage, `second-${number}`);
    t.match(status, { phase: 'RolledBack', message: /Patch of Deployment .* was refused: / }, title);
    t.same(await portrait(stage, path), before, title);
  }
});

/** Refuses a Deployment that is recreated; resolves once the API server enforces it. */
async function refuseRecreate(t: Test, { client, namespace, path }: Stage, probe: JsonObject): Promise<void> {
  const admission = '/apis/admissionregistration.k8s.io/v1';
  const name = `no-recreate-${namespace}`;
  t.teardown(async () => {
    await client.delete(`${admission}/validatingadmissionpolicybindings/${name}`);
    await client.delete(`${admission}/validatingadmissionpolicies/${name}`);
  });
  const rule = { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'], operations: ['CREATE', 'UPDATE'] };
  const matchConstraints = {
    resourceRules: [rule],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
  };
  const validations = [{ expression: "object.spec.strategy.type != 'Recreate'" }];
  must(
    await client.create(`${admission}/validatingadmissionpolicies`, {
      metadata: { name },
      spec: { matchConstraints, validations },
    }),
  );
  const spec = { policyName: name, validationActions: ['Deny'] };
  must(await client.create(`${admission}/validatingadmissionpolicybindings`, { metadata: { name }, spec }));
  const isInForce = async () => (await client.create(path('apps/v1/deployments'), probe, { dryRun: 'All' })).code === 422;
  await waitFor(isInForce, 'the admission policy to be in force');
}
