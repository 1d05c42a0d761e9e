// The demo as people run it: it ends with 0 when the cluster is as it says, with something else when not, and leaves nothing.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { textAt } from '../hooks/objects/json.ts';
import { startControlPlane } from './controlplane/start.ts';
import { type Client, connect, must, waitFor } from './support/client.ts';
import { accountKubeconfig } from './support/engine-identity.ts';
import { pathWithKubectl, type } from './support/kubectl.ts';
import { blocksOf, isTypedInDemo, missingIn } from './support/pages.ts';
import { inAllOnly } from './support/selection.ts';

const root = join(import.meta.dirname, '..');

interface Demo {
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly output: () => string;
  /** Resolves with the line's first group as soon as a line matches. */
  line(pattern: RegExp, then?: () => void): Promise<string>;
}

function start(t: Test, command: readonly string[]): Demo {
  const [file = '', ...args] = command;
  const { PATH, HOME, XDG_CACHE_HOME, METACONTROLLER, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, HOME, XDG_CACHE_HOME, METACONTROLLER, NODE_COMPILE_CACHE };
  const child = spawn(file, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  const readers = [child.stdout, child.stderr].map((input) => createInterface({ input }));
  for (const reader of readers) reader.on('line', (line) => lines.push(line));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    process: child,
    ended,
    output: () => lines.join('\n'),
    line: (pattern, then) =>
      new Promise((resolve, reject) => {
        for (const reader of readers)
          reader.on('line', (line) => {
            const found = pattern.exec(line);
            if (found === null) return;
            then?.();
            resolve(found[1] ?? '');
          });
        void ended.then(() => reject(new Error(`the demo ended without a line like ${pattern}:\n${lines.join('\n')}`)));
      }),
  };
}

const demo = [process.execPath, join(root, 'scripts', 'demo.ts')];
const kubeconfigLine = /^ +export KUBECONFIG=(\S+)/;
const hookLine = /server\/main\.ts, listens at (\S+)/;

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
  const metadata = { name: 'no-way-back' };
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
async function typeTheDocuments(t: Test, kubeconfig: string): Promise<void> {
  // What is installed globally goes into a folder of this test.
  const prefix = mkdtempSync(join(tmpdir(), 'janus-tutorial-'));
  t.teardown(() => rmSync(prefix, { recursive: true }));
  const PATH = `${join(prefix, 'bin')}${delimiter}${await pathWithKubectl()}`;
  const environment = { PATH, KUBECONFIG: kubeconfig, npm_config_prefix: prefix };
  for (const block of ['docs/tutorial.md', 'README.md'].flatMap(blocksOf).filter(isTypedInDemo)) {
    const [first, last] = [block.commands[0], block.commands.at(-1)];
    const place = `${block.document}:${first?.line}: ${last?.text}`;
    const { code, output } = await type(block.commands.map(({ text }) => text).join('\n'), root, environment);
    t.equal(code, block.exits, `${place}\n${output}`);
    if (block.output !== undefined) t.equal(missingIn(output, block.output), undefined, `${place}\n${output}`);
  }
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
  for (const phase of ['Pending', 'Prepared', 'Committed', 'RollingBack', 'RolledBack'])
    t.match(output, new RegExp(`^\\d+\\.\\d\\ds ${phase} `, 'm'), `${phase} was shown live`);
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
  await running.line(/kubectl .* annotate tx deploy-v2 tx\.janus\.io\/request-rollback=again$/);
  tellsTheStory(t, running.output());
  t.ok(existsSync(kubeconfig));
  t.equal((await fetch(`${hookUrl}/readyz`)).status, 200);
  await t.test('the commands of the tutorial and of the README work in the demo', async (t) => {
    await typeTheDocuments(t, kubeconfig);
    await waitByScript(t, kubeconfig);
  });
  running.process.kill('SIGINT');
  t.equal(await running.ended, 0, running.output());
  await nothingIsLeft(t, kubeconfig, hookUrl);
});

t.test('the demo installs and updates packages, and shows a rollback and a refusal', inAllOnly, async (t) => {
  const running = start(t, [...demo, 'packages']);
  t.equal(await running.ended, 0, running.output());
  const claims = ['the provider and its family are installed, and the Lock holds their digests', 'the Bucket is the same object'];
  for (const claim of [...claims, 'it says which CRD', 'everything is as before', 'nothing was written'])
    t.match(running.output(), new RegExp(`^ {2}ok {6}${claim}`, 'm'));
  t.match(running.output(), /^All \d+ checks are ok\.$/m);
  t.notMatch(running.output(), 'FAILED');
});

t.test('the demo leaves nothing after Ctrl-C in the middle', inAllOnly, async (t) => {
  const running = start(t, demo);
  const interrupt = (): void => void running.process.kill('SIGINT');
  const [kubeconfig, hookUrl] = await Promise.all([running.line(kubeconfigLine), running.line(hookLine, interrupt)]);
  t.equal(await running.ended, 130);
  t.notMatch(running.output(), 'failed');
  await nothingIsLeft(t, kubeconfig, hookUrl);
});

t.test('the demo refuses unknown options', async (t) => {
  const running = start(t, ['npm', 'run', '--silent', 'demo', '--', '--kep']);
  t.equal(await running.ended, 2);
  t.match(running.output(), 'expected --keep, --kubeconfig FILE and --yes, or packages alone, or nothing, found --kep');
});
