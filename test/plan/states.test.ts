// `janus diff`, `lint` and `rbac` as typed, on the real API server.
import { isDeepStrictEqual } from 'node:util';
import t, { type Test } from 'tap';
import { parseAllDocuments } from 'yaml';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { plan } from '../../hooks/transactions/inspect.ts';
import { must, waitFor } from '../support/client.ts';
import { fits } from '../support/documents.ts';
import { planParts } from '../support/planning.ts';
import { startStage } from '../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../support/stepping.ts';
import { asJson, contentFrom, holderOf, type Manifest } from '../support/stored-manifests.ts';
import { change, createConfigMaps } from '../support/targets.ts';
import { canary, findings } from '../threats/canaries.ts';
import { openTerminal } from './typed.ts';

const stage = await startStage(t, { withoutLoop: true });
const { client, namespace, path } = stage;
const terminal = await openTerminal(t, stage);
const parts = planParts(t, stage);
const inStage = ['-n', namespace];

const pod = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] };

t.test('diff shows the former, the expected and the current state', async (t) => {
  const [before, after] = [canary(), canary()];
  await createConfigMaps(stage, ['one', 'two']);
  must(await client.create(path('secrets'), { metadata: { name: 'key' }, stringData: { key: before } }));
  await stage.transaction('release', [
    change('Patch', 'one', { data: { color: 'green' } }),
    change('Patch', 'two', { data: { color: 'green' } }),
    change('Create', 'three', { data: { color: 'green' } }),
    change('Apply', 'drawn', { spec: { type: 'NodePort', ports: [{ port: 80 }] } }, { kind: 'Service' }),
    change('Create', 'drawn', { spec: { template: { spec: pod } } }, { apiVersion: 'batch/v1', kind: 'Job' }),
  ]);
  await stepToEnd(stage, 'release');
  const left = await terminal.type(['diff', 'release', ...inStage]);
  t.equal(left.code, 0, `as it was left, whatever the API server draws: ${left.stdout}`);
  const [port] = at((await client.get(path('services/drawn'))).body, 'spec', 'ports') as JsonObject[];
  const nodePort = port?.nodePort === 31_007 ? 31_008 : 31_007;
  must(await client.patch(path('services/drawn'), { spec: { ports: [{ ...port, nodePort }] } }));
  t.match(
    (await terminal.type(['diff', 'release', ...inStage])).stdout,
    /^~ Service .*\/drawn: changed since\n.*nodePort.*, now 3100[78] \(\S+\)$/m,
  );
  must(await client.patch(path('configmaps/two'), { data: { color: 'red' } }, 'merge', { fieldManager: 'kubectl-edit' }));
  const { code, stdout } = await terminal.type(['diff', 'release', ...inStage]);
  t.equal(code, 1);
  t.match(stdout, /^ {2}ConfigMap .*\/one: as released$/m);
  t.match(
    stdout,
    /^~ ConfigMap .*\/two: changed since\n {4}data\.color +before "blue", released "green", now "red" \(kubectl-edit\)$/m,
  );
  const some = await terminal.type(['diff', 'release', 'svc/drawn', 'cm/two', ...inStage, '-o', 'json']);
  t.ok(fits('diff', JSON.parse(some.stdout)));
  t.match(JSON.parse(some.stdout).objects, [{ target: { name: 'two' }, state: 'changed' }, { target: { name: 'drawn' } }]);
  t.match(await terminal.type(['diff', 'release', 'cm/one', ...inStage]), { code: 0, stdout: /as released\n$/ });
  t.match(await terminal.type(['diff', 'release', 'deploy/one', ...inStage]), { code: 3, stderr: /does not change deploy\/one/ });

  await stage.transaction('sealed', [
    change('Patch', 'key', { stringData: { key: after } }, { kind: 'Secret' }),
    change('Patch', 'one', { data: { color: 'black' } }),
  ]);
  await stepUntil(stage, 'sealed', 'Committed');
  const sealed = await terminal.type(['diff', 'sealed', ...inStage]);
  t.equal(sealed.code, 3, 'what no engine compares is unknown');
  t.match(sealed.stdout, /^\? Secret key: unknown: only the engine can compare it: The engine has not answered/m);
  t.match(sealed.stdout, /one: as released/, 'the others are shown');
  t.match(sealed.stderr, /^The engine has made no call for 10 s/m, 'it says so before');
  await stage.annotate('sealed', { 'tx.janus.io/request-rollback': 'yes' });
  await stepUntil(stage, 'sealed', 'RolledBack');
  t.match((await terminal.type(['diff', 'sealed', ...inStage])).stdout, /one: not released: as the Transaction left it$/m);
  await stage.transaction('refused', [change('Patch', 'nowhere', { data: {} })]);
  await stepToEnd(stage, 'refused');
  t.match(await terminal.type(['diff', 'refused', ...inStage]), { code: 3, stdout: /nothing was changed/ });
  t.equal((await terminal.type(['diff', 'unknown', ...inStage])).code, 3, 'there is no such Transaction');
  t.same(findings(new Map([['printed', terminal.printed.join('\n')]]), [before, after], []), []);
});

const release = (account: string, changes: readonly JsonObject[]): JsonObject => ({
  ...{ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name: `by-${account}`, namespace } },
  spec: { serviceAccountName: account, changes },
});

/** Loaded before the command line: says so when a socket is opened, whoever opens it. */
const noting = `import { Socket } from 'node:net';
const connect = Socket.prototype.connect;
Socket.prototype.connect = function (...to) {
  process.stderr.write('a socket is opened\\n');
  return connect.apply(this, to);
};`;
const noteSockets = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(noting)}` };

t.test('lint names file, line and column, and opens no socket', async (t) => {
  const text = `# two documents
---
apiVersion: tx.janus.io/v1alpha1
kind: Transaction
metadata: { name: one }
spec:
  serviceAccountName: deployer
  changes:
    - { type: Patch, target: { apiVersion: v1, kind: ConfigMap, name: a }, content: { data: {} } }
    - { type: Update, target: { apiVersion: v1, kind: ConfigMap, name: b } }
`;
  const file = terminal.file('bad.yaml', text);
  const nowhere = terminal.file('nowhere', 'no kubeconfig');
  const found = await terminal.type(['lint', '-f', file], undefined, noteSockets);
  t.same([found.code, found.stderr], [2, '']);
  t.match(found.stdout, `${file}:10:7: Invalid: spec.changes[1]: content must be an object`);
  t.match((await terminal.type(['list', ...inStage], undefined, noteSockets)).stderr, /a socket is opened/, 'it would be seen');
  const json = terminal.file(
    'bad.json',
    release('deployer', [change('Delete', 'a'), { type: 'Delete', target: { kind: 'Pod' } }]),
  );
  t.match((await terminal.type(['lint', '-f', json], nowhere)).stdout, /^[^:]+bad\.json:\d+:\d+: Invalid: spec\.changes\[1\]/);
  const good = terminal.file('good.json', release('deployer', [change('Delete', 'a')]));
  t.match(await terminal.type(['lint', '-f', good], nowhere), { code: 0, stdout: '', stderr: '' });
  t.equal((await terminal.type(['lint', '-f', terminal.file('no.yaml', 'a: [')], nowhere)).code, 3);
  t.equal((await terminal.type(['lint', '-f', terminal.file('other.yaml', 'a: 1')], nowhere)).code, 3);
});

t.test('rbac prints all rights that are needed', async (t) => {
  const made = `${namespace}-made`;
  await createConfigMaps(stage, ['kept', 'gone']);
  must(await client.create(path('serviceaccounts'), { metadata: { name: 'narrow' } }));
  const content = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'sourced' }, data: { a: '1' } };
  const source: Manifest = { kind: 'Secret', name: 'source', key: 'x', bytes: asJson(content) };
  must(await client.create(path('secrets'), holderOf(source)));
  const transaction = release('narrow', [
    change('Patch', 'kept', { data: { color: 'green' } }),
    change('Delete', 'gone'),
    change('Apply', 'made', { data: { a: '1' } }),
    change('Create', 'service', { spec: { clusterIP: 'None' } }, { kind: 'Service' }),
    change('Create', made, {}, { kind: 'Namespace' }),
    { type: 'Apply', target: { apiVersion: 'v1', kind: 'ConfigMap', name: 'sourced' }, contentFrom: contentFrom(source) },
  ]);
  const printed = await terminal.type(['rbac', '-f', terminal.file('narrow.json', transaction)]);
  t.equal(printed.code, 0, printed.stderr);
  const [list] = parseAllDocuments(printed.stdout).map((one) => one.toJS() as { items: JsonObject[] });
  const [serviceAccount, ...objects] = list?.items ?? [];
  t.equal(serviceAccount?.kind, 'ServiceAccount');
  t.same(
    objects.map(({ kind }) => kind),
    ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  );
  t.teardown(async () => {
    for (const one of objects) await client.delete(rbacPath(one));
    await client.delete(`/api/v1/namespaces/${made}`);
  });
  for (const one of objects) must(await client.create(rbacCollection(one), one));
  await planUntil(transaction, 'accepted', []);
  must(await client.create(`/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions`, transaction));
  await stepToEnd(stage, 'by-narrow');
  t.equal(textAt(await stage.read('by-narrow'), 'status', 'phase'), 'Committed', 'and the Transaction passes');
  await step(stage, 'by-narrow');
});

t.test('rbac prints the known rights of a refused change, and names the rest', async (t) => {
  await createConfigMaps(stage, ['labelled']);
  must(await client.create(path('serviceaccounts'), { metadata: { name: 'tried' } }));
  const labels = { metadata: { labels: { a: 'b!' } } };
  const transaction = release('tried', [
    change('Patch', 'labelled', { data: { color: 'green' } }),
    change('Apply', 'odd', labels),
    change('Create', 'odd', labels, { kind: 'Secret' }),
  ]);
  const words = ['rbac', '-f', terminal.file('tried.json', transaction)];
  const printed = await terminal.type(words);
  t.equal(printed.code, 0, printed.stderr);
  for (const index of [1, 2])
    t.match(printed.stderr, new RegExp(`^The rights may be incomplete: spec\\.changes\\[${index}\\].*dry run`, 'm'));
  const [list] = parseAllDocuments(printed.stdout).map((one) => one.toJS() as { items: JsonObject[] });
  const [, ...objects] = list?.items ?? [];
  const rights = objects.flatMap(rulesOf).map(({ resources, verbs }) => `${resources}: ${verbs}`);
  const [lists, others] = [true, false].map((isList) => rights.filter((one) => one.endsWith(': list') === isList));
  t.same(others, ['configmaps,secrets: get,list,create,update,patch,delete']);
  t.match(lists?.join(), /\bpods\b.*\bdeployments\b/, 'beside them only lists, of kinds whose objects may go with another');
  for (const one of objects) must(await client.create(rbacCollection(one), one));
  await planUntil(transaction, 'refused', []);
  const found = await plan(parts, transaction);
  t.match(found.refusal, [
    { index: 1, reason: 'Invalid' },
    { index: 2, reason: 'Invalid' },
  ]);
  t.match(found.also, []);

  await unanswered(t, 'secrets');
  const plain = terminal.file('plain.json', release('tried', [change('Create', 'plain', {}, { kind: 'Secret' })]));
  const refused = await terminal.type(['rbac', '-f', plain]);
  t.match(refused, { code: 1, stdout: '', stderr: /^janus: Not all permissions are known, and no Role is printed: / });
});

/** Requests that create these in the namespace have no answer: the webhook that the API server must ask is not there. */
async function unanswered(t: Test, plural: string): Promise<void> {
  const webhooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  const name = `unanswered-${namespace}`;
  const webhook = {
    ...{ name: 'unanswered.test.janus.io', sideEffects: 'None', failurePolicy: 'Fail', admissionReviewVersions: ['v1'] },
    clientConfig: { url: 'https://127.0.0.1:1/' },
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: [plural], operations: ['CREATE'] }],
  };
  t.teardown(() => client.delete(`${webhooks}/${name}`));
  must(await client.create(webhooks, { metadata: { name }, webhooks: [webhook] }));
  await waitFor(
    async () => (await client.create(path(plural), { metadata: { name: 'probe' } }, { dryRun: 'All' })).code === 500,
    'the webhook to be asked',
  );
}

/** Rights take effect a moment after they are written. */
async function planUntil(transaction: JsonObject, verdict: string, gaps: readonly string[]): Promise<void> {
  let seen = '';
  const isThere = async (): Promise<boolean> => {
    const found = await plan(parts, transaction);
    const missing = new Set(found.gaps.map(({ question: { verb, resource, group } }) => `${verb} ${resource}.${group}`));
    seen = JSON.stringify({ ...found, changes: [], needs: [] });
    return found.verdict === verdict && isDeepStrictEqual([...missing], gaps);
  };
  await waitFor(isThere, `a plan that is ${verdict} and misses ${gaps}`, { everyMs: 50 }).catch((error: Error) => {
    throw new Error(`${error.message}; the last one was ${seen}`);
  });
}

function rulesOf({ rules }: JsonObject): readonly JsonObject[] {
  return (rules ?? []) as readonly JsonObject[];
}

function rbacCollection(object: JsonObject): string {
  const place = textAt(object, 'metadata', 'namespace');
  const plural = `${object.kind}s`.toLowerCase();
  return `/apis/rbac.authorization.k8s.io/v1/${place === undefined ? '' : `namespaces/${place}/`}${plural}`;
}

function rbacPath(object: JsonObject): string {
  return `${rbacCollection(object)}/${textAt(object, 'metadata', 'name')}`;
}
