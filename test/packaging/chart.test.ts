// The Helm chart: equal objects as by kustomize, except for changes by values; each set of values is accepted by the API server, and what
// the schema does not know is refused.
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { at, type Json, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { waitFor } from '../support/client.ts';
import { applyObject, connectToCluster, installManifests } from '../support/install.ts';
import { controllerDefinitions } from '../support/metacontroller/controller-crds.ts';
import { everyNth } from '../support/selection.ts';
import { shareNamespaces } from '../support/shared-namespaces.ts';
import { openHelm } from './helm.ts';
import { inShort, openKustomize } from './kustomize.ts';

const root = join(import.meta.dirname, '../..');
const client = connectToCluster();
t.teardown(() => client.close());
await installManifests(client);
const helm = await openHelm(t);
const kustomize = await openKustomize(t);
const served = ['team-a', 'team-b'].map((name) => ({ name, serviceAccounts: ['deployer'] }));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Case {
  readonly values: JsonObject;
  readonly namespace?: string;
  /** Of the rendered objects, as JSON. */
  readonly has?: readonly string[];
  readonly lacks?: readonly string[];
}

const digest = `sha256:${'0a'.repeat(32)}`;
const cases: Readonly<Record<string, Case>> = {
  'by default': {
    values: {},
    has: ['"resources":["secrets"],"verbs":["create"]'],
    // Rendered without a cluster: each rendering would make another token.
    lacks: ['"kind":"Secret"', '"kind":"PrometheusRule"', '"StatefulSet"'],
  },
  'for listed namespaces': { values: { namespaces: served }, has: ['"value":"team-a,team-b"'], lacks: ['"ClusterRoleBinding"'] },
  'in another namespace, with a token and a key that are there': {
    values: { token: { create: false, secretName: 'mine' }, sealingKey: { source: 'existing' } },
    namespace: 'elsewhere',
    has: ['"secretName":"mine"', "authorizer.serviceAccount('elsewhere', 'janus')"],
    lacks: ['janus-system', 'janus-hook-token', '"kind":"Secret"', '"resources":["secrets"],"verbs":["create"]'],
  },
  'with Metacontroller, and a key that is there': {
    values: { metacontroller: { install: true, namespace: 'mc' }, sealingKey: { source: 'existing' } },
    has: ['--client-go-qps=1000', '--leader-election-namespace=mc', '"janus-sealing-key"', '"replicas":2'],
    lacks: ['"resources":["secrets"],"verbs":["create"]', '"apiGroups":["*"]', '"namespace":"metacontroller"'],
  },
  'with all that Pods of Metacontroller may have': {
    values: {
      metacontroller: {
        install: true,
        namespace: 'mc',
        pullSecrets: [{ name: 'mc-pull' }],
        resources: { limits: { memory: '2Gi' } },
        nodeSelector: { 'example.org/pool': 'mc' },
        tolerations: [{ operator: 'Exists', effect: 'NoSchedule' }],
        affinity: { nodeAffinity: {} },
        priorityClassName: 'system-cluster-critical',
      },
    },
    has: [
      '"imagePullSecrets":[{"name":"mc-pull"}]',
      '"memory":"2Gi"',
      '"nodeSelector":{"example.org/pool":"mc"}',
      '"tolerations":[{"effect":"NoSchedule","operator":"Exists"}]',
      '"affinity":{"nodeAffinity":{}}',
      '"priorityClassName":"system-cluster-critical"',
    ],
  },
  'with one Metacontroller in the namespace of the engine': {
    values: { metacontroller: { install: true, namespace: 'janus-system', replicas: 1 } },
    has: ['"StatefulSet"'],
    lacks: ['"kind":"Namespace"', '--leader-election', 'compositecontrollers.metacontroller.k8s.io'],
  },
  'with packages, and their kinds': {
    values: { packages: { enabled: true, kinds: true }, namespaces: served },
    has: [
      '"name":"JANUS_PACKAGES","value":"true"',
      '"value":"team-a,team-b,janus-packages"',
      '"name":"locks.pkg.crossplane.io"',
      'http://janus.janus-system.svc/packages/sync',
      '"port":53',
      '"kind":"Namespace","metadata":{"annotations":{"helm.sh/resource-policy":"keep"}',
    ],
    lacks: ['"name":"metacontroller"},"spec"'],
  },
  'with packages, beside a Crossplane': {
    values: { packages: { enabled: true, crossplane: 'beside' } },
    has: ['"name":"JANUS_PACKAGES_CROSSPLANE","value":"beside"'],
    lacks: ['"name":"locks.pkg.crossplane.io"'],
  },
  'with Packages that make their own package transactions': {
    values: { packages: { enabled: true, kinds: true, own: 'annotated' } },
    has: [
      '"name":"JANUS_PACKAGES_OWN","value":"annotated"',
      'http://janus.janus-system.svc/packages/own/finalize',
      '"annotationSelector":{"matchAnnotations":{"pkg.crossplane.io/own-transactions":"true"}}',
      '"operator":"NotIn"',
    ],
    lacks: ['MutatingAdmissionPolicy'],
  },
  'with all Packages that make their own package transactions, beside a Crossplane': {
    values: { packages: { enabled: true, crossplane: 'beside', own: 'all' } },
    has: ['"name":"JANUS_PACKAGES_OWN","value":"all"', 'MutatingAdmissionPolicyBinding', 'crossplane.io~1paused'],
    lacks: ['annotationSelector', 'janus-packages-status', 'own-transactions'],
  },
  'with packages from private registries, behind a proxy': {
    values: {
      packages: {
        enabled: true,
        authority: 'ConfigMap/registries/ca.crt',
        trustedRoot: 'Secret/sigstore/trusted_root.json',
        proxy: 'http://proxy.infra.svc:3128',
        noProxy: ['.infra.svc', 'registry.corp.example:5000'],
        webhookSecret: 'webhooks',
      },
    },
    has: [
      '"name":"JANUS_PACKAGES_AUTHORITY","value":"ConfigMap/registries/ca.crt"',
      '"name":"JANUS_PACKAGES_TRUSTED_ROOT","value":"Secret/sigstore/trusted_root.json"',
      '"name":"JANUS_PACKAGES_PROXY","value":"http://proxy.infra.svc:3128"',
      '"name":"JANUS_PACKAGES_NO_PROXY","value":".infra.svc,registry.corp.example:5000"',
      '"name":"JANUS_PACKAGES_WEBHOOK_SECRET","value":"webhooks"',
      '"port":3128',
    ],
  },
  'with TLS': {
    values: { tls: { secretName: 'janus-hook-tls', clientSecretName: 'janus-metacontroller-tls' } },
    has: ['https://janus.janus-system.svc/sync', '"scheme":"HTTPS"', '"port":443', 'JANUS_TLS_CLIENT_AUTHORITY', '"clientTLS"'],
    lacks: ['http://janus'],
  },
  'with monitoring': {
    values: { monitoring: { enabled: true, runbooks: 'https://wiki.example.org/janus', labels: { release: 'prometheus' } } },
    has: [
      'https://wiki.example.org/janus#janustransactionstuck',
      '"release":"prometheus"',
      '"grafana_dashboard":"1"',
      '"kustomize.toolkit.fluxcd.io/substitute":"disabled"',
    ],
    lacks: ['blob/main/docs/runbooks.md'],
  },
  'with all that Pods may have': {
    values: {
      image: { repository: 'registry.example.org/janus', digest, pullPolicy: 'Always', pullSecrets: [{ name: 'pull' }] },
      replicas: 3,
      logLevel: 'debug',
      resources: { limits: { memory: '1Gi' } },
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      tolerations: [{ operator: 'Exists' }],
      affinity: { podAntiAffinity: {} },
      priorityClassName: 'system-cluster-critical',
      podLabels: { team: 'platform' },
      podAnnotations: { 'example.org/note': 'mine' },
      extraEnv: [{ name: 'JANUS_CALL_BUDGET', value: '3s' }],
      serviceAccount: { annotations: { 'example.org/role': 'mine' } },
      crd: { install: false },
      networkPolicy: { enabled: false },
    },
    has: [
      `registry.example.org/janus@${digest}`,
      '"team":"platform"',
      '"JANUS_CALL_BUDGET"',
      '"example.org/role":"mine"',
      '"Always"',
    ],
    lacks: ['"NetworkPolicy"', '"CustomResourceDefinition"'],
  },
};

const places = Object.values(cases).flatMap(({ namespace }) => (namespace === undefined ? [] : [namespace]));
await client.create('/api/v1/namespaces', { metadata: { name: 'janus-system' } });
await shareNamespaces(t, client, [...places, 'team-a', 'team-b', 'mc', 'janus-packages']);
for (const definition of [...controllerDefinitions, ...['ServiceMonitor', 'PrometheusRule'].map(operatorKind)])
  await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
const isServed = async (path: string) => (await client.get(path)).code === 200;
for (const path of ['metacontroller.k8s.io/v1alpha1/compositecontrollers', 'monitoring.coreos.com/v1/servicemonitors'])
  await waitFor(() => isServed(`/apis/${path}`), `${path} to be served`);

/** As far as the API server needs to take one; the operator's own CRDs are 2 MB. */
function operatorKind(kind: string): JsonObject {
  const plural = `${kind.toLowerCase()}s`;
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const group = 'monitoring.coreos.com';
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }];
  const names = { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` };
  return { metadata: { name: `${plural}.${group}` }, spec: { group, scope: 'Namespaced', names, versions } };
}

const recommended = ['name', 'instance', 'version', 'part-of', 'managed-by'].map((label) => `app.kubernetes.io/${label}`);

for (const [what, { values, namespace, has = [], lacks = [] }] of everyNth(3, Object.entries(cases)))
  t.test(`${what}, it is accepted by the API server`, async (t) => {
    const { status, objects, text } = helm.render(values, namespace);
    t.equal(status, 0, text);
    const all = JSON.stringify(objects);
    for (const part of has) t.ok(all.includes(part), `has ${part}`);
    // A FlowSchema names what it sorts, and grants nothing.
    const others = JSON.stringify(objects.filter(({ kind }) => kind !== 'FlowSchema'));
    for (const part of lacks) t.notOk(others.includes(part), `lacks ${part}`);
    for (const object of objects) {
      t.same(
        recommended.filter((label) => textAt(object, 'metadata', 'labels', label) === undefined),
        [],
        inShort(object),
      );
      const answer = await applyObject(client, object, { dryRun: 'All', fieldValidation: 'Strict', force: true });
      t.equal(answer.code < 300, true, `${inShort(object)}: ${textAt(answer.body, 'message') ?? 'accepted'}`);
    }
  });

for (const [what, values, folder] of [
  ['by default', {}, 'manifests'],
  ['for listed namespaces', { namespaces: served }, 'examples/namespaced'],
] as const)
  t.test(`${what}, the objects are those of ${folder}`, async (t) => {
    const rendered = helm.render({ ...values, token: { create: false, secretName: 'janus-hook-token' } }).objects;
    const own = rendered.filter((object) => at(object, 'metadata', 'annotations', 'helm.sh/hook') === undefined);
    // Helm makes the namespace of a release itself.
    const expected = kustomize(folder).filter(({ kind }) => kind !== 'Namespace');
    const byName = (objects: readonly JsonObject[]) => objects.map((one) => [inShort(one), plain(one)]).sort();
    t.same(byName(own), byName(expected));
  });

/** Without labels and selectors, which values change, and what only Helm needs; how the two fold long lines does not count. */
function plain(object: JsonObject): Json {
  const dropped = ['labels', 'matchLabels', 'selector'];
  const text = JSON.stringify(
    withPath(object, ['metadata', 'annotations', 'helm.sh/resource-policy'], undefined),
    (key, value) => {
      if (dropped.includes(key) || (key === 'annotations' && Object.keys(value).length === 0)) return undefined;
      return typeof value === 'string' ? value.replace(/\s+/g, ' ') : value;
    },
  );
  return JSON.parse(text) as Json;
}

const refused: readonly (readonly [values: JsonObject, said: RegExp])[] = [
  [{ replicas: 'two' }, /replicas/],
  [{ replicas: -1 }, /replicas/],
  [{ packages: { enabled: 'maybe' } }, /packages.*enabled/],
  [{ packages: { enabled: true, crossplane: 'near' } }, /packages.*crossplane/],
  [{ packages: { enabled: true, own: 'some' } }, /packages.*own/],
  [{ packages: { enabled: true, kinds: true, crossplane: 'beside' } }, /which Crossplane brings itself/],
  [
    { packages: { enabled: true }, namespaces: [{ name: 'janus-packages', serviceAccounts: ['a'] }] },
    /serves janus-packages already/,
  ],
  [{ logLevel: 'loud' }, /logLevel/],
  [{ novel: 1 }, /novel/],
  [{ token: { create: 'yes', secretName: 'a' } }, /token.*create/],
  [{ sealingKey: { source: 'nobody' } }, /sealingKey/],
  [{ sealingKey: { source: 'chart' } }, /each rendering would make another key: set engine or existing/],
  [{ metacontroller: { flags: 'fast' } }, /metacontroller.*flags/],
  [{ monitoring: { enabled: true, runbooks: 'docs/runbooks.md' } }, /runbooks/],
  [{ namespaces: [{ name: 'a', serviceAccounts: [] }] }, /serviceAccounts/],
  [{ image: { repository: 'a', digest: 'latest' } }, /digest/],
];
for (const [values, said] of everyNth(4, refused))
  t.test(`refused: ${JSON.stringify(values)}`, async (t) => {
    const { status, objects, text } = helm.render(values);
    t.equal(status, 1);
    t.same(objects, []);
    t.match(text.replaceAll('\n', ' '), said);
  });

t.test('helm lint reports no fault', async (t) => {
  const { status, text } = helm.run('lint', '--strict', helm.chart);
  t.equal(status, 0, text);
});

t.test('the schema and the README name every value', async (t) => {
  const values = parse(read('charts/janus/values.yaml')) as JsonObject;
  const schema = JSON.parse(read('charts/janus/values.schema.json')) as JsonObject;
  const names = Object.keys(values);
  // What a chart gives each chart that it depends on, and by which it may leave this one out.
  t.same(new Set([...names, 'global', 'enabled']), new Set(Object.keys(at(schema, 'properties') as JsonObject)));
  for (const name of names) t.match(read('charts/janus/README.md'), new RegExp(`\`${name}[.\`]`), name);
});

t.test('another chart may depend on it, under a condition', async (t) => {
  const dependency = '{ name: janus, version: ">=0.0.0-0", condition: janus.enabled }';
  const umbrella = t.testdir({
    'Chart.yaml': `{ apiVersion: v2, name: umbrella, version: 1.0.0, dependencies: [${dependency}] }`,
    charts: {},
  });
  cpSync(helm.chart, join(umbrella, 'charts/janus'), { recursive: true });
  for (const enabled of [true, false]) {
    const { status, text } = helm.run('template', 'mine', umbrella, '--set', `janus.enabled=${enabled}`);
    t.equal(status, 0, text);
    t.equal(text.includes('kind: CompositeController'), enabled);
  }
});

t.test('a chart without its files fails, and says what to do', async (t) => {
  rmSync(join(helm.chart, 'manifests'), { recursive: true });
  const { status, text, objects } = helm.render();
  t.equal(status, 1);
  t.same(objects, []);
  t.match(text, /the chart holds no manifests\/\S+\.yaml: use a released chart, or the one that npm run pack:chart makes/);
});
