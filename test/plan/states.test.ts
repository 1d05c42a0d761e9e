// `janus diff`, `lint` and `rbac` as typed, on the real API server.
import t from 'tap';
import { parseAllDocuments } from 'yaml';
import { type JsonObject, parseJson, textAt } from '../../hooks/model/json.ts';
import { must, waitFor } from '../support/client.ts';
import { startStage } from '../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../support/stepping.ts';
import { asJson, contentFrom, holderOf, type Manifest } from '../support/stored-manifests.ts';
import { change, createConfigMaps } from '../support/targets.ts';
import { canary, findings } from '../threats/canaries.ts';
import { openTerminal } from './typed.ts';

const stage = await startStage(t, { withoutLoop: true });
const { client, namespace, path } = stage;
const terminal = openTerminal(t, stage);
const inStage = ['-n', namespace];

t.test('diff: before, as expected, and now', async (t) => {
  const [before, after] = [canary(), canary()];
  await createConfigMaps(stage, ['one', 'two']);
  must(await client.create(path('secrets'), { metadata: { name: 'key' }, stringData: { key: before } }));
  await stage.transaction('release', [
    change('Patch', 'one', { data: { color: 'green' } }),
    change('Patch', 'two', { data: { color: 'green' } }),
    change('Create', 'three', { data: { color: 'green' } }),
  ]);
  await stepToEnd(stage, 'release');
  t.equal((await terminal.type(['diff', 'release', ...inStage])).code, 0, 'as it was left');
  must(await client.patch(path('configmaps/two'), { data: { color: 'red' } }));
  const { code, stdout } = await terminal.type(['diff', 'release', ...inStage]);
  t.equal(code, 1);
  t.match(stdout, /^ {2}ConfigMap .*\/one: as it was left\n {4}data\.color +"blue" -> "green", now "green"$/m);
  t.match(stdout, /^! ConfigMap .*\/two: changed since\n {4}data\.color +"blue" -> "green", now "red"$/m);

  await stage.transaction('sealed', [
    change('Patch', 'key', { stringData: { key: after } }, { kind: 'Secret' }),
    change('Patch', 'one', { data: { color: 'black' } }),
  ]);
  await stepUntil(stage, 'sealed', 'Committed');
  const sealed = await terminal.type(['diff', 'sealed', ...inStage]);
  t.equal(sealed.code, 3, 'it cannot be told');
  t.match(sealed.stdout, /^\? Secret key: hidden: sealed by the engine$/m);
  t.match(sealed.stdout, /one: as it was left/, 'the others are shown');
  await stage.annotate('sealed', { 'tx.janus.io/request-rollback': 'yes' });
  await stepUntil(stage, 'sealed', 'RolledBack');
  t.match(
    (await terminal.type(['diff', 'sealed', ...inStage])).stdout,
    /one: as it was left\n {4}data\.color +"green" -> "black", now "green"/,
  );
  await stage.transaction('refused', [change('Patch', 'nowhere', { data: {} })]);
  await stepToEnd(stage, 'refused');
  t.match(await terminal.type(['diff', 'refused', ...inStage]), { code: 3, stdout: /nothing was changed/ });
  t.equal((await terminal.type(['diff', 'unknown', ...inStage])).code, 1);
  t.same(findings(new Map([['printed', terminal.printed.join('\n')]]), [before, after], []), []);
});

const release = (account: string, changes: readonly JsonObject[]): JsonObject => ({
  ...{ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name: `by-${account}`, namespace } },
  spec: { serviceAccountName: account, changes },
});

t.test('lint: file, line and column, and no cluster', async (t) => {
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
  const found = await terminal.type(['lint', '-f', file], nowhere);
  t.equal(found.code, 2, found.stderr);
  t.match(found.stdout, `${file}:10:7: Invalid: spec.changes[1]: content must be an object`);
  const good = terminal.file('good.json', release('deployer', [change('Delete', 'a')]));
  t.match(await terminal.type(['lint', '-f', good], nowhere), { code: 0, stdout: '', stderr: '' });
  t.equal((await terminal.type(['lint', '-f', terminal.file('no.yaml', 'a: [')], nowhere)).code, 3);
  t.equal((await terminal.type(['lint', '-f', terminal.file('other.yaml', 'a: 1')], nowhere)).code, 3);
});

const rbac = '/apis/rbac.authorization.k8s.io/v1';

t.test('rbac: what it prints is enough, and all of it is needed', async (t) => {
  await createConfigMaps(stage, ['kept', 'gone']);
  must(await client.create(path('serviceaccounts'), { metadata: { name: 'narrow' } }));
  const content = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'sourced' }, data: { a: '1' } };
  const source: Manifest = { kind: 'ConfigMap', name: 'source', key: 'x', bytes: asJson(content) };
  must(await client.create(path('configmaps'), holderOf(source)));
  const transaction = release('narrow', [
    change('Patch', 'kept', { data: { color: 'green' } }),
    change('Delete', 'gone'),
    change('Apply', 'made', { data: { a: '1' } }),
    change('Create', 'secret', { stringData: { a: '1' } }, { kind: 'Secret' }),
    {
      type: 'Apply',
      target: { apiVersion: 'v1', kind: 'ConfigMap', name: 'sourced' },
      contentFrom: contentFrom(source),
    },
  ]);
  const file = terminal.file('narrow.json', transaction);
  const printed = await terminal.type(['rbac', '-f', file]);
  t.equal(printed.code, 0, printed.stderr);
  const [list] = parseAllDocuments(printed.stdout).map((one) => one.toJS() as { items: JsonObject[] });
  const [role = {}, binding = {}] = list?.items ?? [];
  const rules = role.rules as readonly JsonObject[];
  t.same(
    list?.items.map(({ kind }) => kind),
    ['Role', 'RoleBinding'],
  );
  must(await client.create(`${rbac}/namespaces/${namespace}/rolebindings`, binding));
  const roles = `${rbac}/namespaces/${namespace}/roles`;
  must(await client.create(roles, role));
  const plan = async (): Promise<JsonObject> =>
    parseJson((await terminal.type(['plan', '-f', file, '-o', 'json'])).stdout) as JsonObject;
  const isAccepted = async (): Promise<boolean> => {
    const { verdict, refusal, also, gaps } = await plan();
    if (verdict !== 'accepted') throw new Error(JSON.stringify({ refusal, also, gaps }));
    return true;
  };
  await waitFor(isAccepted, 'the Role to be in force', { everyMs: 200 });
  // Without any one verb of any one rule the plan names the gap.
  const missing = rules.flatMap((rule, at) =>
    (rule.verbs as readonly string[]).map((verb) => ({ at, verb, resource: (rule.resources as readonly string[])[0] })),
  );
  t.ok(missing.length > 7, `${missing.length} verbs`);
  const [first, ...others] = [
    missing.find(({ verb }) => verb === 'delete'),
    missing.find(({ verb }) => verb === 'patch'),
    missing.find(({ verb, resource }) => verb === 'create' && resource === 'secrets'),
  ];
  for (const one of [first, ...others]) {
    const fewer = rules.map((rule, at) =>
      at === one?.at ? { ...rule, verbs: (rule.verbs as readonly string[]).filter((verb) => verb !== one.verb) } : rule,
    );
    must(await client.update(`${roles}/${textAt(role, 'metadata', 'name')}`, { ...role, rules: fewer }));
    await waitFor(
      async () => {
        const { verdict, gaps } = await plan();
        return (
          verdict === 'refused' && (gaps as readonly JsonObject[]).some((gap) => textAt(gap, 'question', 'verb') === one?.verb)
        );
      },
      `the plan to name ${one?.verb}`,
      { everyMs: 200 },
    );
  }
  must(await client.update(`${roles}/${textAt(role, 'metadata', 'name')}`, role));
  await waitFor(isAccepted, 'the Role to be in force again', { everyMs: 200 });
  must(await client.create(`/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions`, transaction));
  await stepToEnd(stage, 'by-narrow');
  t.equal(textAt(await stage.read('by-narrow'), 'status', 'phase'), 'Committed', 'and the Transaction passes');
  await step(stage, 'by-narrow');
});
