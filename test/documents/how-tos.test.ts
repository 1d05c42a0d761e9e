// The commands of the how-to pages, typed in the cluster that `npm run demo -- --keep` leaves running, in a folder with the files of a reader.
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import t from 'tap';
import { kubeconfigLine, lastLine, readersEnvironment, start } from '../support/demo.ts';
import { type } from '../support/kubectl.ts';
import { root } from '../support/pages.ts';
import { openPages, type Place } from '../support/typing.ts';
import { buildHelm } from '../tools/helm/helm.ts';

const pages = openPages('test/documents/how-tos.test.ts');
const [keep, exporting] = pages.take('docs/tutorial.md', 'Start a cluster').map(({ commands: [command] }) => command?.text ?? '');
const demo = start(t, ['bash', '-c', keep ?? '']);
const [kubeconfig] = await Promise.all([demo.line(kubeconfigLine), demo.line(lastLine)]);
const { PATH, ...env } = await readersEnvironment(t, kubeconfig);
const helm = dirname(await buildHelm((line) => t.comment(line)));

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const manifests = read('examples/tutorial/release-1.yaml');
const smoke = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: smoke, annotations: { helm.sh/hook: test } }\n';
const kustomization = (resource: string): string => `kind: Kustomization\nresources: [${resource}]\n`;
const app = { 'release.yaml': manifests, 'kustomization.yaml': kustomization('release.yaml') };
const folder = t.testdir({
  app: { 'release.yaml': manifests },
  chart: {
    'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
    templates: { 'shop.yaml': manifests.replace('"2.0"', '{{ .Release.Namespace | quote }}'), 'test.yaml': smoke },
  },
  manifests: { 'release.yaml': manifests },
  releases: {},
  base: app,
  overlays: { production: { 'kustomization.yaml': kustomization('../../base') } },
  transactions: { 'deploy-v2.yaml': read('manifests/examples/deploy-v2.yaml') },
  'deploy-v2.yaml': read('manifests/examples/deploy-v2.yaml'),
  'shop.yaml': read('manifests/examples/shop.yaml'),
  'waiting.yaml': JSON.stringify({
    apiVersion: 'tx.janus.io/v1alpha1',
    kind: 'Transaction',
    metadata: { name: 'deploy-v2' },
    spec: {
      serviceAccountName: 'deploy-sa',
      changes: [
        {
          type: 'Patch',
          target: { apiVersion: 'v1', kind: 'ConfigMap', name: 'app-config' },
          content: { data: { version: '2.0' } },
          gate: { ready: { field: { path: '.data.loaded' } } },
        },
      ],
    },
  }),
  'web.yaml': manifests.split('---\n')[1] ?? '',
  examples: t.fixture('symlink', join(root, 'examples')),
});
const place: Place = { folder, env: { ...env, PATH: `${PATH}${delimiter}${helm}` } };

/** Brings the cluster into a state that a page supposes. */
async function prepare(commands: string): Promise<void> {
  const { code, output } = await type(commands, folder, place.env);
  if (code !== 0) throw new Error(`${commands}: exit code ${code}:\n${output}`);
}

t.test('docs/tutorial.md: the demo prints the line that the page shows', async (t) => {
  t.equal(exporting, `export KUBECONFIG=${kubeconfig.replace(tmpdir(), '/tmp').replace(/-[^-/]{6}(?=\/)/, '-XXXXXX')}`);
});

t.test('docs/cli.md: the command line is packed and installed', async (t) => {
  await pages.type(t, { ...place, folder: root }, 'docs/cli.md', 'Install');
  await prepare('kubectl config set-context --current --namespace=shop');
});

t.test('rights, GitOps, charts and large releases', async (t) => {
  await prepare('kubectl create ns acme; kubectl create ns argocd; kubectl -n argocd create cm argocd-cm');
  await prepare('kubectl -n argocd create cm argocd-notifications-cm');
  for (const page of ['docs/rights.md', 'docs/gitops.md', 'docs/notifications.md', 'docs/manifests.md'])
    await pages.type(t, place, page);
  const version = "kubectl get cm app-config -o jsonpath='{.data.version}'";
  t.match(await type(version, folder, place.env), { code: 0, output: /^shop$/ }, 'the chart was released');
  t.match(readFileSync(join(folder, 'releases/shop-42.yaml'), 'utf8'), /^kind: Transaction$/m);
});

const afresh = 'kubectl delete tx --all && kubectl apply -f shop.yaml';
const released = `${afresh} && janus apply -f deploy-v2.yaml --wait`;
const waiting = `${afresh} && kubectl create -f waiting.yaml && kubectl wait --for=jsonpath='{.status.phase}'=Committing tx/deploy-v2`;
const setVersion = (version: string): string =>
  `kubectl patch cm app-config --field-manager=their-tool -p '{"data":{"version":"${version}"}}'`;

/** What is done before a command of docs/cli.md. */
const before: Readonly<Record<string, string>> = {
  'janus apply -f app/ -R --name release-7': afresh,
  'janus plan -f deploy-v2.yaml': afresh,
  'janus apply -f deploy-v2.yaml --wait': afresh,
  'janus status deploy-v2': released,
  'janus diff deploy-v2': setVersion('2.1'),
  'janus undo deploy-v2': released,
  'janus undo --to deploy-v1': `${afresh} && janus apply -f app/ --name deploy-v1 --wait shop && janus apply -f deploy-v2.yaml --wait`,
  'janus abort deploy-v2': waiting,
  'janus retry deploy-v2': `${waiting}; ${setVersion('9')}; janus abort deploy-v2 --yes --wait || ${setVersion('1.0')}`,
  'janus completion': 'mkdir -p .local/share/bash-completion/completions .zsh/completions',
};

/** Plans and diffs end with 1 if they show something, and `janus doctor` finds no engine in the demo. */
const endsWith1 = /^janus (?:plan|doctor)(?!.*--exit-code=0)|^janus diff deploy-v2$|--plan$/;
/** In the demo kubectl has applied the objects, so a release takes its fields. */
const endsWith2 = /--strict$/;
const codeOf = (text: string): number => (endsWith2.test(text) ? 2 : Number(endsWith1.test(text)));
/** These commands ask before they begin. */
const asks = /^janus (?:undo|abort|retry)(?!.*--plan)/;

t.test('docs/cli.md: each command, with what it supposes', async (t) => {
  const blocks = ['Release manifests', 'Commands'].flatMap((section) => pages.take('docs/cli.md', section));
  for (const block of blocks.flatMap((one) => one.commands.map((command) => ({ ...one, commands: [command] })))) {
    const [{ text = '' } = {}] = block.commands;
    const [, commands = 'true'] = Object.entries(before).find(([beginning]) => text.startsWith(beginning)) ?? [];
    await prepare(commands);
    const at = { ...place, env: { ...place.env, HOME: folder }, ...(asks.test(text) ? { answer: 'y\n' } : {}) };
    await pages.typeOne(t, { ...block, exits: codeOf(text) }, at);
  }
});

t.test('docs/sabotage.md, and the copy of the sealing key', async (t) => {
  await pages.type(t, { ...place, folder: root }, 'docs/sabotage.md');
  const [key] = await pages.type(t, place, 'docs/runbooks.md', 'The sealing key is lost');
  t.match(key, /^ {2}name: janus-sealing-key$/m);
});

t.test('no command of these pages is left out', async (t) => {
  t.same(pages.left(), []);
});

t.test('Ctrl-C ends the demo', async (t) => {
  demo.interrupt();
  await demo.ended;
  t.match(demo.output(), /SIGINT: cleaning up$/);
  t.notOk(existsSync(dirname(kubeconfig)), 'nothing is left');
});
