// Pure functions choose the lines of the command line and their order: trees that fit, news, kinds, and messages for wrong words.
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { parse as parseYaml } from 'yaml';
import { realQuestion } from '../../cli/cluster/inspecting.ts';
import { loadKubeConfig } from '../../cli/cluster/kubeconfig.ts';
import type { Session } from '../../cli/cluster/session.ts';
import { type Call, optionsOf } from '../../cli/command/command.ts';
import { commands } from '../../cli/command/registry.ts';
import { asKubectl } from '../../cli/command/words.ts';
import { inKindOrder } from '../../cli/input/kind-order.ts';
import { unrolled } from '../../cli/input/lists.ts';
import { sifted } from '../../cli/input/order-annotations.ts';
import { manifestsIn } from '../../cli/input/read.ts';
import { transactionIn } from '../../cli/input/release.ts';
import { type Io, note, sayAll } from '../../cli/io.ts';
import { create } from '../../cli/run/creating.ts';
import { showOutside } from '../../cli/run/external-diff.ts';
import { confirmed, timeoutOf } from '../../cli/run/given.ts';
import { rowsAfter } from '../../cli/run/list.ts';
import { roleName } from '../../cli/run/rights.ts';
import { hasEnded } from '../../cli/run/watching.ts';
import { codeOfEnd, endLines, isOver } from '../../cli/show/end.ts';
import { fieldFile, fieldLines } from '../../cli/show/fields.ts';
import { formatted } from '../../cli/show/formats.ts';
import { newsOf, waitOf } from '../../cli/show/news.ts';
import { planDocument, planLines } from '../../cli/show/plan.ts';
import { requests } from '../../cli/show/requests.ts';
import { type RoleSet, rolesOf, warningsOf } from '../../cli/show/roles.ts';
import { styleFor } from '../../cli/show/style.ts';
import { treeOf } from '../../cli/show/tree.ts';
import { type TransactionView, viewOf } from '../../cli/show/view.ts';
import type { AccessQuestion } from '../../hooks/objects/cluster.ts';
import { type JsonObject, listAt, parseJson, textAt, withPath } from '../../hooks/objects/json.ts';
import type { Reference } from '../../hooks/objects/reference.ts';
import type { Plan, PlannedChange } from '../../hooks/transactions/inspection.ts';
import { connectionOf, kubeconfigConnection } from '../../server/kubernetes/kubeconfig-connection.ts';
import { readYaml } from '../../server/yaml.ts';
import { makeCertificate } from '../support/certificate.ts';
import { deletion, one, startSilence, typed } from './here.ts';

const states = (phase: string, items: readonly string[], more: Partial<TransactionView> = {}): TransactionView => ({
  ...viewOf({
    metadata: { name: 'one', namespace: 'shop' },
    spec: {
      changes: items.map((_, index) => ({ type: 'Delete', target: { apiVersion: 'v1', kind: 'ConfigMap', name: `c${index}` } })),
    },
    status: { phase, message: phase, items: items.map((state) => ({ state, undone: state === 'Restored' })) },
  }),
  ...more,
});

const plain = { colors: false, unicode: false };

t.test('an unknown result has another exit code than a difference', async (t) => {
  const silent = /^janus: https:\/\/127\.0\.0\.1:1 gives no answer \(ConnectionFailed\): check the cluster and the context\.\n$/;
  const rows: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['plan', '-f', 'missing.yaml'], 3, /^janus: .*missing\.yaml cannot be read \(ENOENT\)/],
    [['plan', '-f', 'tx.json'], 3, silent],
    [['plan', '-f', 'tx.json', '-o', 'json'], 3, silent],
    [['plan', '-f', 'tx.json', '--kubeconfig', 'none'], 3, /^janus: The kubeconfig none cannot be used \(ENOENT\)/],
    [['diff', 'deletion'], 3, silent],
    [['diff', 'deletion', '--context', 'none'], 3, /no context "none"/],
    [['lint', '-f', 'missing.yaml'], 3, /ENOENT/],
    [['lint', '-f', 'cm.json'], 3, /There is no Transaction in these files/],
    [['rbac', '-f', 'tx.json'], 1, silent],
    [['apply', '-f', 'missing.yaml'], 1, /ENOENT/],
    [['apply', '-f', 'cm.json', 'shop'], 1, silent],
    [['plan', '-f', 'cm.json', 'shop'], 3, silent],
    [['status', 'deletion'], 1, silent],
  ];
  for (const [words, code, err] of rows) t.match(await typed(t, words), { code, out: /^$/, err }, words.join(' '));
});

t.test('the program answers wrong use by one line', async (t) => {
  for (const words of [['list', '--bogus'], ['lst'], ['undo'], ['list', '-o', 'xml'], ['plan']])
    t.match(await typed(t, words), { code: 64, out: /^$/, err: /^janus: [^\n]+\n$/ }, words.join(' '));
});

t.test('a value that no Transaction may have is wrong use, and the message names the option', async (t) => {
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [
      ['--gate', 'shop'],
      /--gate takes a timeout from 1s to 24h .*; found "shop"\. If "shop" is a name, write it before --gate\./,
    ],
    [['--gate=25h'], /--gate takes .*; found "25h"/],
    [['--lock-wait', '-1'], /--lock-wait must be a duration from 0s to 1h such as 10m; found "-1"/],
    [['--lock-wait=abc'], /--lock-wait must be .*; found "abc"/],
    [['--field-manager', ''], /A field manager must have from 1 to 128 .*; found ""/],
    [['janus-x'], /A field manager .* must not begin with "janus"; found "janus-x"/],
    [['--ttl', '999999999h'], /--ttl must be a duration such as 24h, and at most 2147483647s; found "999999999h"/],
  ];
  for (const [words, err] of rows)
    t.match(await typed(t, ['apply', '-f', 'cm.json', ...words]), { code: 64, err }, words.join(' '));
  t.match(await typed(t, ['apply', '-f', 'cm.json', '--gate=24h', '--ttl=0s', '--service-account=a']), { code: 1 });
});

const options = {
  ...{ name: { generateName: 'apply-' }, namespace: 'shop', isNamespaceGiven: true, labels: {}, serviceAccount: 'deployer' },
  ...{
    fieldManager: undefined,
    gate: undefined,
    recreateImmutable: false,
    allowIrreversible: false,
    deleteFilled: false,
    plainSecrets: false,
  },
};

function sourced(...objects: readonly JsonObject[]) {
  return objects.map((object) => ({ source: 'given', object }));
}

/** `apply` of these manifests, to an API server that takes everything. Returns the queries of what it was sent. */
async function applied(
  objects: readonly JsonObject[],
): Promise<{ readonly sent: readonly JsonObject[]; readonly error: string }> {
  const sent: JsonObject[] = [];
  const request = async ({ query, body }: { query?: JsonObject; body?: JsonObject }) => {
    if (body?.kind !== 'SelfSubjectReview')
      sent.push({ dryRun: query?.dryRun ?? '', kind: body?.kind ?? '', spec: body?.spec ?? {} });
    return { kind: 'ok', body: withPath(body ?? {}, ['metadata', 'name'], 'apply-abcde') };
  };
  const listMetadata = async () => ({ kind: 'ok', items: [], next: '' });
  const session = { cluster: { transport: { request }, listMetadata }, server: '' } as unknown as Session;
  const io = { interrupted: new AbortController().signal, stderr: new PassThrough() } as unknown as Io;
  const creating = { session, io, engineNamespace: 'janus-system', isNewNameWanted: false, ask: async () => undefined };
  const error = await create(creating, transactionIn(sourced(...objects), options)).then(
    () => '',
    ({ message }: Error) => message,
  );
  return { sent, error };
}

t.test('the program creates no Transaction that the engine would refuse for its size', async (t) => {
  const filled = (kind: string, bytes: number) => (_: unknown, index: number) => ({
    ...one,
    ...{ kind, metadata: { name: `c${index}` }, data: { text: 'x'.repeat(bytes) } },
  });
  const maps = (count: number, bytes: number) => Array.from({ length: count }, filled('ConfigMap', bytes));
  t.same((await applied(maps(500, 1_500))).error, '');
  const { sent, error } = await applied(maps(500, 2_200));
  t.match(error, /^This Transaction would be refused \(TransactionTooLarge\): .* room for the status of 500 changes/);
  t.same(sent, []);
  const secrets = Array.from({ length: 400 }, filled('Secret', 12));
  t.same((await applied([...maps(100, 8_000), ...secrets])).error, '');
  const named = await applied([...maps(100, 9_000), ...secrets]);
  t.match(named.error, /TransactionTooLarge/);
  t.same(
    named.sent.filter(({ dryRun }) => dryRun === ''),
    [],
  );
});

t.test('the program tries a Transaction from a file unchanged', async (t) => {
  const contentFrom = { configMapKeyRef: { name: 'source', key: 'a' }, digest: `sha256:${'0'.repeat(64)}` };
  const spec = {
    serviceAccountName: 'deployer',
    changes: [{ type: 'Apply', target: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' }, contentFrom }],
  };
  const { sent, error } = await applied([{ ...deletion, metadata: { generateName: 'from-file-' }, spec }]);
  t.equal(error, '');
  t.same(
    sent.map((one) => one.spec),
    [spec, spec],
  );
});

const plan = (needs: Plan['needs'], changes: readonly PlannedChange[] = [], more: Partial<Plan> = {}): Plan => ({
  ...{ namespace: 'shop', name: 'release-7', serviceAccountName: 'deployer', verdict: 'accepted', exact: true },
  ...{ refusal: [], also: [], gaps: [], needs, changes, locks: [], unseen: [] },
  ...more,
});
const planned = (kind: string, name: string, fields: PlannedChange['fields'] = []): PlannedChange => ({
  ...{ index: 0, target: { apiVersion: 'v1', kind, name }, type: 'Create', operation: 'create', deferred: false },
  ...{ recreates: false, losers: [], owners: [], fields },
});

t.test('a plan as data keeps every digit', async (t) => {
  const value = parseJson('9007199254740993');
  const found = planned('Widget', 'one', [{ path: 'spec.size', after: { kind: 'value', value } }]);
  for (const format of ['json', 'yaml'])
    t.match(formatted([planDocument(plan([], [found]))], format), /"?value"?: 9007199254740993\n/, format);
});

t.test('a plan fits into 80 columns: notes go below their objects, and one namespace is not repeated', async (t) => {
  const setting = { style: plain, engine: '', rbac: '', code: 1, isBrief: true };
  const [losers, gate] = [[{ manager: 'kubectl-client-side-apply', paths: ['spec.maxReplicas'] }], 'AtEnd'] as const;
  const gated = (one: PlannedChange, namespace: string): PlannedChange => ({
    ...{ ...one, losers, gate },
    target: { ...one.target, namespace },
  });
  const scaler = gated(planned('HorizontalPodAutoscaler', 'web-server'), 'shop');
  const config = planned('ConfigMap', 'app');
  const refused = { verdict: 'refused', refusal: [{ reason: 'Forbidden', message: `it ${'is refused '.repeat(10)}` }] } as const;
  const linesAt = (columns: number, changes: readonly PlannedChange[]) =>
    planLines(plan([], changes, refused), { ...setting, columns });
  const narrow = linesAt(80, [scaler, gated(config, 'shop')]);
  for (const line of narrow) t.ok(line.length <= 80, line);
  t.same(narrow.slice(2, 7), [
    '  OP       KIND                      NAME         FIELDS',
    '+ create   HorizontalPodAutoscaler   web-server   0',
    '    must be ready at the end; takes 1 field from kubectl-client-side-apply',
    '+ create   ConfigMap                 app          0',
    '    must be ready at the end; takes 1 field from kubectl-client-side-apply',
  ]);
  t.match(linesAt(80, [scaler, gated(config, 'infra')])[5], /^\+ create {3}ConfigMap +infra +app +0$/, 'two namespaces');
  t.match(
    linesAt(Number.POSITIVE_INFINITY, [scaler])[3],
    /shop +web-server +0 +must be ready at the end; takes 1 field/,
    'a pipe',
  );
});

t.test('the plan marks a permission that only the undo needs', async (t) => {
  const message = 'ServiceAccount shop/deployer may not delete configmaps in namespace shop';
  const gap = { question: { verb: 'delete', group: '', resource: 'configmaps', namespace: 'shop' }, for: 'undo' } as const;
  const refusal = [
    { reason: 'Forbidden', message, for: 'undo' },
    { reason: 'Forbidden', message: 'other' },
  ] as const;
  const setting = { style: plain, engine: '', rbac: 'janus rbac -f app/ | kubectl apply -f -', code: 2, isBrief: false };
  const lines = planLines(plan([], [], { verdict: 'refused', refusal, gaps: [gap] }), setting);
  t.same(
    lines.filter((line) => /Forbidden|rbac/.test(line)),
    [
      `  Forbidden  ${message}   (needed for the undo)`,
      '  Forbidden  other',
      'To grant what is missing:  janus rbac -f app/ | kubectl apply -f -',
    ],
  );
});

t.test('manifests that another tool orders are refused or named', async (t) => {
  const manifest = (kind: string, name: string, annotations: JsonObject) => ({
    source: 'app.yaml',
    object: { apiVersion: 'v1', kind, metadata: { name, annotations } },
  });
  const job = manifest('Job', 'migrate', { 'helm.sh/hook': 'pre-install, pre-upgrade' });
  const test = manifest('Pod', 'try', { 'helm.sh/hook': 'test' });
  const cleanup = manifest('Job', 'clean', { 'helm.sh/hook': 'pre-delete,post-rollback' });
  const wave = manifest('ConfigMap', 'wave', { 'argocd.argoproj.io/sync-wave': '-1', other: 'x' });
  const ruled = manifest('ConfigMap', 'ruled', { 'kapp.k14s.io/change-rule.db': 'upsert after upserting db' });
  const given = [job, test, wave, cleanup, ruled];
  t.throws(
    () => sifted(given, false),
    /Helm hooks, .*: Job migrate \(pre-install, pre-upgrade\) in app\.yaml, Pod try \(test\) in app\.yaml, Job clean .* --helm-hooks=ignore/,
  );
  const { manifests, notes } = sifted(given, true);
  t.same(manifests, [
    { ...job, wave: 1 },
    { ...wave, wave: 0 },
    { ...ruled, wave: 1 },
  ]);
  t.same(notes, [
    'Helm hooks that are left out, because they are not for install or upgrade: Pod try (test), Job clean (pre-delete,post-rollback).',
    'Helm hooks that are applied as ordinary objects, in the order of kinds: Job migrate (pre-install, pre-upgrade).',
    'Warning: kapp.k14s.io/change-rule.db has no effect, objects are applied in the order of kinds: ConfigMap ruled (upsert after upserting db).',
    'The release has 2 waves: each begins when the one before it is ready.',
  ]);
  t.throws(() => sifted([test], true), /^No manifest is left\. Helm hooks that are left out, .*: Pod try/);
  const whole = {
    source: 'a',
    object: {
      apiVersion: 'tx.janus.io/v1alpha1',
      kind: 'Transaction',
      metadata: { name: 'a', annotations: { 'helm.sh/hook': 'post-install' } },
    },
  };
  t.same(sifted([whole], false), { manifests: [whole], notes: [] }, 'a Transaction has its own order');
  const many = Array.from({ length: 60 }, () => ruled);
  t.match(sifted(many, false).notes[0], / and 10 more\.$/);
});

t.test('annotations of waves give each manifest its wave, and the order of the release', async (t) => {
  const manifest = (kind: string, name: string, annotations: JsonObject = {}) => ({
    source: 'app.yaml',
    object: { apiVersion: 'v1', kind, metadata: { name, annotations } },
  });
  const argo = (more: JsonObject) =>
    Object.fromEntries(Object.entries(more).map(([key, value]) => [`argocd.argoproj.io/${key}`, value]));
  const given = [
    manifest('Job', 'smoke', argo({ hook: 'PostSync' })),
    manifest('Deployment', 'late', argo({ 'sync-wave': '5' })),
    manifest('Deployment', 'web'),
    manifest('Service', 'web'),
    manifest('ConfigMap', 'early', argo({ 'sync-wave': '-2' })),
    manifest('Job', 'migrate', argo({ hook: 'PreSync', 'sync-wave': '3' })),
    manifest('Job', 'alarm', argo({ hook: 'SyncFail' })),
  ];
  const { manifests, notes } = sifted(given, false);
  t.same(
    manifests.map(({ object, wave }) => [textAt(object, 'metadata', 'name'), wave]),
    [
      ['smoke', 4],
      ['late', 3],
      ['web', 2],
      ['web', 2],
      ['early', 1],
      ['migrate', 0],
    ],
  );
  t.same(notes, [
    'Hooks of Argo CD that are left out, because they are not for a release: Job alarm (SyncFail).',
    'The release has 5 waves: each begins when the one before it is ready.',
  ]);
  const { transaction } = transactionIn(manifests, options);
  const changes = listAt(transaction, 'spec', 'changes');
  t.same(
    changes.map((one) => [(one as JsonObject).wave, textAt(one, 'content', 'kind'), textAt(one, 'content', 'metadata', 'name')]),
    [
      [0, 'Job', 'migrate'],
      [1, 'ConfigMap', 'early'],
      [2, 'Service', 'web'],
      [2, 'Deployment', 'web'],
      [3, 'Deployment', 'late'],
      [4, 'Job', 'smoke'],
    ],
  );
  const own = sifted([manifest('ConfigMap', 'a', { 'tx.janus.io/wave': '7' }), manifest('ConfigMap', 'b')], false);
  t.same(
    own.manifests.map(({ wave }) => wave),
    [1, 0],
  );
  const refusals = [
    [argo({ 'sync-wave': 'first' }), 'sync-wave: expected an integer; found "first"'],
    [argo({ hook: 'Before' }), 'hook: expected PreSync, Sync, PostSync, SyncFail, Skip, PreDelete, PostDelete; found "Before"'],
    [{ 'tx.janus.io/wave': '-1' }, 'tx.janus.io/wave: expected an integer from 0 to 1000; found "-1"'],
    [{ 'tx.janus.io/wave': '2', ...argo({ 'sync-wave': '1' }) }, 'has tx.janus.io/wave and another wave or hook of Argo CD'],
  ] as const;
  for (const [annotations, message] of refusals)
    t.throws(() => sifted([manifest('ConfigMap', 'bad', annotations)], false), {
      message: new RegExp(`^app\\.yaml: ConfigMap bad.*${message}`),
    });
});

t.test('Roles are named after the namespace and the app', async (t) => {
  t.equal(roleName('shop', 'web'), 'janus:shop:web');
  const [long, other] = ['x', 'y'].map((end) => roleName('shop', `${'a'.repeat(245)}${end}`));
  t.equal(long?.length, 253);
  t.not(long, other);
  t.match(roleName('shop', 'team/web'), /^janus:shop:team-web-[0-9a-f]{8}$/, 'a name of the API has no slash');
  t.not(roleName('shop', 'team/web'), roleName('shop', 'team%web'));
});

t.test('a Role has one rule for all resources of a group with the same verbs', async (t) => {
  const question = (verb: string, resource: string, more: Partial<AccessQuestion> = {}): AccessQuestion => ({
    ...{ verb, group: '', resource, namespace: 'shop' },
    ...more,
  });
  const needs = [
    ...['services', 'configmaps'].flatMap((resource) => ['delete', 'get'].map((verb) => question(verb, resource))),
    question('get', 'secrets', { name: 'b' }),
    question('get', 'secrets', { name: 'a' }),
    question('get', 'services', { name: 'a' }),
    question('get', 'pods', { subresource: 'log' }),
    question('list', 'replicasets', { group: 'apps' }),
  ];
  const rights = (questions: readonly AccessQuestion[], created: readonly string[] = []): RoleSet => ({
    ...{ name: 'janus:shop:web', namespace: 'shop', accounts: ['deployer'], questions, created },
  });
  const expected = [
    { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
    { apiGroups: [''], resources: ['configmaps', 'services'], verbs: ['get', 'delete'] },
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'], verbs: ['get'] },
    { apiGroups: ['apps'], resources: ['replicasets'], verbs: ['list'] },
  ];
  t.same(rolesOf(rights(needs))[0]?.rules, expected);
  t.same(rolesOf(rights(needs.toReversed()))[0]?.rules, expected, 'in any order');

  await t.test('the rights in a Namespace that the app creates are in the ClusterRole, with a warning', async (t) => {
    const all = [
      ...needs,
      question('list', '*', { group: '*', namespace: 'made' }),
      question('create', 'pods', { namespace: 'made' }),
    ];
    t.same(
      rolesOf(rights(all, ['made'])).map((one) => [one.kind, textAt(one, 'metadata', 'namespace')]),
      [
        ['ClusterRole', undefined],
        ['ClusterRoleBinding', undefined],
        ['Role', 'shop'],
        ['RoleBinding', 'shop'],
      ],
    );
    const [warning = '', ...more] = warningsOf(rights(all, ['made']));
    t.match(
      warning,
      /creates Namespace made, .* in every namespace: list \*\.\*, create pods\. To grant them in this Namespace only/,
    );
    t.same(more, []);
    t.same(warningsOf(rights(all)), [], 'no Transaction creates it');
  });
});

t.test('the program does not print a row again that is only older', async (t) => {
  const columns = ['Name', 'Phase', 'Age'].map((name) => ({ name, priority: 0 }));
  const row = (...cells: readonly string[]) => ({
    ...{ cells, namespace: 'shop', name: cells[0] ?? '' },
    ...{ uid: cells[0] ?? '', isRollback: false },
  });
  const stdout = new PassThrough();
  const call = { io: { stdout }, options: optionsOf({}) } as unknown as Call;
  const show = rowsAfter({ kind: 'ok', columns, rows: [row('one', 'Pending', '1s')], version: '1' }, call, new Map());
  show(row('one', 'Pending', '31s'));
  t.equal(stdout.read(), null);
  show(row('one', 'Committed', '32s'));
  t.match(String(stdout.read()), /^one +Committed +32s\n$/);
});

t.test('the program parses words as kubectl does', async (t) => {
  const rows: readonly (readonly [string, string])[] = [
    ['list -n=shop -l=a=b -o=json', 'list -n shop -l a=b -o json'],
    ['plan -f=x.yaml -f=- -k=', 'plan -f x.yaml -f - -k '],
    ['-n shop --context=one list -A', 'list -n shop --context=one -A'],
    ['-n=shop status one', 'status -n shop one'],
    ['status -w=x -- -n=shop', 'status -w=x -- -n=shop'],
    ['-n shop', '-n shop'],
    ['--help', '--help'],
    ['__complete list -n=', '__complete list -n='],
  ];
  for (const [given, read] of rows) t.equal(asKubectl(given.split(' '), commands).join(' '), read);
});

t.test('the program uses the given namespace; an empty one means that of the context', async (t) => {
  const asked: string[] = [];
  let interrupt: AbortController;
  const server = await startSilence(t, (url) => {
    asked.push(url.replace(/\?.*/, ''));
    interrupt.abort();
  });
  for (const words of [
    ['list', '-n', ''],
    ['list', '-n='],
    ['-n=shop', 'list'],
    ['list', '--context', ''],
    ['__complete', '-n', 'shop', 'undo', ''],
    ['__complete', 'undo', '--namespace=shop', ''],
    ['__complete', 'undo', '-n=shop', ''],
  ]) {
    interrupt = new AbortController();
    t.equal((await typed(t, words, { server, interrupted: interrupt.signal })).code, 130, words.join(' '));
  }
  const places = asked.map((path) => path.split('/')[5]);
  t.same(places, ['default', 'default', 'shop', 'default', 'shop', 'shop', 'shop'], 'and words are completed with names of it');
});

t.test('the program accepts a slash after the server, and names an unusable kubeconfig in one line', async (t) => {
  const load = (user: JsonObject, more: JsonObject = {}, named = 'u') => {
    const config = {
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1/prefix/', ...more } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: named } }],
      ...{ users: [{ name: 'u', user }], 'current-context': 'c' },
    };
    return loadKubeConfig({ kubeconfig: join(t.testdir({ config: JSON.stringify(config) }), 'config') }, {});
  };
  t.equal(load({ token: 'a' }).getCurrentCluster()?.server, 'https://127.0.0.1:1/prefix');
  t.equal(load({ token: 'a', as: 'bob' }).getCurrentUser()?.impersonateUser, 'bob');
  t.throws(() => load({ token: 'a', as: 'bob', 'as-groups': ['b'] }), {
    message: /^User "u" of .* has as-groups, .*remove them/,
  });
  t.throws(() => load({ token: 'a' }, {}, 'mallory'), {
    message: /^Context "c" of .*: user "mallory" not found/,
  });
  const oidc = { name: 'oidc', config: { 'idp-certificate-authority': 'none.crt' } };
  t.throws(() => load({ 'auth-provider': oidc }), {
    message: /^idp-certificate-authority .*none\.crt, which cannot be read \(ENOENT\)/,
  });
  const proxied = { 'proxy-url': 'https://127.0.0.1:2', 'certificate-authority': t.testdirName };
  t.throws(() => load({ token: 'a' }, proxied), { message: /^certificate-authority .* cannot be read \(EISDIR\): correct it/ });
  const faults: readonly (readonly [JsonObject, RegExp])[] = [
    [{ server: 'localhost:6443' }, /^Cluster "c" of .* has no usable server: expected a URL/],
    [{ server: 'http://127.0.0.1:8001' }, /^Cluster "c" of .* uses http, .*: use https, or set insecure-skip-tls-verify\.$/],
    [{ 'proxy-url': 'socks5://127.0.0.1:1' }, /^Cluster "c" of .* has a proxy-url that is neither http nor https/],
    [{ server: '' }, /names a cluster that does not exist/],
  ];
  for (const [cluster, message] of faults) t.throws(() => load({ token: 'a' }, cluster), { message });
  for (const text of ['', '\n', '# to be filled\n---\n']) {
    const kubeconfig = join(t.testdir({ config: text }), 'config');
    t.throws(
      () => loadKubeConfig({ kubeconfig }, {}),
      { message: /config has no current context: .*it has none/ },
      'an empty file',
    );
  }
});

t.test('the program keeps the TLS settings of a cluster, and ignores incomplete clusters that it does not use', async (t) => {
  const own = makeCertificate();
  const folder = t.testdir({ 'ca.crt': own.certificate });
  const config = {
    clusters: [
      {
        name: 'c',
        cluster: { server: 'https://127.0.0.1:1', 'certificate-authority': 'ca.crt', 'tls-server-name': 'shop', 'proxy-url': '' },
      },
      { name: 'insecure', cluster: { server: 'https://127.0.0.1:1', 'insecure-skip-tls-verify': true } },
      { name: 'no-server', cluster: {} },
    ],
    contexts: [
      { name: 'c', context: { cluster: 'c', user: 'u', namespace: 'shop' } },
      { name: 'insecure', context: { cluster: 'insecure', user: 'u' } },
      { name: 'no-cluster', context: { namespace: 'shop' } },
    ],
    users: [{ name: 'u', user: { token: 'a' } }],
    'current-context': 'c',
  };
  const kubeconfig = join(folder, 'config');
  writeFileSync(kubeconfig, JSON.stringify(config));
  const connection = (context: string) => connectionOf(() => loadKubeConfig({ kubeconfig, context }, {}));
  const one = connection('c');
  const whole = join(folder, 'whole');
  writeFileSync(
    whole,
    JSON.stringify({ ...config, clusters: config.clusters.slice(0, 1), contexts: config.contexts.slice(0, 1) }),
  );
  for (const found of [one, kubeconfigConnection(whole)]) t.equal(found.proxy, undefined, 'an empty proxy-url means no proxy');
  t.same((await one.credentials()).tls, { ca: Buffer.from(own.certificate), servername: 'shop' });
  t.same((await connection('insecure').credentials()).tls, { rejectUnauthorized: false });
  t.throws(() => connection('no-cluster'), {
    message: /no context "no-cluster" with a cluster: choose one of its contexts \(c, insecure\)\.$/,
  });
});

t.test('the program reads a token file, a plugin and a password as kubectl does', async (t) => {
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin.sh', args: ['own'] };
  const credential = (token: string) => JSON.stringify({ status: { token } });
  const rows: readonly (readonly [JsonObject, string])[] = [
    [{ tokenFile: 'own/token' }, 'Bearer of-file'],
    [{ tokenFile: join(t.testdirName, 'own/token') }, 'Bearer of-file'],
    [{ tokenFile: 'own/token', token: 'of-text', exec }, 'Bearer of-file'],
    [{ tokenFile: 'own/none', token: 'of-text' }, 'Bearer of-text'],
    [{ tokenFile: 'own/empty', token: 'of-text' }, 'Bearer of-text'],
    [{ tokenFile: '', token: 'of-text' }, 'Bearer of-text'],
    [{ exec }, 'Bearer of-plugin'],
    [{ exec: { ...exec, command: 'no-such-plugin' }, token: 'of-text' }, 'Bearer of-text'],
    [{ username: 'alice', password: 'hunter2' }, `Basic ${Buffer.from('alice:hunter2').toString('base64')}`],
    [{ username: 'alice' }, `Basic ${Buffer.from('alice:').toString('base64')}`],
  ];
  const folder = t.testdir({
    own: { token: 'of-file\n', empty: '\n' },
    'plugin.sh': `#!/bin/sh\necho '${credential('of-plugin')}'\n`,
  });
  chmodSync(join(folder, 'plugin.sh'), 0o755);
  const write = (user: JsonObject): string => {
    const path = join(folder, 'config');
    const config = {
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      users: [
        { name: 'other', user: { tokenFile: 'none' } },
        { name: 'u', user },
      ],
      'current-context': 'c',
    };
    writeFileSync(path, JSON.stringify(config));
    return path;
  };
  for (const [user, authorization] of rows) {
    const path = write(user);
    const ways = { cli: connectionOf(() => loadKubeConfig({ kubeconfig: path }, {})), hook: kubeconfigConnection(path) };
    for (const [who, way] of Object.entries(ways))
      t.match(await way.credentials(), { headers: { authorization } }, `${who}: ${JSON.stringify(user)}`);
  }
  for (const file of ['none', 'empty']) {
    const path = write({ tokenFile: join('own', file) });
    await t.rejects(
      connectionOf(() => loadKubeConfig({ kubeconfig: path }, {})).credentials(),
      'the program sends no anonymous request',
    );
    await t.rejects(kubeconfigConnection(path).credentials());
  }
  const rotating = kubeconfigConnection(write({ tokenFile: 'own/token' }));
  t.match(await rotating.credentials(), { headers: { authorization: 'Bearer of-file' } });
  writeFileSync(join(folder, 'own/token'), 'later');
  rotating.refused();
  t.match(await rotating.credentials(), { headers: { authorization: 'Bearer later' } }, 'read again after a 401');
});

t.test('KUBECTL_EXTERNAL_DIFF: the program may have any name, its options are letters', async (t) => {
  const program = join(t.testdir({ 'dif+f': '#!/bin/sh\necho "$1,$#"\n' }), 'dif+f');
  chmodSync(program, 0o755);
  const stdout = new PassThrough();
  const io = { stdout, env: { PATH: process.env.PATH }, folder: t.testdirName } as unknown as Io;
  await showOutside(io, `${program} -u $(x)`, []);
  t.equal(String(stdout.read()), '-u,3\n');
  await t.rejects(showOutside(io, ' ', []), { message: /names no program/ });
});

t.test('the program shows any number of fields', async (t) => {
  const fields = Array.from({ length: 200_000 }, (_, index) => ({ path: `data.f${index}`, after: { kind: 'hidden' } as const }));
  const stdout = new PassThrough();
  sayAll({ stdout } as unknown as Io, fieldLines(fields, plain));
  t.match(String(stdout.read()), /data\.f199999 +\(none\) -> \(hidden\)\n$/);
});

t.test('a diff of texts shows each line that only one side has', async (t) => {
  const shown = (before: string, after: string) => {
    const [head = '', ...lines] = fieldLines(
      [{ path: 'data.text', before: { kind: 'value', value: before }, after: { kind: 'value', value: after } }],
      plain,
    );
    t.equal(head, '    data.text');
    return lines.map((line) => line.trim());
  };
  t.same(shown('a\nb\nc\nd\ne\n', 'a\nB\nc\nd\nE\ne\n'), ['- b', '+ B', '+ E'], 'the lines between them are equal');
  t.same(shown('a\nb\n', 'b\na\n').length, 2, 'one line has moved');
  t.same(shown('a\nb', 'a\nb\n'), ['+'], 'the end of the last line');
  t.same(shown('a\n', 'a\n\u001b[2J\n'), ['+ \\u{1b}[2J']);
  const many = (mark: string) => Array.from({ length: 1_000 }, (_, index) => `${mark}${index}`).join('\n');
  const [old, made] = [many('a'), many('b')].map((text) => `same\n${text}`) as [string, string];
  t.equal(shown(old, made).length, 2_002, 'too many to look for the fewest');
});

const at = (second: number): string => `2026-01-31T12:00:${String(second).padStart(2, '0')}Z`;

t.test('a screen shows what failed or is not ready first, however few rows it has, and folds equal changes', async (t) => {
  const items = Array.from({ length: 100 }, (_, index) => (index === 40 ? 'NotRestored' : index === 70 ? 'Applying' : 'Applied'));
  const draw = (columns: number, rows?: number) =>
    treeOf({ view: states('Committing', items), elapsed: 1_000, isHeldUp: true }, { columns, ...(rows && { rows }) }, plain);
  for (const rows of [2, 3, 5, 24]) {
    const lines = draw(60, rows);
    t.ok(lines.length <= rows, `${lines.length} of ${rows}`);
    for (const line of lines) t.ok(line.length <= 60, line);
  }
  t.match(draw(60, 3)[1], / x ConfigMap c40 /);
  t.match(draw(60, 2)[1], / x 100 more +1 not restored, /);
  t.same(draw(80).slice(0, 4), [
    'one - shop - committing 98/100 applied - 0:01',
    ' x ConfigMap c40   deleted   not restored',
    ' > ConfigMap c70   delete    applying',
    ' + 98 ConfigMaps   deleted   applied',
  ]);
  const many = states(
    'Failed',
    Array.from({ length: 40 }, () => 'NotRestored'),
  );
  const few = treeOf({ view: many, elapsed: 0, isHeldUp: false }, { columns: 80, rows: 10 }, plain);
  t.same([few.length, few[9]], [10, ' x 32 more                  32 not restored']);
});

t.test('equal rows of a rollback share one, also with equal details, and its head has no limit of the release', async (t) => {
  const remark = 'kept on request';
  const view = states('RollingBack', ['Restored', 'Restored', 'Applied', 'Applied', 'Kept', 'Kept'], {
    timing: { operation: 'release', began: 0, until: 1_828_000 },
  });
  const changes = view.changes.map((change) => (change.state === 'Kept' ? { ...change, remark } : change));
  const draw = (rows: number) =>
    treeOf({ view: { ...view, changes }, elapsed: 31_000, isHeldUp: false }, { columns: 80, rows }, plain);
  t.same(draw(5), [
    'one - shop - rolling back 2/6 undone - 0:31',
    ' ~ 2 ConfigMaps   restored   as before',
    ' = 2 ConfigMaps   deleted    kept: kept on request',
    ' . 2 ConfigMaps   deleted    to be undone',
  ]);
});

t.test('a change has an operation and a state: with an open gate it has no tick', async (t) => {
  const found = 'condition Ready is False';
  const gates = [undefined, { since: at(1) }, { since: at(1), found }, { since: at(1), found, readySince: at(2) }];
  const rows: readonly (readonly [JsonObject, string])[] = [
    ...gates.map((gate, index) => {
      const shown = ['not checked yet', 'not ready', `not ready: ${found}`, 'ready'][index] ?? '';
      return [
        { state: 'Applied', uid: 'a', ...(gate && { gate }) },
        ` ${index === 3 ? '+' : '*'} A one   created   ${shown}`,
      ] as const;
    }),
    [{ state: 'Applied', gate: { since: at(3), passed: true } }, ' + A one   changed   ready'],
    [{ state: 'Applied', gate: { since: at(3), passed: true, found } }, ` * A one   changed   not ready: ${found}`],
    [{ state: 'Applied', uid: 'a', deleted: true, gate: gates[3] ?? {} }, ' + A one   recreated   ready'],
    [{ state: 'Restored', undone: true, uid: 'a' }, ' ~ A one   deleted again   as before'],
    [{ state: 'Restored', undone: true }, ' ~ A one   restored   as before'],
    [{ state: 'Restored', uid: 'a' }, ' ~ A one   nothing to undo   as before'],
    [
      { state: 'Restored', undone: true, error: { reason: 'Gone', message: 'it is gone' } },
      ' x A one   restored   failed: Gone: it is gone',
    ],
    [
      { state: 'NotRestored', error: { reason: 'Gone', message: 'it is gone' } },
      ' x A one   changed   not restored: Gone: it is gone',
    ],
    [{ state: 'Failed', error: { reason: 'Gone', message: 'it is gone' } }, ' x A one   not applied   failed: Gone: it is gone'],
    [{ state: 'Kept', note: 'on request' }, ' = A one   changed   kept: on request'],
    [{ state: 'Skipped' }, ' . A one   not applied   as before'],
    [{ state: 'constructor' }, ' . A one   apply   constructor'],
    [{}, ' . A one   apply   waiting'],
  ];
  for (const [item, line] of rows) {
    const change = { type: 'Apply', content: { kind: 'A', metadata: { name: 'one' } }, gate: {} };
    const view = viewOf({
      metadata: { name: 'one' },
      spec: { changes: [change] },
      status: { phase: 'Committing', items: [item] },
    });
    t.equal(treeOf({ view, elapsed: 0, isHeldUp: false }, { columns: 80 }, plain)[1], line);
  }
});

t.test('the head has the time of the operation, of the time that it may take', async (t) => {
  const gate = { timeout: '25s' };
  const timed = (status: JsonObject, spec: JsonObject = {}) =>
    viewOf({ metadata: { name: 'one' }, spec: { changes: [{ type: 'Apply', gate }, { type: 'Apply' }], ...spec }, status })
      .timing;
  const startTime = at(0);
  const ms = (second: number): number => Date.parse(at(second));
  const request = { handledAnnotations: { 'tx.janus.io/request-rollback': 'a' } };
  const release = { operation: 'release', began: ms(0) };
  const rows: readonly (readonly [JsonObject, object])[] = [
    [{}, { operation: 'release' }],
    [
      { phase: 'Pending', startTime, specDigest: 'a' },
      { ...release, until: ms(0) + 60_000 },
    ],
    [
      { phase: 'Committing', startTime },
      { ...release, until: ms(0) + 1_800_000 },
    ],
    [
      { phase: 'Committing', startTime, items: [{ gate: { since: at(1) } }] },
      { ...release, until: ms(26) },
    ],
    [
      { phase: 'Committing', startTime, items: [{ gate: { since: at(1), readySince: at(2) } }] },
      { ...release, until: ms(0) + 1_800_000 },
    ],
    [
      { phase: 'RollingBack', startTime, rollbackStartedAt: at(9) },
      { ...release, until: ms(9) + 1_800_000 },
    ],
    [
      { phase: 'RolledBack', startTime, rollbackStartedAt: at(9), completionTime: at(20) },
      { ...release, ended: ms(20) },
    ],
    [
      { phase: 'RolledBack', startTime, rollbackStartedAt: at(9), completionTime: at(20), ...request },
      { operation: 'undo', began: ms(9), ended: ms(20) },
    ],
    [
      { phase: 'Committed', startTime, completionTime: at(5), rollbackStartedAt: at(9) },
      { operation: 'undo', began: ms(9), until: ms(9) + 60_000 },
    ],
  ];
  for (const [status, timing] of rows) t.same(timed(status), timing, JSON.stringify(status));
  t.same(timed({ phase: 'Committing', startTime }, { timeout: '2s' }).until, ms(2));
});

t.test('news are the changes whose state has changed, and the cause is left to the end', async (t) => {
  const before = states('Committing', ['Applied', 'Applying']);
  t.same(newsOf(before, before), []);
  t.same(newsOf(before, undefined), ['ConfigMap c0 deleted']);
  t.same(newsOf(states('Committing', ['Applied', 'Applied']), before), ['ConfigMap c1 deleted']);
  const error = { reason: 'GateTimeout', message: 'c1 is late' };
  const failed = (found: TransactionView): TransactionView => ({
    ...{ ...found, cause: error.message, reason: error.reason },
    changes: found.changes.map((change, index) => (index === 1 ? { ...change, error } : change)),
  });
  t.same(newsOf(failed(states('RollingBack', ['Applied', 'Restored'])), before), [
    'one rolling back (GateTimeout)',
    'ConfigMap c1 restored, failed: GateTimeout',
  ]);
  t.match(waitOf({ ...before, message: 'it is locked' }), { line: 'ConfigMap c1: it is locked', index: 1 });
  t.match(waitOf({ ...states('Pending', ['Waiting']), message: 'it is locked' }), { line: 'one pending: it is locked' });
});

t.test('the end says what happened, what is left, and what to do next', async (t) => {
  const error = { reason: 'RollbackConflict', message: 'c1 was changed by kubectl' };
  const view = states('Failed', ['Restored', 'NotRestored'], { left: 1, cause: 'a rollback was requested' });
  const changes = view.changes.map((change, index) => (index === 1 ? { ...change, error } : change));
  const said = (some: Partial<TransactionView>, isEnd = true) =>
    endLines({ ...view, changes, ...some }, '0:01', { program: 'janus', isEnd, wanted: 'Committed', columns: 70 }, plain);
  t.same(said({}), [
    'x The undo of one is incomplete after 0:01: 1 object is not restored.',
    '  ConfigMap c1: c1 was changed by kubectl',
    '  1 object is as before.',
    '  janus retry one -n shop tries again; with --keep ConfigMap/c1 it',
    '  leaves the object, with --overwrite ConfigMap/c1 it undoes the',
    '  change although others changed it.',
  ]);
  const needed = { reason: 'NeededByKept', message: 'c0 stays, because c1 needs it' };
  const two = changes.map((change, index) => (index === 0 ? { ...change, state: 'NotRestored', error: needed } : change));
  const both = said({ changes: two, left: 2 });
  t.match(
    both.join(' '),
    /restored\. {3}ConfigMap c1: c1 was changed by kubectl {3}ConfigMap c0: c0 stays/,
    'what is in the way comes first',
  );
  t.match(both.join(' '), /with --keep ConfigMap\/c1 it {3}leaves the object, with --overwrite ConfigMap\/c1 it/);
  const others = changes.map((change, index) => (index === 1 ? { ...change, error: { ...error, reason: 'NotEmpty' } } : change));
  t.notMatch(said({ changes: others }).join(), '--overwrite', 'the engine never overwrites these objects');
  t.match(said({ left: 0 })[1], 'Nothing was applied: no object was changed.');
  t.match(said({ left: 0 }).at(-1), 'Correct the cause, then run janus apply again.');
  t.notMatch(said({ left: 0, reason: 'RollbackRequested' }).join(), 'Correct the cause', 'the user has stopped it');
  t.notMatch(said({ phase: 'RolledBack', reason: 'RollbackRequested' }).join(), 'Correct the cause');
  t.match(said({ phase: 'Committing' }, false), [
    '. one is committing after 0:01 (0/2 applied); it continues.',
    /Failed/,
    /--watch follows it/,
  ]);
  const one = { ...states('Committed', ['Applied']), name: 'one' };
  t.same(endLines(one, '0:02', { program: 'janus', isEnd: true, wanted: 'Committed', columns: 80 }, plain), [
    '+ one was committed after 0:02: 1 deleted.',
    '  janus undo one -n shop takes it back.',
  ]);
});

t.test('the exit code depends on the end of the Transaction', async (t) => {
  for (const [phase, left, wanted, code] of [
    ['Committed', 0, 'Committed', 0],
    ['RolledBack', 0, 'RolledBack', 0],
    ['Committed', 0, 'RolledBack', 1],
    ['Failed', 0, 'Committed', 2],
    ['RolledBack', 0, 'Committed', 3],
    ['Failed', 2, 'RolledBack', 4],
  ] as const)
    t.equal(codeOfEnd(states(phase, [], { left }), wanted), code, `${phase}, ${left} left, wanted ${wanted}`);
  t.notOk(isOver(states('Committed', [], { finished: false })), 'its locks are still held');
  t.notOk(isOver(states('Committing', [], { finished: true })));
});

t.test('a request takes effect only in its phases, and elsewhere says why not', async (t) => {
  const acts = (name: keyof typeof requests, phase: string, left = 0) =>
    requests[name].refusal(states(phase, [], { left }), 'janus') === undefined;
  const phases = ['Pending', 'Preparing', 'Prepared', 'Committing', 'Committed', 'RollingBack', 'RolledBack', 'Failed'];
  t.same(
    phases.filter((phase) => acts('undo', phase)),
    ['Committed'],
  );
  t.same(
    phases.filter((phase) => acts('abort', phase)),
    ['Pending', 'Preparing', 'Prepared', 'Committing'],
  );
  t.same(
    phases.filter((phase) => acts('retry', phase)),
    [],
  );
  t.ok(acts('retry', 'Failed', 1));
});

t.test('the program sorts kinds as Helm does, others last by name, equal ones in their given order', async (t) => {
  const kinds = ['Ingress', 'Widget', 'Deployment', 'Secret', 'Apple', 'Namespace', 'CustomResourceDefinition', 'ConfigMap'];
  const order = ['Namespace', 'Secret', 'ConfigMap', 'CustomResourceDefinition', 'Deployment', 'Ingress', 'Apple', 'Widget'];
  t.same(
    inKindOrder(kinds, (kind) => kind),
    order,
  );
  const two = [
    { kind: 'Secret', n: 2 },
    { kind: 'Secret', n: 1 },
  ];
  t.same(
    inKindOrder(two, ({ kind }) => kind),
    two,
  );
});

t.test('the program unrolls Lists, also typed and nested ones', async (t) => {
  const typed = { apiVersion: 'v1', kind: 'ConfigMapList', items: [{ metadata: { name: 'a' } }] };
  const found = unrolled({ apiVersion: 'v1', kind: 'List', items: [typed, { apiVersion: 'v1', kind: 'Secret' }] });
  t.same(found, [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
    { apiVersion: 'v1', kind: 'Secret' },
  ]);
});

t.test('the program refuses an item of a List that is no object', async (t) => {
  for (const item of ['null', 'text', '[]']) {
    const text = `apiVersion: v1\nkind: List\nitems: [${item}, ${JSON.stringify(one)}]`;
    t.throws(
      () => manifestsIn({ name: 'file', text }),
      /^file holds a document or an item of a List that is not an object/,
      item,
    );
  }
});

t.test('the message on a file that is not YAML names the line, and quotes nothing', (t) => {
  const read = (text: string) => () => manifestsIn({ name: 'file', text });
  const not = 'file is not the YAML of objects';
  const rows = [
    ['a: 1\n---\nb: hidden\nc: 1\nb: hidden', `${not}: line 5: correct it.`],
    ['a:\n\tb: hidden', `${not}: line 2: correct it.`],
    ['a: "hidden', `${not}: line 1: correct it.`],
    ['{{- if hidden }}\na: 1', `${not}: line 1: if it is a template, such as of a Helm chart, render it first.`],
    ['a: {{ hidden }}', 'file holds a key that is no text: if it is a template, such as of a Helm chart, render it first.'],
  ] as const;
  for (const [text, message] of rows) t.throws(read(text), { message }, text);
  const numbered = { ...one, metadata: { name: 7 } };
  t.throws(
    () => transactionIn(sourced(numbered), options),
    /^given holds a ConfigMap whose metadata.name is 7, which is not text: put/,
  );
  t.throws(() => transactionIn(sourced({ ...one, metadata: { name: null } }), options), /without metadata.name: name it\.$/);
  t.end();
});

t.test('an empty namespace means no namespace, as for kubectl', async (t) => {
  for (const namespace of ['', null]) {
    const cm = { ...one, metadata: { name: 'c', namespace } };
    t.match(await applied([cm]), {
      error: '',
      sent: [{ spec: { changes: [{ content: { ...one, metadata: { name: 'c' } } }] } }],
    });
    t.notMatch(JSON.stringify(await applied([cm, { ...cm, kind: 'Secret' }])), /"namespace":(""|null)/);
    t.throws(() => transactionIn(sourced(cm, { ...one, metadata: { name: 'c' } }), options), /occurs twice/);
    const whole = { ...one, ...{ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction' }, metadata: { name: 'tx', namespace } };
    t.equal(textAt(transactionIn(sourced(whole), options).transaction, 'metadata', 'namespace'), 'shop');
  }
});

t.test('the program prints colours only on a terminal', async (t) => {
  const colors = (env: Record<string, string>, isTerminal = true, color?: string) => styleFor({ isTerminal, env, color }).colors;
  t.ok(colors({}));
  t.notOk(colors({}, false));
  t.notOk(colors({ NO_COLOR: '1' }));
  t.ok(colors({ NO_COLOR: '' }), 'an empty one counts as none');
  t.notOk(colors({ TERM: 'dumb' }));
  t.ok(colors({ NO_COLOR: '1' }, false, 'always'));
  t.notOk(colors({}, true, 'never'));
});

t.test('Ctrl-C and Ctrl-D at a question change nothing, and end with 130', async (t) => {
  for (const key of ['\u0003', '\u0004']) {
    const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
    const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
    const io = { stdin, stderr, interrupted: new AbortController().signal } as unknown as Io;
    const answer = confirmed(io, optionsOf({}), 'Undo \u001b[2Jit?');
    stderr.once('readable', () => stdin.write(key));
    await t.rejects(answer, { message: 'Nothing was changed.', code: 130 });
    t.notOk(String(stderr.read()).includes('\u001b[2J'), 'the question moves no cursor');
  }
});

t.test('a timeout longer than the timers of Node means their longest time', async (t) => {
  t.equal(timeoutOf(optionsOf({ timeout: '1000h' })), 2 ** 31 - 1);
  t.equal(timeoutOf(optionsOf({ timeout: '5m' })), 300_000);
});

t.test('the values of an object move no cursor and hide nothing, and are equal as JSON and YAML', async (t) => {
  const codes = [
    0x85, 0xad, 0x61c, 0x200b, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069, 0xe000, 0xfeff, 0xe0001, 0xe007f,
  ];
  const odd = codes.map((code) => String.fromCodePoint(code));
  const object = {
    metadata: { name: 'a', annotations: Object.fromEntries(odd.map((one) => [`key${one}`, `${one}1`])) },
    data: { text: 'a\u009b31m\u202eb\u{e0001}\n', lines: `first\n  "${odd.join('\\')}'\u001b[2J\r\nlast\n`, list: odd },
  };
  for (const [format, read] of [
    ['json', JSON.parse],
    ['yaml', (text: string) => readYaml(text, { levels: 9, values: 999, characters: 9_999 })[0]],
    ['yaml', parseYaml],
  ] as const) {
    const text = formatted([object], format);
    t.match(text, /^[\n\x20-\x7e]*$/, format);
    t.same(read(text), object, format);
  }
  const script = { data: { script: 'all:\n  echo é\n', umlaut: 'ü' } };
  t.equal(formatted([script], 'yaml'), 'data:\n  script: |\n    all:\n      echo é\n  umlaut: ü', 'visible text is unchanged');
  const lines: string[] = [];
  note({ stderr: { write: (line: string) => lines.push(line) } } as unknown as Io, 'a\u001b[2J\nb');
  t.same(lines, ['a\\u{1b}[2J b\n']);
});

t.test('the external diff program gets a file for each change, even for long and similar names', async (t) => {
  const name = 'a'.repeat(253);
  const change = (index: number, target: Reference): PlannedChange => ({
    ...{ index, target, type: 'Apply', operation: 'create', deferred: false, recreates: false, losers: [], owners: [] },
    fields: [{ path: 'a', after: { kind: 'value', value: 1 } }],
  });
  const names = [
    change(0, { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name }),
    change(1, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'a:b' }),
    change(2, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'a.b' }),
  ].map((one) => fieldFile(one, 'after').name);
  t.equal(new Set(names).size, names.length);
  for (const one of names) t.ok(one.length <= 255, one);
});

t.test('a request whose annotation another user has replaced ends with the other request', async (t) => {
  const view = (handled: string) =>
    viewOf({
      metadata: { name: 'one', annotations: { 'tx.janus.io/request-rollback': 'theirs' } },
      status: {
        phase: 'RolledBack',
        conditions: [{ type: 'Finished', status: 'True' }],
        handledAnnotations: { 'tx.janus.io/request-rollback': handled },
      },
    });
  const request = { name: 'tx.janus.io/request-rollback', value: 'ours' };
  t.ok(hasEnded(view('ours'), { request }));
  t.ok(hasEnded(view('theirs'), { request }));
  t.notOk(hasEnded(view('earlier'), { request }));
  t.ok(hasEnded(view('earlier'), {}));
});

t.test('the program prints a list as a List, with any number of items', async (t) => {
  const one = { metadata: { name: 'a' } };
  t.same(JSON.parse(formatted([one], 'json', true)), { apiVersion: 'v1', kind: 'List', items: [one] });
  t.same(JSON.parse(formatted([one], 'json')), one);
});

t.test('rbac grants a right to all Secrets if the name of the Secret is unknown', async (t) => {
  const question = { verb: 'get', group: '', resource: 'secrets', namespace: 'shop', name: 'apply-plan-contents' };
  const { name: _, ...all } = question;
  const place = { namespace: 'shop', name: question.name };
  t.same(realQuestion(question, { ...place, isGenerated: true }), all);
  t.same(realQuestion(question, { ...place, isGenerated: false }), question);
  t.same(realQuestion({ ...question, name: 'other' }, { ...place, isGenerated: true }), { ...question, name: 'other' });
});
