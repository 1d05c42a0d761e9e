// Releases with objects of admission, with conversions, with objects that Kubernetes deletes along, and with objects that others change in
// between: the command line applies and undoes them. A quota, a webhook and a broken kind need an API server of their own.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { breakSomeKind } from '../support/broken-kind.ts';
import { openCli } from '../support/cli.ts';
import { must, waitFor } from '../support/client.ts';
import { ownControlPlane } from '../support/own-control-plane.ts';
import { account, startStage } from '../support/stage.ts';
import { portraits } from '../support/targets.ts';

const plane = await ownControlPlane(t);
const stage = await startStage(t);
const { client, namespace, path } = stage;
const cli = await openCli(t, plane.kubeconfig);
const where = ['-n', namespace];
const [[key = '', value = '']] = Object.entries(stage.label) as [[string, string]];

/** Of the releases of an app: `app-1`, `app-2`. */
const common = (name: string) => [
  ...['-f', '-', name.replace(/-\d+$/, ''), ...where, '--service-account', account, '--name', name, '--no-gate'],
];
const listOf = (items: readonly JsonObject[]) => ({ input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
const plan = (name: string, items: readonly JsonObject[]) => cli.run(['plan', ...common(name)], listOf(items));
const apply = (name: string, items: readonly JsonObject[], ...words: readonly string[]) =>
  cli.run(['apply', ...common(name), '--label', `${key}=${value}`, '--wait', ...words], listOf(items));
const undo = (name: string, ...words: readonly string[]) => cli.run(['undo', name, ...where, '--yes', '--wait', ...words]);
const release = async (...given: Parameters<typeof apply>) => {
  const done = await apply(...given);
  if (done.code !== 0) throw new Error(`expected ${given[0]} to be applied: ${done.out}${done.err}`);
};
const codes = (paths: readonly string[]) => Promise.all(paths.map(async (one) => (await client.get(one)).code));

const configMap = (name: string, data: JsonObject, labels: JsonObject = {}): JsonObject => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data },
});
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

interface Served {
  readonly name: string;
  readonly storage?: true;
  readonly spec: JsonObject;
}

function definitionOf(plural: string, kind: string, served: readonly Served[]): JsonObject {
  const group = 'over-time.example.com';
  const versions = served.map(({ name, storage = false, spec }) => ({
    ...{ name, served: true, storage },
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: spec } } } },
  }));
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${plural}.${group}` } },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions,
    },
  };
}

t.test('a Service and its Endpoints, of one release, go together', async (t) => {
  const paths = [path('services/database'), path('endpoints/database')];
  await release('database-1', [
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'database' }, spec: { ports: [{ port: 3306, protocol: 'TCP' }] } },
    {
      ...{ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'database' } },
      subsets: [{ addresses: [{ ip: '10.20.30.40' }], ports: [{ port: 3306, protocol: 'TCP' }] }],
    },
  ]);
  const slices = path(
    `discovery.k8s.io/v1/endpointslices?labelSelector=${encodeURIComponent('kubernetes.io/service-name=database')}`,
  );
  await waitFor(
    async () => JSON.stringify(must(await client.get(slices)).items).includes('10.20.30.40'),
    'the controller to copy the addresses',
  );
  t.match(await undo('database-1'), { code: 0, out: /was rolled back after/ });
  t.same(await codes(paths), [404, 404]);
});

t.test('a release that raises a quota has room for what it brings', async (t) => {
  const quota = (services: string): JsonObject => ({
    ...{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'limits' } },
    spec: { hard: { 'count/services': services } },
  });
  const service = (name: string): JsonObject => ({
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports: [{ port: 80, protocol: 'TCP' }] } },
  });
  const limits = path('resourcequotas/limits');
  t.teardown(() => client.delete(limits));
  must(await client.create(path('services'), service('first')));
  must(await client.create(path('resourcequotas'), quota('1')));
  const isUsed = async () => JSON.stringify(at(must(await client.get(limits)), 'status', 'used') ?? {}).includes('"1"');
  await waitFor(isUsed, 'the quota to count the first Service');
  const before = await portraits(client, [limits, path('services/second')]);
  const items = [quota('2'), service('second')];
  t.match(await plan('quota-1', items), { code: 1, out: /1 created, 1 changed/ });
  await release('quota-1', items);
  t.equal((await client.get(path('services/second'))).code, 200);
  t.match(await undo('quota-1'), { code: 0, out: /was rolled back after/ });
  t.same(await portraits(client, [limits, path('services/second')]), before);
});

t.test('an undo takes back a webhook without a server before the object that the webhook reviews', async (t) => {
  const settings = (level: string): JsonObject => configMap('settings', { level }, { reviewed: 'yes' });
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['configmaps'] };
  const configuration = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/over-time-webhook';
  await release('reviewed-1', [settings('1')]);
  const paths = [path('configmaps/settings'), path('services/webhook'), configuration];
  const before = await portraits(client, paths);
  await release('reviewed-2', [
    settings('2'),
    {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'webhook' } },
      spec: { selector: { app: 'webhook' }, ports: [{ port: 443, protocol: 'TCP' }] },
    },
    {
      ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' },
      metadata: { name: 'over-time-webhook' },
      webhooks: [
        {
          ...{ name: 'webhook.over-time.example.com', admissionReviewVersions: ['v1'], sideEffects: 'None' },
          ...{ failurePolicy: 'Fail', timeoutSeconds: 2 },
          clientConfig: { service: { name: 'webhook', namespace, path: '/review' } },
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          objectSelector: { matchLabels: { reviewed: 'yes' } },
          rules: [rule],
        },
      ],
    },
  ]);
  const isCalled = async () =>
    (await client.patch(path('configmaps/settings'), { data: { probe: 'yes' } }, 'merge', { dryRun: 'All' })).code >= 500;
  await waitFor(isCalled, 'the webhook to be called');
  const done = await undo('reviewed-2');
  t.match(done, { code: 0, out: /was rolled back after/ }, done.out + done.err);
  t.same(await portraits(client, paths), before);
});

t.test('what the API server would not take back is refused before the first change', async (t) => {
  const bounded = (count: JsonObject) =>
    definitionOf('crates', 'Crate', [{ name: 'v1', storage: true, spec: { count: { type: 'integer', ...count } } }]);
  const crate = (count: number): JsonObject => ({
    ...{ apiVersion: 'over-time.example.com/v1', kind: 'Crate', metadata: { name: 'large' }, spec: { count } },
  });
  const crd = `${definitions}/crates.over-time.example.com`;
  const crates = path('over-time.example.com/v1/crates');
  t.teardown(() => client.delete(crd));
  must(await client.create(definitions, bounded({})));
  await waitFor(async () => (await client.list(crates)).code === 200, 'the kind to be served');
  await release('crate-1', [crate(40)]);
  must(await client.patch(crd, { spec: bounded({ maximum: 8 }).spec as JsonObject }));
  const isStricter = async () =>
    (await client.create(crates, { ...crate(40), metadata: { name: 'other' } }, { dryRun: 'All' })).code === 422;
  await waitFor(isStricter, 'the rule to hold');
  const before = await portraits(client, [`${crates}/large`]);
  const shrink = {
    ...{ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name: 'shrink', namespace, labels: stage.label } },
    spec: {
      serviceAccountName: account,
      changes: [{ type: 'Delete', target: { apiVersion: 'over-time.example.com/v1', kind: 'Crate', name: 'large' } }],
    },
  };
  const named = /Irreversible[\s\S]*spec\.count/;
  const deleted = await cli.run(['apply', '-f', '-', ...where, '--wait'], { input: JSON.stringify(shrink) });
  t.match(deleted, { code: 2 }, deleted.out + deleted.err);
  t.match(deleted.out + deleted.err, named);
  const applied = await apply('crate-2', [crate(4)]);
  t.match(applied, { code: 2 }, applied.out + applied.err);
  t.match(applied.out + applied.err, named);
  t.same(await portraits(client, [`${crates}/large`]), before);
});

t.test('an instance moves to a version that its CRD gains in one release', async (t) => {
  const size = { size: { type: 'integer' } };
  const alpha = { name: 'v1alpha1', storage: true, spec: size } as const;
  const gained = definitionOf('boxes', 'Box', [alpha, { name: 'v1', spec: size }]);
  const box = (version: string): JsonObject => ({
    ...{ apiVersion: `over-time.example.com/${version}`, kind: 'Box', metadata: { name: 'small' }, spec: { size: 2 } },
  });
  const paths = [`${definitions}/boxes.over-time.example.com`, path('over-time.example.com/v1alpha1/boxes/small')];
  const shown = async () => {
    const [crd, instance] = await portraits(client, paths);
    return [at(crd as JsonObject, 'spec'), instance];
  };
  await release('boxes-1', [definitionOf('boxes', 'Box', [alpha]), box('v1alpha1')]);
  const before = await shown();
  const planned = await plan('boxes-2', [gained, box('v1')]);
  t.match(planned, { code: 1, out: /^Planned: 1 changed, 1 unchanged\b/m }, 'the instance exists');
  await release('boxes-2', [gained, box('v1')]);
  await t.test('diff finds the instance as released, and names an edit', async (t) => {
    const same = await cli.run(['diff', 'boxes-2', ...where]);
    t.match(same, { code: 0, out: /as released/ }, same.out + same.err);
    must(await client.patch(paths[1] ?? '', { spec: { size: 3 } }, 'merge', { fieldManager: 'kubectl-edit' }));
    const other = await cli.run(['diff', 'boxes-2', ...where]);
    t.match(other, { code: 1, out: /spec\.size/ }, other.out + other.err);
    must(await client.patch(paths[1] ?? '', { spec: { size: 2 } }, 'merge', { fieldManager: 'kubectl-edit' }));
  });
  const done = await undo('boxes-2');
  t.match(done, { code: 0, out: /was rolled back after/ }, done.out + done.err);
  t.match(await shown(), before);
});

t.test('a refusal of an object elsewhere names the path, and never a value', async (t) => {
  const other = `${namespace}-other`;
  must(await client.create('/api/v1/namespaces', { metadata: { name: other } }));
  t.teardown(() => client.delete(`/api/v1/namespaces/${other}`));
  const service = (spec: JsonObject): JsonObject => ({
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: other } },
    spec: { selector: { app: 'web' }, ports: [{ port: 80, protocol: 'TCP' }], ...spec },
  });
  for (const [spec, pathOf] of [
    [{ sessionAfinity: 'ClientIP' }, '\\.spec\\.sessionAfinity'],
    [{ sessionAffinity: 'ClientHost' }, '\\.?spec\\.sessionAffinity'],
  ] as const) {
    const done = await plan('hidden-1', [service(spec)]);
    t.match(done, { code: 2 }, done.out + done.err);
    t.match(done.out + done.err, new RegExp(pathOf));
    t.notMatch(done.out + done.err, /ClientIP|ClientHost/);
  }
});

t.test('an object that somebody deleted is named in the end, or brought back', async (t) => {
  const both = (color: string) => ['colors', 'theme'].map((name) => configMap(name, { color }));
  await release('colors-1', both('blue'));
  for (const [name, words, code] of [
    ['colors-2', [], 404],
    ['colors-3', ['--overwrite', 'ConfigMap/colors'], 200],
  ] as const) {
    await release(name, both('red'));
    must(await client.delete(path('configmaps/colors')));
    const done = await undo(name, ...words);
    t.equal(done.code, code === 404 ? 4 : 0, done.out + done.err);
    if (code === 404) t.match(done.out, /ConfigMap colors[^\n]*\n?[^\n]*deleted/);
    t.same(await codes([path('configmaps/colors')]), [code]);
    t.match(must(await client.get(path('configmaps/theme'))), { data: { color: 'blue' } });
    if (code === 404) must(await client.create(path('configmaps'), configMap('colors', { color: 'blue' })));
  }
});

// The last one: until the kind is repaired, nothing that others may depend on can be deleted.
t.test('--unlisted excepts a kind that cannot be listed, and no other', async (t) => {
  await release('unlisted-1', [configMap('unlisted', {})], '--timeout', '40s');
  const broken = await breakSomeKind(stage);
  t.teardown(broken.remove);
  const refused = await undo('unlisted-1');
  t.match(refused, { code: 3, out: new RegExp(`--unlisted ${broken.name}`) }, refused.out + refused.err);
  for (const [kind, why] of [
    ['configmaps', /configmaps, which can be listed, is not served, or is not needed/],
    ['nothings.example.org', /nothings\.example\.org, which can be listed, is not served, or is not needed/],
  ] as const) {
    const idle = await undo('unlisted-1', '--unlisted', kind);
    t.not(idle.code, 0);
    t.match(idle.out + idle.err, why);
    t.match(idle.out + idle.err, broken.name, 'it names the kind that may be given');
    t.equal((await client.get(path('configmaps/unlisted'))).code, 200);
  }
  const unread = await undo('unlisted-1', '--unlisted', 'Some Kind');
  t.match(unread, { code: 64, err: /PLURAL/ }, unread.out + unread.err);
  const done = await undo('unlisted-1', '--unlisted', broken.name);
  t.match(done, { code: 0, out: new RegExp(broken.name) }, done.out + done.err);
  t.equal((await client.get(path('configmaps/unlisted'))).code, 404);
  t.equal(textAt(await stage.read('unlisted-1'), 'metadata', 'annotations', 'tx.janus.io/undo-unlisted'), broken.name);
});
