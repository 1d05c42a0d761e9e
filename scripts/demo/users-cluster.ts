// Runs the demo in a cluster of the user (`--kubeconfig`). It checks versions and rights, asks, installs, and removes all its objects. The
// hook and its loop run on this machine. If an object exists already, the demo refuses, and does not touch it.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { at, textAt } from '../../hooks/objects/json.ts';
import { type Client, connect, must, waitFor } from '../../test/support/client.ts';
import { pathOf, readManifest } from '../../test/support/install.ts';
import type { DemoOptions } from './options.ts';
import { explain, heading, progress } from './terminal.ts';
import type { Undo } from './undo.ts';
import { install, type World } from './world.ts';

const engine = ['crds/transactions.tx.janus.io.yaml', 'namespace.yaml', 'rbac.yaml', 'admission.yaml', 'admission-spec.yaml'];
const shop = ['examples/shop.yaml', '../examples/rollback/change-freeze.yaml'];
/** The first minor version of Kubernetes 1 that serves what manifests/ uses. */
const oldest = 30;

export async function openUsersWorld(undo: Undo, options: DemoOptions): Promise<World> {
  const { kubeconfig, url } = privateCopy(undo, options.kubeconfig ?? '');
  const client = connect(kubeconfig);
  undo.add(() => client.close());
  await requireVersion(client);
  await requireRights(client, options.kubeconfig ?? '');
  const paths = await requireAbsent(client);
  heading('Getting ready');
  await ask(url, options.yes);
  undo.add(() => removeAll(client, paths));
  const world = await install({ client, kubeconfig }, undo, { asInPod: false, loop: 'double' });
  // The loop removes their finalizer, so they must be deleted while it runs.
  undo.add(() => removeTransactions(client));
  return world;
}

/** A kubeconfig with only the current context, in a folder of its own. Other kubeconfigs are written beside it. */
function privateCopy(undo: Undo, file: string): { readonly kubeconfig: string; readonly url: string } {
  if (!existsSync(file)) throw new Error(`--kubeconfig: expected a file, found none at ${file}.`);
  const config = new KubeConfig();
  config.loadFromFile(file);
  const [cluster, user] = [config.getCurrentCluster(), config.getCurrentUser()];
  if (cluster === null || user === null)
    throw new Error(`--kubeconfig: the current context of ${file} names no cluster or no user; set one.`);
  const directory = mkdtempSync(join(tmpdir(), 'janus-demo-'));
  undo.add(async () => rmSync(directory, { recursive: true, force: true }));
  const own = new KubeConfig();
  own.loadFromClusterAndUser(cluster, user);
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, own.exportConfig(), { mode: 0o600 });
  return { kubeconfig, url: cluster.server };
}

async function requireVersion(client: Client): Promise<void> {
  const answer = await client.get('/version').catch((error: unknown) => {
    throw new Error(`--kubeconfig: ${client.url} does not answer: ${error instanceof Error ? error.message : error}.`);
  });
  if (answer.code !== 200)
    throw new Error(`--kubeconfig: expected ${client.url} to accept the user of the kubeconfig, it answered ${answer.code}.`);
  const found = textAt(answer.body, 'gitVersion') ?? '';
  const [major = 0, minor = 0] = (/^v(\d+)\.(\d+)/.exec(found) ?? []).slice(1).map(Number);
  if (major < 2 && minor < oldest)
    throw new Error(`--kubeconfig: expected Kubernetes 1.${oldest} or later at ${client.url}, found ${found || 'no version'}.`);
}

/** Only an administrator may create a CRD, and roles with `impersonate`. */
async function requireRights(client: Client, file: string): Promise<void> {
  const spec = { resourceAttributes: { group: '*', resource: '*', verb: '*' } };
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec };
  const answer = await client.create('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review);
  if (at(answer.body, 'status', 'allowed') !== true)
    throw new Error(
      `--kubeconfig: expected the rights of an administrator of ${client.url}, whom ${file} does not name: nothing was changed.`,
    );
}

/** The paths of objects that the demo creates, except those that are deleted with its namespaces. */
async function requireAbsent(client: Client): Promise<readonly string[]> {
  const objects = (await Promise.all([...engine, ...shop].map((path) => readManifest(path)))).flat();
  const paths = await Promise.all(
    objects.filter((object) => textAt(object, 'metadata', 'namespace') === undefined).map((object) => pathOf(client, object)),
  );
  for (const path of paths)
    if ((await client.get(path)).code !== 404)
      throw new Error(
        `--kubeconfig: ${client.url}${path} exists already, and the demo removes what it creates: use another cluster.`,
      );
  return paths;
}

async function ask(url: string, yes: boolean): Promise<void> {
  explain(`In ${url} the demo creates the CRD of Transactions, the namespaces janus-system and shop, a ClusterRole with the right to
    impersonate ServiceAccounts, and three admission policies, one of which refuses changes of ConfigMaps in shop. It removes
    all of it at its end, and every Transaction.`);
  if (yes) return;
  if (!process.stdin.isTTY) throw new Error('expected --yes, because there is no terminal to ask: nothing was changed.');
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await lines.question('Go on? [y/N] ');
  lines.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('the demo was declined: nothing was changed.');
}

async function removeTransactions(client: Client): Promise<void> {
  const list = () => client.list('/apis/tx.janus.io/v1alpha1/transactions');
  for (const item of (await list()).items) await client.delete(await pathOf(client, item));
  await waitFor(async () => (await list()).items.length === 0, 'the Transactions to be gone', { timeoutMs: 60_000 });
}

/** Deletes namespaces last, except for the CRD: they hold the objects that remove a Transaction. */
async function removeAll(client: Client, paths: readonly string[]): Promise<void> {
  for (const path of paths.toReversed()) await removed(client, path);
  progress(`removed from ${client.url} what the demo had created`);
}

async function removed(client: Client, path: string): Promise<void> {
  const isGone = async (): Promise<boolean> => (await client.get(path)).code === 404;
  const answer = await client.delete(path);
  if (answer.code !== 404) must(answer);
  await waitFor(isGone, `${path} to be gone`, { timeoutMs: 120_000 });
}
