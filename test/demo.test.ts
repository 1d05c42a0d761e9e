// The demo as people run it: it ends with 0 when the cluster is as it says, with something else when not, and leaves nothing.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { textAt } from '../hooks/objects/json.ts';
import { startControlPlane } from './controlplane/start.ts';
import { type Client, connect, must, waitFor } from './support/client.ts';
import { hookLine, kubeconfigLine, lastLine, readersEnvironment, start } from './support/demo.ts';
import { accountKubeconfig } from './support/engine-identity.ts';
import { type } from './support/kubectl.ts';
import { root } from './support/pages.ts';
import { inAllOnly } from './support/selection.ts';
import { openPages, type Place } from './support/typing.ts';

const demo = [process.execPath, join(root, 'scripts', 'demo.ts')];
const pages = openPages('test/demo.test.ts');
async function nothingIsLeft(t: Test, kubeconfig: string, hookUrl?: string): Promise<void> {
  await waitFor(() => !existsSync(dirname(kubeconfig)), `${dirname(kubeconfig)} to be removed`);
  if (hookUrl !== undefined) await t.rejects(fetch(`${hookUrl}/healthz`), 'the hook is gone');
}

t.test('in a cluster of the user the demo asks, and removes everything, even if an undo fails', inAllOnly, async (t) => {
  const plane = await startControlPlane({ report: () => undefined });
  t.teardown(() => plane.stop());
  const client = connect(plane.kubeconfig);
  t.teardown(() => client.close());
  await refuseVersion1(client);
  const before = await namesIn(client);
  const refusals: readonly (readonly [string, RegExp, ...string[]])[] = [
    [plane.kubeconfig, /The demo failed: expected --yes, because there is no terminal to ask: nothing was changed\.$/m],
    [await withoutRights(t, client, plane.kubeconfig), /: expected the rights of an administrator of .* nothing was changed\.$/m],
    ['/nowhere', /The demo failed: --kubeconfig: expected a file, found none at \/nowhere\.$/m],
  ];
  for (const [kubeconfig, said] of refusals) {
    const refused = start(t, [...demo, '--kubeconfig', kubeconfig]);
    t.equal(await refused.ended, 1);
    t.match(refused.output(), said);
    t.same(await namesIn(client), before, 'nothing was changed');
  }
  const running = start(t, [...demo, '--kubeconfig', plane.kubeconfig, '--yes']);
  t.equal(await running.ended, 1, running.output());
  t.match(running.output(), /^ {2}ok {6}deploy-v3 is RolledBack$/m, 'up to there all was well');
  t.match(running.output(), /^ {2}FAILED {2}deploy-v2 is RolledBack$/m);
  t.match(running.output(), /^ {2}FAILED {2}ConfigMap app-config is exactly as before/m);
  t.match(running.output(), /^ +-.*"version": "1\.0"/m, 'and it says what differs');
  t.same(await namesIn(client), before, 'nothing is left');
  must(await client.create('/api/v1/namespaces', { metadata: { name: 'shop' } }));
  const again = start(t, [...demo, '--kubeconfig', plane.kubeconfig, '--yes']);
  t.equal(await again.ended, 1);
  t.match(again.output(), /namespaces\/shop exists already, and the demo removes what it creates: use another cluster\.$/m);
});

async function withoutRights(t: Test, client: Client, kubeconfig: string): Promise<string> {
  const of = '/api/v1/namespaces/default/serviceaccounts/default';
  await waitFor(async () => (await client.get(of)).code === 200, 'the ServiceAccount default');
  return accountKubeconfig(t, client, kubeconfig, of);
}

async function namesIn(client: Client): Promise<readonly string[]> {
  const admission = 'admissionregistration.k8s.io/v1/validatingadmissionpolic';
  const groups = ['apiextensions.k8s.io/v1/customresourcedefinitions', `${admission}ies`, `${admission}ybindings`];
  const roles = ['clusterroles', 'clusterrolebindings'].map((name) => `rbac.authorization.k8s.io/v1/${name}`);
  const paths = [
    '/api/v1/namespaces',
    '/api/v1/namespaces/default/configmaps',
    ...[...groups, ...roles].map((one) => `/apis/${one}`),
  ];
  const lists = await Promise.all(paths.map(async (path) => (await client.list(path)).items));
  return lists.flatMap((items) => items.map((item) => textAt(item, 'metadata', 'name') ?? '')).sort();
}

/** From now on no ConfigMap of version 2.0 becomes one of version 1.0. */
async function refuseVersion1(client: Client): Promise<void> {
  const metadata = { name: 'no-requested-rollback' };
  const versionOf = (object: string): string => `${object}.?data.?version.orValue('')`;
  const expression = `!(${versionOf('oldObject')} == '2.0' && ${versionOf('object')} == '1.0')`;
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['configmaps'] }];
  const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic';
  const spec = { matchConstraints: { resourceRules }, validations: [{ expression }] };
  must(await client.create(`${policies}ies`, { metadata, spec }));
  const binding = { policyName: metadata.name, validationActions: ['Deny'] };
  must(await client.create(`${policies}ybindings`, { metadata, spec: binding }));
  const probes = '/api/v1/namespaces/default/configmaps';
  must(await client.create(probes, { metadata, data: { version: '2.0' } }));
  await waitFor(async () => {
    const answer = await client.patch(`${probes}/${metadata.name}`, { data: { version: '1.0' } });
    if (answer.code === 200) must(await client.patch(`${probes}/${metadata.name}`, { data: { version: '2.0' } }));
    return answer.code === 422;
  }, 'the policy to be in force');
}

/** Types the commands of docs/tutorial.md, and then those of README.md, which need the command line that the tutorial installs. */
async function typeTheDocuments(t: Test, env: Place['env']): Promise<void> {
  const place = { folder: root, env };
  await pages.type(t, place, 'docs/tutorial.md');
  for (const section of ['Install', 'Three commands']) await pages.type(t, place, 'README.md', section);
}

/** For scripts: docs/gitops.md. */
async function waitByScript(t: Test, kubeconfig: string): Promise<void> {
  const wait = (words: string) => type(`examples/pipeline/wait.sh ${words}`, root, { KUBECONFIG: kubeconfig });
  await type('kubectl apply -f manifests/examples/deploy-v2.yaml', root, { KUBECONFIG: kubeconfig });
  t.match(await wait('shop deploy-v2'), { code: 0 });
  t.match(await wait('shop release-1'), { code: 1, output: /^RolledBack: /m });
  t.match(await wait('shop deploy-v9 1s'), { code: 2 });
}

function tellsTheStory(t: Test, output: string): void {
  t.match(output, /^ {2}the loop: (a double of Metacontroller|the real Metacontroller)/m, 'it says which loop runs');
  for (const line of ['ConfigMap app-config changed', 'Secret old-api-key deleted', 'ConfigMap app-config restored'])
    t.match(output, new RegExp(`^\\d+\\.\\d\\ds ${line}$`, 'm'), `${line}, live`);
  t.match(output, /^. deploy-v2 was committed after \d+:\d\d: 2 changed, 1 deleted\.$/m);
  t.match(output, /^. deploy-v3 was rolled back after \d+:\d\d: Patch of ConfigMap shop\/banner was refused: /m);
  t.match(output, /^ {2}ConfigMap app-config +data\.version +1\.0 +2\.0 +<- changed$/m);
  t.match(output, /^ {2}ok {6}deploy-v2 is Committed$/m);
  t.match(output, /^ {2}ok {6}deploy-v3 is RolledBack$/m);
  t.match(output, /^ {2}ok {6}deploy-v2 is RolledBack$/m);
  t.match(output, /^ {2}ok {6}deploy-v4 is RolledBack$/m);
  t.match(output, /ImagePullBackOff/, 'why the Pods did not start');
  t.match(output, /^All \d\d checks are ok\.$/m);
  t.notMatch(output, 'FAILED');
  t.notMatch(output, '\u001b', 'no colours where there is no terminal');
}

t.test('it shows a Transaction that commits, one that is rolled back; with --keep it stays until Ctrl-C', async (t) => {
  const running = start(t, [...demo, '--keep']);
  const [kubeconfig, hookUrl] = await Promise.all([running.line(kubeconfigLine), running.line(hookLine)]);
  await running.line(lastLine);
  tellsTheStory(t, running.output());
  t.ok(existsSync(kubeconfig));
  t.equal((await fetch(`${hookUrl}/readyz`)).status, 200);
  const env = await readersEnvironment(t, kubeconfig);
  await t.test('the commands of the tutorial and of the README work in the demo, and print what these pages show', async (t) => {
    await typeTheDocuments(t, env);
    await waitByScript(t, kubeconfig);
  });
  running.interrupt();
  t.equal(await running.ended, 0, running.output());
  await nothingIsLeft(t, kubeconfig, hookUrl);
});

t.test('the demo installs, updates and replaces packages, and shows a rollback and refusals', inAllOnly, async (t) => {
  const running = start(t, [...demo, 'packages']);
  t.equal(await running.ended, 0, running.output());
  const claims = [
    'the provider and its family are installed, and the Lock holds their versions',
    'the Bucket is the same object',
    'the deletion is refused, because instances are in use',
    'the old family is gone',
    'the Bucket has outlived its vendor',
  ];
  for (const claim of [...claims, 'it says which CRD', 'everything is as before', 'nothing was written'])
    t.match(running.output(), new RegExp(`^ {2}ok {6}${claim}`, 'm'));
  t.match(running.output(), /^All \d+ checks are ok\.$/m);
  t.notMatch(running.output(), 'FAILED');
});

t.test('the demo leaves nothing after Ctrl-C in the middle', inAllOnly, async (t) => {
  const running = start(t, demo);
  const [kubeconfig, hookUrl] = await Promise.all([running.line(kubeconfigLine), running.line(hookLine, running.interrupt)]);
  t.equal(await running.ended, 130);
  t.notMatch(running.output(), 'failed');
  await nothingIsLeft(t, kubeconfig, hookUrl);
});

t.test('the demo refuses unknown options', async (t) => {
  const running = start(t, ['npm', 'run', '--silent', 'demo', '--', '--kep']);
  t.equal(await running.ended, 2);
  t.match(running.output(), 'expected --keep, --kubeconfig FILE and --yes, or packages alone, or nothing, found --kep');
});

t.test('npm run demo checks every claim, and ends', inAllOnly, async (t) => {
  const [output = ''] = await pages.type(t, { folder: root, env: { PATH: process.env.PATH ?? '' } }, 'README.md', 'Try it');
  t.match(output, /^All \d\d checks are ok\.$/m);
});

t.test('no command of these pages is left out', inAllOnly, async (t) => {
  t.same(pages.left(), []);
});
