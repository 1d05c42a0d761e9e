// What an object needs that a rollback leaves is left with it, wherever the spec has the two: a webhook configuration never stays
// without what answers it. Each case runs in both orders of the changes.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { itemsOf, showAtRest } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepTo, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const theirs = { fieldManager: 'their-tool' };

/** Changes and the path of each object, by a short word. */
interface Part {
  readonly change: JsonObject;
  readonly path: string;
}

type Parts = Readonly<Record<string, Part>>;

/** A program that answers a webhook, as a release has it, and a ConfigMap that has nothing to do with it. */
function program(stage: Stage, name: string): Parts {
  const { namespace, path } = stage;
  const labels = { app: name };
  const volumes = [{ name: 'cert', secret: { secretName: name } }];
  const spec = { serviceAccountName: name, volumes, containers: [{ name: 'c', image: 'reg.example/app:1' }] };
  const webhook = {
    name: 'v.example.com',
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Fail',
    clientConfig: { service: { name, namespace, path: '/v', port: 443 } },
    rules: [{ apiGroups: ['none.example.com'], apiVersions: ['*'], operations: ['CREATE'], resources: ['things'] }],
  };
  const configuration = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' };
  return {
    account: { change: change('Create', name, {}, { kind: 'ServiceAccount' }), path: path(`serviceaccounts/${name}`) },
    secret: { change: change('Create', name, { type: 'Opaque' }, { kind: 'Secret' }), path: path(`secrets/${name}`) },
    service: {
      change: change(
        'Create',
        name,
        { spec: { selector: labels, ports: [{ port: 443, protocol: 'TCP' }] } },
        { kind: 'Service' },
      ),
      path: path(`services/${name}`),
    },
    deployment: {
      change: change(
        'Create',
        name,
        { spec: { replicas: 0, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } } },
        { apiVersion: 'apps/v1', kind: 'Deployment' },
      ),
      path: path(`apps/v1/deployments/${name}`),
    },
    webhook: {
      change: change('Create', `${namespace}-${name}`, { webhooks: [webhook] }, configuration),
      path: `/apis/${configuration.apiVersion}/validatingwebhookconfigurations/${namespace}-${name}`,
    },
    unrelated: { change: change('Create', name, { data: { a: 'b' } }), path: path(`configmaps/${name}`) },
  };
}

function changeOf(parts: Parts, name: string): JsonObject {
  const { change: one } = parts[name] ?? {};
  if (one === undefined) throw new Error(`there is no part ${name}`);
  return one;
}

/** Applies the changes; `between` happens; then one more change is refused, and all that can be undone is undone. */
async function failAfter(stage: Stage, name: string, changes: readonly JsonObject[], between: () => Promise<unknown>) {
  const last = `${name}-last`;
  await stage.transaction(name, [...changes, change('Create', last, { data: { a: 'b' } })]);
  await stepUntil(stage, name, 'Prepared');
  must(await stage.client.create(stage.path('configmaps'), { metadata: { name: last } }));
  const isApplied = ({ status }: { readonly status: JsonObject }): boolean =>
    itemsOf(status).filter((item) => at(item, 'committed') === true).length === changes.length;
  await stepTo(stage, name, 'all but the last to be applied', isApplied);
  await between();
  return (await stepToEnd(stage, name)).status;
}

type Ordered = <Value>(list: readonly Value[]) => readonly Value[];
type Case = (t: Test, stage: Stage, name: string, inOrder: Ordered) => Promise<void>;

const cases: (readonly [what: string, name: string, run: Case])[] = [];

function inBothOrders(what: string, name: string, run: Case): void {
  cases.push([what, name, run]);
}

/** The outcome of each part: gone, or the reason why it is left. */
async function outcome({ client }: Stage, parts: Parts, names: readonly string[], status: JsonObject): Promise<JsonObject> {
  const items = itemsOf(status);
  const each = names.map(async (name, index) => {
    const isThere = (await client.get(parts[name]?.path ?? '')).code === 200;
    const reason = textAt(items[index], 'error', 'reason') ?? 'undone';
    return [name, isThere === (reason === 'undone') ? `${reason}, but ${isThere ? 'there' : 'gone'}` : reason];
  });
  return Object.fromEntries(await Promise.all(each));
}

const patchTheirs = (stage: Stage, path: string, body: JsonObject) => stage.client.patch(path, body, 'merge', theirs);

inBothOrders('a webhook configuration that others have changed', 'answering', async (t, stage, name, inOrder) => {
  const parts = program(stage, name);
  const names = inOrder(Object.keys(parts));
  const webhook = parts.webhook?.path ?? '';
  t.teardown(() => stage.client.delete(webhook));
  const changes = names.map((one) => changeOf(parts, one));
  const status = await failAfter(stage, name, changes, async () =>
    must(await patchTheirs(stage, webhook, { metadata: { labels: { team: 'theirs' } } })),
  );
  t.match(status, { phase: 'Failed' });
  t.same(await outcome(stage, parts, names, status), {
    webhook: 'ForeignContent',
    service: 'NeededByKept',
    deployment: 'NeededByKept',
    secret: 'NeededByKept',
    account: 'NeededByKept',
    unrelated: 'undone',
  });
  const messages = itemsOf(status).map((item) => textAt(item, 'error', 'message') ?? '');
  const of = (part: string): string => messages[names.indexOf(part)] ?? '';
  const [space, hook] = [
    stage.namespace,
    `ValidatingWebhookConfiguration.admissionregistration.k8s.io ${stage.namespace}-${name}`,
  ];
  t.equal(of('service'), `Service ${space}/${name} stays, because ${hook} needs it and was not restored`);
  t.equal(of('deployment'), `Deployment ${space}/${name} stays, because ${hook} needs it and was not restored`);
  t.equal(of('secret'), `Secret ${space}/${name} stays, because Deployment ${space}/${name} needs it and was not restored`);
  await showAtRest(t, stage, name);

  must(await patchTheirs(stage, webhook, { metadata: { labels: { team: null } } }));
  await stage.annotate(name, { 'tx.janus.io/retry-rollback': 'yes' });
  t.match((await stepToEnd(stage, name)).status, { phase: 'RolledBack' }, 'once they have taken it back, all goes');
  t.same(
    await portraits(
      stage.client,
      Object.values(parts).map(({ path }) => path),
    ),
    names.map(() => undefined),
  );
});

inBothOrders('the undo of a filled Secret needs no other object', 'filled', async (t, stage, name, inOrder) => {
  const parts = program(stage, name);
  const names = inOrder(Object.keys(parts));
  t.teardown(() => stage.client.delete(parts.webhook?.path ?? ''));
  const changes = names.map((one) => changeOf(parts, one));
  const status = await failAfter(stage, name, changes, async () =>
    must(await patchTheirs(stage, parts.secret?.path ?? '', { data: { 'tls.key': 'YQ==' } })),
  );
  t.match(status, { phase: 'Failed' });
  const undone = Object.fromEntries(names.map((one) => [one, 'undone']));
  t.same(await outcome(stage, parts, names, status), { ...undone, secret: 'ForeignContent' });
});

inBothOrders('a changed Deployment that stays keeps what it was changed for', 'hotfix', async (t, stage, name, inOrder) => {
  const { client, path } = stage;
  const [config, deployment] = [path(`configmaps/${name}`), path(`apps/v1/deployments/${name}`)];
  const other = `${name}-other`;
  await createConfigMaps(stage, [name, other]);
  const labels = { app: name };
  const containers = (image: string): JsonObject => ({
    containers: [{ name: 'c', image, envFrom: [{ configMapRef: { name } }] }],
  });
  const template = (image: string): JsonObject => ({ metadata: { labels }, spec: containers(image) });
  must(
    await client.create(path('apps/v1/deployments'), {
      metadata: { name },
      spec: { replicas: 0, selector: { matchLabels: labels }, template: template('reg.example/app:1') },
    }),
  );
  const before = await portraits(client, [path(`configmaps/${other}`)]);
  const changes = inOrder([
    change('Patch', name, { data: { color: 'green' } }),
    change('Patch', other, { data: { color: 'green' } }),
    change('Patch', name, { spec: { template: template('reg.example/app:2') } }, { apiVersion: 'apps/v1', kind: 'Deployment' }),
  ]);
  const hotfix = { spec: { template: { spec: { containers: [{ name: 'c', image: 'reg.example/app:3' }] } } } };
  const status = await failAfter(stage, name, changes, async () =>
    must(await client.patch(deployment, hotfix, 'strategic', theirs)),
  );
  t.match(status, { phase: 'Failed' });
  t.same(
    inOrder(itemsOf(status).slice(0, 3)).map((item) => textAt(item, 'error', 'reason')),
    ['NeededByKept', undefined, 'RollbackConflict'],
  );
  t.match(textAt(status, 'message'), /2 not restored: Deployment \S+ was changed by others/, 'the object in the way is named');
  t.match(must(await client.get(config)), { data: { color: 'green' } }, 'the hotfix runs with the ConfigMap of its release');
  t.same(await portraits(client, [path(`configmaps/${other}`)]), before, 'nothing else is left');
});

inBothOrders('what waits holds up what it needs, and nothing else', 'waiting', async (t, stage, name, inOrder) => {
  const parts = program(stage, name);
  const names = inOrder(Object.keys(parts));
  const { path: webhook = '', change: created = {} } = parts.webhook ?? {};
  const release = () => stage.client.patch(webhook, { metadata: { finalizers: null } });
  t.teardown(async () => {
    await release();
    await stage.client.delete(webhook);
  });
  const content = { ...(at(created, 'content') as JsonObject), metadata: { finalizers: ['test.janus.io/kept'] } };
  const changes = names.map((one) => (one === 'webhook' ? { ...created, content } : changeOf(parts, one)));
  await stage.transaction(name, changes, { spec: { timeout: '10m' } });
  await stepToEnd(stage, name);
  await stage.annotate(name, { 'tx.janus.io/request-rollback': 'yes' });
  await stepTo(stage, name, 'the undo of the objects that no other object needs', ({ status }) => {
    const item = itemsOf(status)[names.indexOf('unrelated')];
    return item?.rolledBack === true;
  });
  for (let count = 0; count < 3; count += 1) await step(stage, name);
  const isThere = async (part: string): Promise<boolean> => (await stage.client.get(parts[part]?.path ?? '')).code === 200;
  t.same(
    await Promise.all(names.map(isThere)),
    names.map((part) => part !== 'unrelated'),
  );
  must(await release());
  t.match((await stepToEnd(stage, name)).status, { phase: 'RolledBack' });
  t.same(
    await Promise.all(names.map(isThere)),
    names.map(() => false),
  );
});

t.test('the objects that a rollback leaves, and the objects that these need', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  for (const [what, name, run] of cases) {
    await t.test(what, (t) => run(t, stage, name, (list) => list));
    await t.test(`${what}, in the reverse order`, (t) => run(t, stage, `${name}-back`, (list) => list.toReversed()));
  }
});
