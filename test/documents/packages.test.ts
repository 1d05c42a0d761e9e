// The commands of docs/packages.md and of its runbooks, typed in a cluster with package transactions, a registry and Metacontroller's loops.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { must, waitFor } from '../support/client.ts';
import { type } from '../support/kubectl.ts';
import { startOwnLoops } from '../support/package-loops.ts';
import { packagePath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { readDocument, root } from '../support/pages.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { openPages } from '../support/typing.ts';

t.setTimeout(600_000);

const pages = openPages('test/documents/packages.test.ts');
const world = await startPackageWorld(t, { environment: { JANUS_PACKAGES_OWN: 'annotated' } });
await startOwnLoops(t, { kubeconfig: world.plane.kubeconfig, hookUrls: [world.hook.url] });
await world.publish({ name: 'provider-aws-s3', tag: 'v1.0.0', objects: [definitionOf('buckets', 's3.example.org')] });
await world.publish({ name: 'lonely', tag: 'v1.0.0', requires: { 'provider-aws-s3': '>=v2.0.0' } });

const [example = '', applied = ''] = [...readDocument('docs/packages.md').matchAll(/```yaml\n(apiVersion: pkg[\s\S]*?)```/g)].map(
  ([, text = '']) => text.replace(/registry\.example\.org\/acme\/provider-aws-s3(?=:)/, world.source('provider-aws-s3')),
);
const snapshot = `apiVersion: pkg.crossplane.io/v1
kind: Provider
metadata: { name: provider-aws-s3 }
spec: { package: '${world.source('provider-aws-s3')}:v1.0.0' }
`;
const folder = t.testdir({ 's3-v1.yaml': example, 'provider.yaml': applied, 'snapshot.yaml': snapshot, live: {}, '.kube': {} });
cpSync(world.plane.kubeconfig, join(folder, '.kube/config'));
const env = { KUBECONFIG: world.plane.kubeconfig };

t.test('docs/packages.md: a Package is applied, and installed, and deleted', async (t) => {
  const section = 'Packages that make their own package transactions';
  const [printed] = await pages.type(t, { folder, env }, 'docs/packages.md', section);
  t.match(printed, /^provider-aws-s3 +True .*ActivePackageRevision/m);
  t.match(printed, /^provider.pkg.crossplane.io "provider-aws-s3" deleted/m);
});

t.test('docs/packages.md: a package is installed', async (t) => {
  const [printed] = await pages.type(t, { folder, env }, 'docs/packages.md', 'Install a package');
  t.match(printed, /^s3-v1 .*Succeeded/m);
});

t.test('docs/packages.md: a tree is inspected, against files and against the cluster', async (t) => {
  const files = 'kubectl get locks.pkg.crossplane.io lock -o yaml > lock.yaml && kubectl get crd -o yaml > live/crds.yaml';
  t.match(await type(files, folder, env), { code: 0 });
  // A script of npm begins in the checkout, and the files of the reader are elsewhere.
  const as = (text: string): string => text.replaceAll(/(?<= )(?:snapshot|lock|live)\b/g, `${folder}/$&`);
  const place = { folder: root, env: { HOME: folder }, as };
  const [printed] = await pages.type(t, place, 'docs/packages.md', 'Inspect a tree');
  t.match(printed, /provider-aws-s3.*v1\.0\.0/);
});

t.test('docs/runbooks.md: package transactions are inspected and removed', async (t) => {
  await world.install('lonely', `${world.source('lonely')}:v1.0.0`, { packageName: 'lonely', retryLimit: 1 });
  await world.finished('lonely');
  const printed = async (section: string, NAME: string): Promise<string> =>
    (await pages.type(t, { folder, env: { ...env, NAME } }, 'docs/runbooks.md', section)).join('\n');
  t.match(await printed('JanusPackageFailed', 'lonely'), /^Finished True /m);
  t.match(await printed('JanusPackageStuck', 'lonely'), /^s3-v1 /m);
  const removed = await printed('JanusPackageRollbackIncomplete', 's3-v1');
  t.match(removed, /^transaction.tx.janus.io "\S+" deleted/m, 'its stages');
  t.match(removed, /^transaction.pkg.crossplane.io "s3-v1" deleted/m);
});

t.test('docs/runbooks.md: a Package that is not installed, and one that stays Terminating, say why', async (t) => {
  const metadata = { name: 'alone', annotations: { 'pkg.crossplane.io/own-transactions': 'true' } };
  const spec = { package: `${world.source('lonely')}:v1.0.0` };
  const { client } = world;
  must(await client.create(packagePath('providers'), { apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', metadata, spec }));
  const printed = async (section: string, PACKAGE: string): Promise<string> =>
    (await pages.type(t, { folder, env: { ...env, PACKAGE } }, 'docs/runbooks.md', section)).join('\n');
  const isRefused = async (): Promise<boolean> => {
    const { body } = await client.get(packagePath('providers', 'alone'));
    return conditionIn(statusOf(body), 'Installed')?.status === 'False';
  };
  await waitFor(isRefused, 'the Package to say why', { timeoutMs: 300_000 });
  // A try that has just begun again has no reason yet.
  const saysWhy = async (): Promise<boolean> =>
    /Package transaction tx-alone-\w+: .*provider-aws-s3/.test(await printed('JanusPackageNotInstalled', 'provider/alone'));
  t.ok(await waitFor(saysWhy, 'the package transaction to say why', { timeoutMs: 300_000 }));
  t.match(await printed('JanusPackageTerminating', 'provider/alone'), /^tx-alone-\w+ /m);
});

t.test('no command of these pages is left out', async (t) => {
  t.same(pages.left(), []);
});
