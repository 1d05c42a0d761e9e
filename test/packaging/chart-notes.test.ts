// What the chart prints once it is installed, and what it leaves to `helm test`: as Helm renders it, without a cluster.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { at, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { openHelm } from './helm.ts';

const helm = await openHelm(t);
const served = [{ name: 'team-a', serviceAccounts: ['deployer'] }];

function notesOf(values: JsonObject): string {
  const set = Object.entries(values).flatMap(([key, value]) => ['--set-json', `${key}=${JSON.stringify(value)}`]);
  const { status, text } = helm.run('install', 'mine', helm.chart, '--namespace', 'janus-system', '--dry-run=client', ...set);
  const [, notes = ''] = text.split('\nNOTES:\n');
  if (status !== 0 || notes === '') throw new Error(text);
  return notes;
}

/** The indented lines below a heading, and nothing else. */
function commandsBelow(heading: string, notes: string): readonly string[] {
  const [, below = ''] = notes.split(`${heading}\n\n`);
  return (below.split('\n\n')[0] ?? '').split('\n').filter((line) => line.startsWith('  '));
}

const next = [
  '  kubectl -n janus-system rollout status deployment/janus --timeout=2m',
  '  helm test mine --namespace janus-system',
  '  kubectl explain tx.spec',
];
const last = 'Before you uninstall, delete the Transactions while the engine still runs; the CRDs go last:';
const removal = [
  '  kubectl delete transactions.tx.janus.io --all --all-namespaces',
  '  helm uninstall mine --namespace janus-system',
  '  kubectl delete customresourcedefinition transactions.tx.janus.io',
];

t.test('the notes name three commands that come next, and how it is removed', async (t) => {
  const notes = notesOf({});
  t.same(commandsBelow('Next:', notes), next);
  t.same(commandsBelow(last, notes), removal);
  const home = 'https://github.com/janus-io/janus-on-metacontroller/blob/main';
  t.same(commandsBelow(`by the command line (${home}/docs/cli.md#install):`, notes), [
    '  janus rbac -n NAMESPACE -f FOLDER APP --service-account NAME | kubectl apply -f -',
    '  janus apply -n NAMESPACE -f FOLDER APP --service-account NAME',
  ]);
  t.match(notes, `List \`namespaces\` to confine it:\n${home}/SECURITY.md#what-you-grant\n`);
  t.match(notes, 'To go back run helm upgrade with the former version and values');
});

t.test('for listed namespaces there is no test, and the notes name none', async (t) => {
  const notes = notesOf({ namespaces: served });
  t.match(notes, 'It serves team-a (as deployer).');
  t.same(
    commandsBelow('Next:', notes),
    next.filter((command) => !command.includes('helm test')),
  );
  const { objects } = helm.render({ namespaces: served });
  t.notMatch(JSON.stringify(objects), 'helm.sh/hook":"test');
});

t.test('the notes name the objects of packages that the user removes by hand', async (t) => {
  t.same(commandsBelow(last, notesOf({ packages: { enabled: true } })), [
    '  kubectl delete ptx --all',
    ...removal,
    '  kubectl delete customresourcedefinition transactions.pkg.crossplane.io',
    '  kubectl delete namespace janus-packages',
  ]);
});

t.test('a namespace that YAML would read as a number is a name in the test', async (t) => {
  const { status, objects, text } = helm.render({ test: { namespace: '1234' } });
  t.equal(status, 0, text);
  const own = objects.filter((one) => textAt(one, 'metadata', 'name') === 'janus-helm-test');
  t.same(
    own.map((one) => at(one, 'metadata', 'namespace')),
    ['1234', '1234', '1234', '1234'],
  );
  const pod = own.find(({ kind }) => kind === 'Pod');
  const [container] = at(pod, 'spec', 'containers') as readonly Json[];
  t.match(at(container, 'env'), [{ name: 'TEST_NAMESPACE', value: '1234' }]);
});

t.test('the test reaches an API server by IPv6', async (t) => {
  const program = readFileSync(join(helm.chart, 'files/test.mjs'), 'utf8');
  const directory = t.testdir({ token: 'a' });
  for (const [host, authority] of [
    ['::1', 'https://[::1]:6'],
    ['127.0.0.1', 'https://127.0.0.1:6'],
  ] as const) {
    // It prints where it would go in place of going there.
    const asked = 'globalThis.fetch = async (url) => { console.log(new URL(url).href); process.exit(0); };\n';
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', `${asked}${program}`], {
      encoding: 'utf8',
      env: { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: '6', TEST_NAMESPACE: 'a', TOKEN_FILE: `${directory}/token` },
    });
    t.equal(status, 0, stderr);
    t.equal(stdout, `${authority}/apis/tx.janus.io/v1alpha1/namespaces/a/transactions\n`);
  }
});

t.test('the fields of Pods and Services that clusters need to treat them well', async (t) => {
  for (const tls of [{}, { secretName: 'mine' }] as readonly JsonObject[]) {
    const { objects } = helm.render({ tls });
    const of = (kind: string) => objects.find((one) => one.kind === kind);
    t.equal(at(of('Deployment'), 'spec', 'template', 'spec', 'enableServiceLinks'), false, 'no variables of other Services');
    t.match(at(of('Service'), 'spec', 'ports'), [{ appProtocol: tls.secretName === undefined ? 'http' : 'https' }]);
    t.equal(
      at(of('PodDisruptionBudget'), 'spec', 'unhealthyPodEvictionPolicy'),
      'AlwaysAllow',
      'a drain takes what does not run',
    );
  }
});
