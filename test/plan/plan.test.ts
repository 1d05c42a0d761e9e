// `janus plan` as typed, on a control plane that audits every request: what it shows, its exit codes, that it writes nothing, and that it
// repeats no value of a Secret.
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import t from 'tap';
import { parse } from 'yaml';
import { codeOf } from '../../cli/run/plan.ts';
import { at, isList, type Json, type JsonObject, parseJson, textAt } from '../../hooks/objects/json.ts';
import { rows as deferredRows } from '../../hooks/transactions/checks/deferred.ts';
import { plan } from '../../hooks/transactions/inspect.ts';
import type { OwnerCode, Plan } from '../../hooks/transactions/inspection.ts';
import schema from '../../schemas/plan.schema.json' with { type: 'json' };
import { type AdmissionPair, type AdmissionRow, admissionPairs } from '../support/admission-pairs.ts';
import { connect, must, type Teardown, waitFor } from '../support/client.ts';
import { ownControlPlane } from '../support/own-control-plane.ts';
import { planParts } from '../support/planning.ts';
import { commit, itemsOf } from '../support/round-trip.ts';
import { inAllOnly } from '../support/selection.ts';
import { account, type Stage, startStage } from '../support/stage.ts';
import { stepTo, stepToEnd, stepUntil } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';
import { canary, findings } from '../threats/canaries.ts';
import { openTerminal } from './typed.ts';

const plane = await ownControlPlane(t, { audit: 'Request', serviceAccountAdmission: true });

/** A plan of a Transaction, before the engine is installed. */
async function planBefore(): Promise<Plan> {
  const client = connect(plane.kubeconfig);
  t.teardown(() => client.close());
  const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
  must(await client.create('/api/v1/namespaces', { metadata: { name: 'bare' } }));
  must(await client.create('/api/v1/namespaces/bare/serviceaccounts', { metadata: { name: account } }));
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
  const subjects = [{ kind: 'ServiceAccount', name: account, namespace: 'bare' }];
  must(await client.create(bindings, { metadata: { name: 'bare' }, roleRef, subjects }));
  const object = {
    metadata: { name: 'early', namespace: 'bare' },
    spec: { serviceAccountName: account, changes: [change('Create', 'one', { data: { a: '1' } })] },
  };
  const parts = planParts(t, plane);
  return waitFor(async () => {
    const found = await plan(parts, object);
    return found.verdict === 'accepted' ? found : undefined;
  }, 'the plan to be accepted');
}

const before = await planBefore();

const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete'];
const stage = await startStage(t, { withoutLoop: true, rules: [{ apiGroups: ['*'], resources: ['*'], verbs }] });
const { client, namespace, path } = stage;
const terminal = await openTerminal(t, stage);
const validate = new Ajv({ strict: false }).compile(schema);
const secrets = {
  stored: canary(),
  noted: canary(),
  created: canary(),
  sourced: canary(),
  annotated: canary(),
  refused: canary(),
  label: canary(),
};
const secret = { kind: 'Secret' };

const anything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
const planner = await terminal.user('planner', anything);

function transactionOf(name: string, changes: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return {
    ...{ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction' },
    metadata: { name, namespace, annotations: { 'kubectl.kubernetes.io/last-applied-configuration': secrets.annotated } },
    spec: { serviceAccountName: account, changes, ...more },
  };
}

async function planOf(
  object: JsonObject,
  as = planner,
  words: readonly string[] = [],
): Promise<{ readonly code: number | null; readonly plan: Json }> {
  const file = terminal.file(`${textAt(object, 'metadata', 'name')}.json`, object);
  const { code, stdout, stderr } = await terminal.type(['plan', '-f', file, '-o', 'json', ...words], as);
  if (stdout === '') throw new Error(`no plan: ${stderr}`);
  const plan = parseJson(stdout);
  if (!validate(JSON.parse(stdout))) throw new Error(JSON.stringify(validate.errors));
  return { code, plan };
}

function changesIn(plan: Json): readonly Json[] {
  const changes = at(plan, 'changes');
  return isList(changes) ? changes : [];
}

const deployment = {
  ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
  metadata: {
    name: 'web',
    labels: { 'kustomize.toolkit.fluxcd.io/name': 'web', 'kustomize.toolkit.fluxcd.io/namespace': 'shop' },
  },
  spec: {
    ...{ replicas: 1, selector: { matchLabels: { app: 'web' } } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx:1.27' }] } },
  },
};

await createConfigMaps(stage, ['app-config', 'same']);
must(await client.create(path('apps/v1/deployments'), deployment, { fieldManager: 'kubectl-edit' }));
must(
  await client.create(path('secrets'), {
    metadata: { name: 'old-api-key', annotations: { 'kubectl.kubernetes.io/last-applied-configuration': secrets.noted } },
    stringData: { key: secrets.stored },
  }),
);
const sourced = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'sourced' },
  stringData: { [secrets.sourced]: secrets.sourced },
};
must(await client.create(path('secrets'), { metadata: { name: 'contents' }, stringData: { x: JSON.stringify(sourced) } }));
must(
  await client.create(path('autoscaling/v2/horizontalpodautoscalers'), {
    metadata: { name: 'scaler' },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, minReplicas: 1, maxReplicas: 3 },
  }),
);

const green = { data: { color: 'green' } };
const ownerCodes = schema.definitions.change.properties.owners.items.properties.code.enum;
const web = { apiVersion: 'apps/v1', kind: 'Deployment' };
const image = { spec: { replicas: 2, template: { spec: { containers: [{ name: 'web', image: 'nginx:1.29' }] } } } };
const release = transactionOf('release', [
  change('Patch', 'app-config', { data: { color: 'green' } }),
  { ...change('Patch', 'web', image, web), gate: { at: 'AtEnd' } },
  change('Delete', 'old-api-key', undefined, secret),
  change('Create', 'new-api-key', { stringData: { key: secrets.created } }, secret),
  {
    type: 'Apply',
    target: { apiVersion: 'v1', kind: 'Secret', name: 'sourced' },
    contentFrom: { secretKeyRef: { name: 'contents', key: 'x' } },
  },
  change('Create', `${namespace}-new`, {}, { kind: 'Namespace' }),
  change('Create', 'inside', { data: { a: '1' } }, { namespace: `${namespace}-new` }),
  change('Patch', 'same', { data: { color: 'blue' } }),
]);

t.test('the plan says so if the engine is not installed, and shows the rest', async (t) => {
  t.match(before, { refusal: [], gaps: [], changes: [{ operation: 'create', fields: [{ path: 'data' }] }] });
  t.equal(before.unseen.length, 1);
  t.match(before.unseen[0], /it does not serve tx\.janus\.io, install the engine/);
});

t.test('the program prints a plan as data', async (t) => {
  const { code, plan } = await planOf(release);
  t.match(plan, { verdict: 'accepted', exact: true, refusal: [], also: [], gaps: [], unseen: [], locks: [] });
  t.equal(code, 1);
  const changes = changesIn(plan);
  t.same(
    changes.map((one) => at(one, 'operation')),
    ['update', 'update', 'delete', 'create', 'create', 'create', 'create', 'none'],
  );
  t.same(at(changes[0], 'fields'), [
    { path: 'data.color', before: { kind: 'value', value: 'blue' }, after: { kind: 'value', value: 'green' } },
  ]);
  t.match(changes[1], {
    gate: 'AtEnd',
    losers: [{ manager: 'kubectl-edit' }],
    owners: [{ code: 'Flux', name: 'Kustomization shop/web' }],
    note: new RegExp(`^spec.replicas stays \\d: HorizontalPodAutoscaler ${namespace}/scaler scales it, content says \\d$`),
  });
  t.match(at(changes[1], 'fields'), [
    { path: 'spec.template.spec.containers[name=web].image', after: { kind: 'value', value: 'nginx:1.29' } },
  ]);
  t.match(at(changes[2], 'fields'), [{}, { path: 'data.key', before: { kind: 'hidden' } }, {}]);
  t.match(changes[4], { contentFrom: 'Secret contents key x' });
  t.match(changes[6], { deferred: true, dependsOn: 5 });
});

t.test('the plan of a new object has the fields of its manifest, without defaults', async (t) => {
  const labels = { app: 'new' };
  const containers = [{ name: 'web', image: 'nginx:1.29' }];
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
  const ports = [{ name: 'web', port: 80, protocol: 'TCP' }];
  const { plan } = await planOf(
    transactionOf('new', [
      change('Create', 'new', { spec }, web),
      change('Create', 'new', { spec: { ports } }, { kind: 'Service' }),
    ]),
  );
  const [made, service] = changesIn(plan).map((one) => at(one, 'fields'));
  const field = (path: string, value: Json) => ({ path, after: { kind: 'value', value } });
  t.same(made, [
    field('spec.selector.matchLabels.app', 'new'),
    field('spec.template.metadata.labels.app', 'new'),
    field('spec.template.spec.containers', containers),
  ]);
  t.same(service, [field('spec.ports', ports)]);
});

t.test('the program prints a plan for people', async (t) => {
  const file = terminal.file('release.json', release);
  const { code, stdout, stderr } = await terminal.type(['plan', '-f', file], planner);
  t.equal(code, 1, stderr);
  for (const line of [
    /^Plan of .*\/release, as ServiceAccount .*\/deployer/m,
    /^~ update +ConfigMap .* app-config +1 +takes 1 field from kubectl-create$/m,
    /data\.color +"blue" -> "green"/,
    /takes from kubectl-edit: .*image/,
    /^Flux .*Kustomization shop\/web applies its source again/m,
    /data\.key +\(hidden\) -> \(none\)/,
    /^\+ create +ConfigMap .* inside .* not tried yet, needs Namespace \S+-new$/m,
    /^Planned: 4 created, 2 changed, 1 unchanged, 1 deleted \(1 of them not tried yet\)\. Nothing was written\. {3}exit 1/m,
  ])
    t.match(stdout, line);
  t.notMatch(stdout, new RegExp(String.fromCharCode(27)), 'no escape code in a pipe');
  const outside = await terminal.type(['plan', '-f', file], planner, { KUBECTL_EXTERNAL_DIFF: 'diff -r' });
  t.match(outside.stdout, /^< data\.color: "blue"\n/m, outside.stderr);
  t.match(outside.stdout, /^> data\.color: "green"$/m);
});

t.test('the exit code depends on the plan', async (t) => {
  const same = transactionOf('same', [change('Patch', 'same', { data: { color: 'blue' } })]);
  t.equal((await planOf(same)).code, 0, 'it changes nothing');
  t.equal((await planOf(release, planner, ['--strict'])).code, 2, 'somebody else will act against it');
  const absent = transactionOf('absent', [
    change('Patch', 'nowhere', { data: {} }),
    change('Patch', 'app-config', { metadata: { labels: { a: 'b!' } } }),
  ]);
  const { code, plan } = await planOf(absent);
  t.equal(code, 2);
  t.match(plan, {
    verdict: 'refused',
    refusal: [
      { index: 0, reason: 'NotFound' },
      { index: 1, reason: 'Invalid' },
    ],
  });
  const wrong = await planOf(transactionOf('wrong', [change('Patch', 'nowhere', { data: {} })], { lockWait: 'soon' }));
  t.match(
    wrong.plan,
    { refusal: [{ reason: 'Invalid' }], also: [{ reason: 'Invalid' }] },
    'the plan refuses the Transaction itself, and finds more faults',
  );
  t.equal((await terminal.type(['plan'], planner)).code, 64);
  const nowhere = readFileSync(planner, 'utf8').replace(/server: .*/, 'server: https://127.0.0.1:1');
  const words = ['plan', '-f', terminal.file('same.json', same), '-o', 'json'];
  const unanswered = await terminal.type(words, terminal.file('nowhere.kubeconfig', nowhere));
  t.match(
    unanswered,
    { code: 3, stdout: '', stderr: /^janus: https:\/\/127\.0\.0\.1:1 gives no answer / },
    'the result is unknown',
  );
});

t.test('refusals quote no value of a Secret', async (t) => {
  const content = { metadata: { labels: { value: `${secrets.label}!` } }, stringData: { key: secrets.refused } };
  const odd = await planOf(transactionOf('odd', [change('Create', 'odd', content, secret)]));
  t.match(odd.plan, { verdict: 'refused', refusal: [{ index: 0, reason: 'Invalid' }] });
  const shapeless = { ...change('Create', 'odd', content, secret), gate: secrets.refused };
  const refused = await planOf(transactionOf('shapeless', [shapeless], { timeout: secrets.label }));
  t.match(refused.plan, { verdict: 'refused', refusal: [{ reason: 'Invalid' }] });
});

t.test('the plan names missing permissions, for the change and for the undo', async (t) => {
  const name = 'limited';
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create'] }];
  must(await client.create(path('serviceaccounts'), { metadata: { name } }));
  must(await client.create(path('rbac.authorization.k8s.io/v1/roles'), { metadata: { name }, rules }));
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  must(await client.create(path('rbac.authorization.k8s.io/v1/rolebindings'), { metadata: { name }, roleRef, subjects }));
  const by = { serviceAccountName: name };
  const fresh = change('Create', 'fresh', { data: { a: '1' } });
  const lacking = transactionOf('lacking', [fresh], by);
  const parts = planParts(t, plane);
  await waitFor(async () => (await plan(parts, lacking)).gaps.length === 1, 'the Role to count');
  const place = { group: '', resource: 'configmaps', namespace };
  const forUndo = { question: { ...place, verb: 'delete', name: 'fresh' }, for: 'undo' };
  const said = `ServiceAccount ${namespace}/${name} may not delete configmaps "fresh" in namespace ${namespace}`;
  const found = await planOf(lacking);
  t.equal(found.code, 2);
  t.match(found.plan, { verdict: 'refused', gaps: [forUndo], refusal: [{ reason: 'Forbidden', message: said, for: 'undo' }] });
  const words = ['plan', '-f', terminal.file('lacking.json', lacking)];
  const { stdout } = await terminal.type(words, planner);
  t.ok(stdout.includes(`\n  Forbidden  ${said}   (needed for the undo)\n`), stdout);
  const yaml = await terminal.type([...words, '-o', 'yaml'], planner);
  t.same(parse(yaml.stdout), found.plan, 'the YAML is equal');

  const sourced = {
    ...{ type: 'Apply', target: { apiVersion: 'v1', kind: 'Secret', name: 'sourced' } },
    contentFrom: { secretKeyRef: { name: 'contents', key: 'x' } },
  };
  const more = await planOf(transactionOf('lacking-more', [fresh, sourced, change('Delete', 'same')], by));
  const gaps = at(more.plan, 'gaps') as readonly Json[];
  const missing = gaps.map((gap) => [
    at(gap, 'for'),
    ...['verb', 'resource', 'name'].map((key) => at(gap, 'question', key) ?? ''),
  ]);
  t.same(
    missing.map((one) => one.join(' ')).sort(),
    [
      'change delete configmaps fresh',
      'change delete configmaps same',
      'change get secrets contents',
      'change get secrets sourced',
      'change patch secrets sourced',
      'undo update configmaps same',
    ],
    'the plan does not attribute a right that a change needs to the undo',
  );
});

t.test('the plan shows the faults of later stages', async (t) => {
  const { plan } = await planOf(
    transactionOf('both', [
      change('Patch', 'app-config', { data: { a: '1' } }, { kind: 'Unknown' }),
      change('Patch', 'nowhere', { data: {} }),
    ]),
  );
  t.match(plan, { refusal: [{ index: 0, reason: 'UnknownKind' }], also: [{ index: 1, reason: 'NotFound' }] });
});

t.test('the plan names the dependents of an object', async (t) => {
  await createConfigMaps(stage, ['owning']);
  const uid = textAt(must(await client.get(path('configmaps/owning'))), 'metadata', 'uid') ?? '';
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owning', uid }];
  must(await client.create(path('configmaps'), { metadata: { name: 'owned', ownerReferences } }));
  const { plan } = await planOf(transactionOf('depended', [change('Delete', 'owning')]));
  t.match(plan, { verdict: 'refused', refusal: [{ index: 0, reason: 'Irreversible' }] });
});

t.test('the plan names a lock that another Transaction holds', async (t) => {
  await stage.transaction('holder', [change('Patch', 'same', { data: { color: 'red' } })]);
  await stepUntil(stage, 'holder', 'Prepared');
  const wanted = [change('Patch', 'same', { data: { color: 'green' } })];
  const waits = await planOf(transactionOf('waits', wanted));
  t.match(waits.plan, { verdict: 'accepted', locks: [{ index: 0, holder: `${namespace}/holder` }] });
  const refused = await planOf(transactionOf('refused', wanted, { lockWait: '0s' }));
  t.match(refused.plan, { verdict: 'refused', refusal: [{ reason: 'LockHeld' }] });
});

t.test('the plan names each controller that will revert a change, and --strict refuses it', inAllOnly, async (t) => {
  const uid = textAt(must(await client.get(path('configmaps/same'))), 'metadata', 'uid') ?? '';
  const tracking = 'argocd.argoproj.io/tracking-id';
  const flux = 'toolkit.fluxcd.io/name';
  const signs: readonly (readonly [name: string, code: OwnerCode, JsonObject, RegExp])[] = [
    ['argo', 'ArgoCD', { annotations: { [tracking]: 'web:/ConfigMap:shop/argo' } }, /change its source, or disable auto-sync/],
    ['kustomization', 'Flux', { labels: { [`kustomize.${flux}`]: 'web' } }, /Kustomization web applies .* suspend it first/],
    ['helm-release', 'Flux', { labels: { [`helm.${flux}`]: 'web' } }, /HelmRelease web applies .* suspend it first/],
    [
      'helm',
      'Helm',
      { labels: { 'app.kubernetes.io/managed-by': 'Helm' }, annotations: { 'meta.helm.sh/release-name': 'web' } },
      /release web manages it: Helm 4's next upgrade fails with a conflict/,
    ],
    [
      'controlled',
      'Controller',
      { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'same', uid, controller: true }] },
      /ConfigMap same owns it and writes it again: change the owner/,
    ],
  ];
  for (const [name, , metadata] of signs)
    must(await client.create(path('configmaps'), { metadata: { name: `owned-${name}`, ...metadata }, data: { color: 'blue' } }));
  const argo = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owned-argo-applied' }, data: { color: 'blue' } };
  must(await client.apply(path('configmaps/owned-argo-applied'), argo, { fieldManager: 'argocd-controller' }));
  const rows = [
    ...signs.map(([name, code, , sentence]) => [change('Patch', `owned-${name}`, green), code, sentence] as const),
    [change('Patch', 'owned-argo-applied', green), 'ArgoCD', /Argo CD tracks it \(argocd-controller\)/],
    [
      { ...change('Patch', 'web', { spec: { replicas: 2 } }, web), replicas: 'Set' },
      'HPA',
      /scaler scales it again: change the HorizontalPodAutoscaler/,
    ],
  ] as const;
  const parts = planParts(t, plane);
  for (const [wanted, code, sentence] of rows) {
    const found = await plan(parts, transactionOf('owned', [wanted]));
    t.match(found.changes[0]?.owners.find((owner) => owner.code === code)?.sentence, sentence, code);
    t.same([codeOf(found, false), codeOf(found, true)], [1, 2], code);
  }
  t.same(new Set(rows.map(([, code]) => code)), new Set(ownerCodes), 'every code of the schema');
  const all = transactionOf(
    'owned',
    rows.map(([wanted]) => wanted),
  );
  const { code, plan: found } = await planOf(all, planner, ['--strict']);
  t.equal(code, 2);
  t.match(found, { verdict: 'accepted' });
});

t.test('the plan works for users with fewer rights', inAllOnly, async (t) => {
  const reads = { apiGroups: ['*'], resources: ['configmaps'], verbs: ['get', 'list', 'patch', 'update'] };
  const creates = { apiGroups: ['tx.janus.io'], resources: ['transactions'], verbs: ['create'] };
  const impersonates = { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'] };
  const small = transactionOf('small', [change('Patch', 'app-config', { data: { color: 'green' } })]);
  const poor = await terminal.user('poor', [reads, creates]);
  const hindered = await planOf(small, poor);
  t.equal(hindered.code, 2, 'who may not impersonate may not create it either');
  t.match(hindered.plan, {
    verdict: 'refused',
    refusal: [{ reason: 'Forbidden' }],
    trouble: /you may not impersonate ServiceAccount .*--as-me/,
  });
  const own = await planOf(small, poor, ['--as-me']);
  t.match(own.plan, { verdict: 'accepted', exact: false, unseen: [/for you may not/, /ServiceAccount/, /Leases/] });
  const other = transactionOf('other', [change('Create', 'other', {}, { kind: 'Secret' })]);
  const refusal = at((await planOf(other, poor, ['--as-me'])).plan, 'refusal') as unknown as readonly { message: string }[];
  t.ok(refusal.length > 1 && refusal.every(({ message }) => /^you may not \S+ secrets/.test(message)), JSON.stringify(refusal));
  const medium = await terminal.user('medium', [creates, impersonates]);
  const seen = await planOf(small, medium);
  t.match(seen.plan, { verdict: 'accepted', exact: true, unseen: [/ServiceAccount/, /Leases/] });
});

type Pair = Pick<AdmissionPair, 'earlier' | 'later' | 'isWaitedFor'>;

const rbac = 'rbac.authorization.k8s.io';
const containers = [{ name: 'main', image: 'example.org/main' }];
const podOf = (name: string, spec: JsonObject): JsonObject =>
  change('Create', name, { spec: { containers, ...spec } }, { kind: 'Pod' });

/** For each row of the table, a change that only an earlier one makes possible, on objects that are made here. */
const otherPairs: Readonly<Record<Exclude<keyof typeof deferredRows, AdmissionRow>, () => Promise<Pair>>> = {
  'a role and what binds it': async () => {
    const roleRef = { apiGroup: rbac, kind: 'Role', name: 'late' };
    const subjects = [{ kind: 'ServiceAccount', name: 'default', namespace }];
    const apiVersion = `${rbac}/v1`;
    return {
      earlier: change('Create', 'late', { rules: [] }, { apiVersion, kind: 'Role' }),
      later: change('Create', 'late', { roleRef, subjects }, { apiVersion, kind: 'RoleBinding' }),
    };
  },
  'a CRD and its instances': async () => {
    const group = `${namespace}.example.org`;
    const crd = (values: readonly string[]): JsonObject => {
      const size = { type: 'object', properties: { size: { type: 'string', enum: values } } };
      const schema = { openAPIV3Schema: { type: 'object', properties: { spec: size } } };
      const names = { kind: 'Sized', plural: 'sizeds' };
      return { spec: { group, names, scope: 'Namespaced', versions: [{ name: 'v1', served: true, storage: true, schema }] } };
    };
    const [crds, name] = ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions', `sizeds.${group}`];
    must(await client.create(crds, { metadata: { name }, ...crd(['small']) }));
    t.teardown(() => client.delete(`${crds}/${name}`));
    await waitFor(async () => (await client.get(path(`${group}/v1/sizeds`))).code === 200, 'the kind to be served');
    const kind = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
    return {
      earlier: change('Patch', name, crd(['small', 'large']), kind),
      later: change('Create', 'one', { spec: { size: 'large' } }, { apiVersion: `${group}/v1`, kind: 'Sized' }),
    };
  },
  'a quota': async () => {
    const full = `${namespace}-full`;
    must(await client.create('/api/v1/namespaces', { metadata: { name: full } }));
    t.teardown(() => client.delete(`/api/v1/namespaces/${full}`));
    const inFull = (suffix: string): string => `/api/v1/namespaces/${full}/${suffix}`;
    must(await client.create(inFull('secrets'), { metadata: { name: 'old' } }));
    must(await client.create(inFull('resourcequotas'), { metadata: { name: 'full' }, spec: { hard: { 'count/secrets': '1' } } }));
    const used = async (): Promise<unknown> =>
      at(must(await client.get(inFull('resourcequotas/full'))), 'status', 'used', 'count/secrets');
    await waitFor(async () => (await used()) === '1', 'the quota to be counted');
    const place = { kind: 'Secret', namespace: full };
    return { earlier: change('Delete', 'old', undefined, place), later: change('Create', 'young', {}, place) };
  },
  'a node port': async () => {
    const ports = (more: JsonObject): JsonObject => ({ type: 'NodePort', ports: [{ port: 80, ...more }] });
    const had = must(await client.create(path('services'), { metadata: { name: 'had' }, spec: ports({}) }));
    const [taken] = at(had, 'spec', 'ports') as readonly JsonObject[];
    const spec = ports({ nodePort: at(taken, 'nodePort') as number });
    const kind = { kind: 'Service' };
    return { earlier: change('Delete', 'had', undefined, kind), later: change('Create', 'has', { spec }, kind) };
  },
  'a PriorityClass and a Pod': async () => {
    const [name, kind] = [`${namespace}-priority`, { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' }];
    return { earlier: change('Create', name, { value: 7 }, kind), later: podOf('important', { priorityClassName: name }) };
  },
  'a RuntimeClass and a Pod': async () => {
    const [name, kind] = [`${namespace}-runtime`, { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass' }];
    return { earlier: change('Create', name, { handler: 'runc' }, kind), later: podOf('contained', { runtimeClassName: name }) };
  },
  'a ServiceAccount and a Pod': async () => ({
    earlier: change('Create', 'runner', {}, { kind: 'ServiceAccount' }),
    later: podOf('running', { serviceAccountName: 'runner' }),
  }),
};

const pairsOf = (t: Teardown): Readonly<Record<string, () => Promise<Pair>>> => ({
  ...admissionPairs(stage, t),
  ...otherPairs,
});

async function pairOf(t: Teardown, row: string): Promise<Pair> {
  const found = await pairsOf(t)[row]?.();
  if (found === undefined) throw new Error(`no pair for ${row}`);
  return found;
}

t.test('the plan defers a change that needs an earlier change, and does not refuse it', inAllOnly, async (t) => {
  await waitFor(async () => (await client.get(path('serviceaccounts/default'))).code === 200, 'the usual ServiceAccount');
  const rows = Object.keys(deferredRows);
  t.same(new Set(Object.keys(pairsOf(t))), new Set(rows), 'each row of the table has a case');
  const parts = planParts(t, plane);
  const committed = ['a role and what binds it', 'a ServiceAccount and a Pod'];
  for (const [index, row] of rows.entries())
    await t.test(row, async (t) => {
      const { earlier, later, isWaitedFor } = await pairOf(t, row);
      const alone = await plan(parts, transactionOf('alone', [later]));
      if (isWaitedFor === true) t.match(alone.trouble, /failed calling webhook "judge\.example\.com"/, 'alone it is waited for');
      else t.match(alone, { verdict: 'refused', refusal: [{ index: 0 }] }, 'alone it is refused');
      const both = await plan(parts, transactionOf('both', [earlier, later]));
      t.match(both, { verdict: 'accepted', refusal: [], also: [], gaps: [], changes: [{ deferred: false }, { deferred: true }] });
      t.match(both.changes[1]?.note, /^its dry run was refused \(.*\) and is made again in its turn, after spec\.changes\[0\]/);
      if (committed.includes(row)) await commit(stage, `deferred-${index}`, [earlier, later]);
    });
});

// Here, for no other test runs on this API server: each Pod names the default PriorityClass.
t.test('two changes take the default PriorityClass', inAllOnly, async (t) => {
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
  const kind = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' };
  const names = ['one', 'two'].map((name) => `${namespace}-${name}`);
  const changes = names.map((name) => change('Create', name, { value: 7, globalDefault: true }, kind));
  t.match(await plan(planParts(t, plane), transactionOf('defaults', changes)), { verdict: 'accepted', refusal: [] });
  await stage.transaction('defaults', changes);
  await stepTo(stage, 'defaults', 'the first one to be applied', ({ status }) => at(itemsOf(status)[0], 'state') === 'Applied');
  const second = { metadata: { name: `${namespace}-probe` }, value: 7, globalDefault: true };
  const isRefused = async (): Promise<boolean> => (await client.create(classes, second, { dryRun: 'All' })).code === 403;
  await waitFor(isRefused, 'the API server to know the default');
  t.match((await stepToEnd(stage, 'defaults')).status, { phase: 'RolledBack' });
  for (const name of names) t.equal((await client.get(`${classes}/${name}`)).code, 404);
});

function audited(stage: Stage): readonly Json[] {
  const user = `system:serviceaccount:${stage.namespace}:`;
  const lines = readFileSync(plane.auditLog ?? '', 'utf8')
    .split('\n')
    .filter((line) => line.includes(user));
  const events = lines.map(parseJson).filter((event) => textAt(event, 'stage') === 'ResponseComplete');
  return events.filter((event) => /:(planner|poor|medium)$/.test(textAt(event, 'user', 'username') ?? ''));
}

t.test('the audit log shows only reads, reviews and dry runs', inAllOnly, async (t) => {
  await waitFor(() => audited(stage).length > 100, 'the audit log to be written');
  const kinds = new Set(audited(stage).map(kindOfRequest));
  t.same([...kinds].sort(), [
    'create dry run',
    'create selfsubjectaccessreviews',
    'delete dry run',
    'get',
    'list',
    'patch dry run',
  ]);
});

function kindOfRequest(event: Json): string {
  const [verb = '', resource = '', uri = ''] = [
    textAt(event, 'verb'),
    textAt(event, 'objectRef', 'resource'),
    textAt(event, 'requestURI'),
  ];
  if (['get', 'list', 'watch'].includes(verb)) return verb;
  if (resource === 'selfsubjectaccessreviews') return `${verb} ${resource}`;
  const isDry = /[?&]dryRun=All(&|$)/.test(uri);
  return isDry ? `${verb} dry run` : `${verb} ${uri}`;
}

t.test('the plan prints no value of a Secret', async (t) => {
  t.ok(terminal.printed.join('').length > 1_000);
  t.same(findings(new Map([['printed', terminal.printed.join('\n')]]), Object.values(secrets), []), []);
});
