// The first three acts: one Transaction commits, a second is rolled back, and the first is undone on request.
import { targetIn } from '../../cli/show/view.ts';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { at, isList, isObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { type Client, must, waitFor } from '../../test/support/client.ts';
import { applyObject, engineNamespace, readManifest } from '../../test/support/install.ts';
import { conditionOf } from '../../test/support/stage.ts';
import type { Checks } from './checks.ts';
import { compareAgain, imageOf, look, picture, type Shop } from './shop.ts';
import { explain, heading, literal, print, table } from './terminal.ts';
import { watchTransaction } from './watch.ts';
import type { World } from './world.ts';

const deployV2 = 'examples/deploy-v2.yaml';
const deployV3 = '../examples/rollback/deploy-v3.yaml';
const changeFreeze = '../examples/rollback/change-freeze.yaml';
const transactions = '/apis/tx.janus.io/v1alpha1/namespaces/shop/transactions';

export async function commit(world: World, checks: Checks): Promise<void> {
  const { client } = world;
  heading('1. All or nothing: all');
  explain(`Version 2 of a small shop means three changes to three objects. One Transaction lists them
    (manifests/examples/deploy-v2.yaml): two ordinary manifests to apply, and one object to delete. Kubernetes stores it like any
    other object. The engine locks the three objects, tries every change as a dry run, stores what a rollback would need, and then
    makes the changes in their order. If an object did not exist, its Apply would create it.`);
  print();
  literal(await changesOf(deployV2));
  print();
  const before = await look(client);
  table(['OBJECT', 'FIELD', 'BEFORE'], picture(before));
  print();
  const { status, phases } = await watchTransaction(world, await create(client, deployV2));
  print();
  const after = await look(client);
  showChanges(before, after);
  print();
  checks.that('deploy-v2 is Committed', textAt(status, 'phase') === 'Committed', status);
  checks.that('its condition Succeeded is True', conditionOf(status, 'Succeeded') === 'True', status);
  checks.that(
    'everything was prepared before anything was changed',
    isInOrder(phases, ['Pending', 'Prepared', 'Committed']),
    phases,
  );
  checkVersion2(checks, after);
  await checkLocks(checks, client);
}

export async function rollBack(world: World, checks: Checks): Promise<void> {
  const { client } = world;
  heading('2. All or nothing: nothing');
  explain(`Version 3 (examples/rollback/deploy-v3.yaml) also changes a banner. But there is a change freeze
    (examples/rollback/change-freeze.yaml): the API server will refuse to change the banner. Its rule ignores dry runs, so the
    refusal comes only with the third change, after the first two are applied. The engine must then roll back.`);
  print();
  literal(await changesOf(deployV3));
  print();
  await freeze(client);
  const before = await look(client);
  const { status, phases } = await watchTransaction(world, await create(client, deployV3));
  print();
  showChanges(before, await look(client));
  print();
  checks.that('deploy-v3 is RolledBack', textAt(status, 'phase') === 'RolledBack', status);
  checks.that(
    'two changes were applied before the rollback',
    isInOrder(phases, ['Prepared', 'RollingBack', 'RolledBack']) &&
      textAt(status, 'message')?.startsWith('rolled back 2 changes') === true,
    [...phases, textAt(status, 'message')],
  );
  checks.that('its message says why', textAt(status, 'message')?.includes('change freeze') === true, textAt(status, 'message'));
  await checkAsBefore(checks, client, before);
  await checkLocks(checks, client);
}

export async function undo(world: World, checks: Checks, beginning: Shop): Promise<void> {
  const { client } = world;
  heading('3. Second thoughts');
  explain(`A Transaction that is Committed can still be undone, as long as it exists: an annotation requests it. The
    engine restores the former values and owners of the applied fields, and recreates the deleted Secret.`);
  print();
  literal('kubectl -n shop annotate tx deploy-v2 tx.janus.io/request-rollback=demo');
  print();
  const before = await look(client);
  const { status } = await watchTransaction(world, await requestRollback(client), rollbackRequest);
  print();
  showChanges(before, await look(client));
  print();
  checks.that('deploy-v2 is RolledBack', textAt(status, 'phase') === 'RolledBack', status);
  await checkAsBefore(checks, client, beginning);
  await checkLocks(checks, client);
}

/** Creates the Transaction of a file, and returns the stored object. */
export async function create(client: Client, path: string): Promise<JsonObject> {
  const [transaction = {}] = await readManifest(path);
  return must(await client.create(transactions, transaction));
}

const rollbackRequest = { name: 'tx.janus.io/request-rollback', value: 'demo' };

async function requestRollback(client: Client): Promise<JsonObject> {
  const annotations = { [rollbackRequest.name]: rollbackRequest.value };
  return must(await client.patch(`${transactions}/deploy-v2`, { metadata: { annotations } }));
}

export async function changesOf(path: string): Promise<string> {
  const [transaction] = await readManifest(path);
  const changes = at(transaction, 'spec', 'changes');
  const lines = (isList(changes) ? changes : []).map((change, index) => {
    const { kind, name } = targetIn(change);
    const gate = at(change, 'gate') === undefined ? '' : `, gate: ${JSON.stringify(at(change, 'gate'))}`;
    return `${index + 1}. ${textAt(change, 'type')?.padEnd(6)} ${`${kind} ${name}`.padEnd(22)} ${contentOf(change)}${gate}`.trimEnd();
  });
  return [`Transaction ${textAt(transaction, 'metadata', 'name')}`, ...lines].join('\n');
}

function contentOf(change: Parameters<typeof textAt>[0]): string {
  const [data, containers] = [at(change, 'content', 'data'), at(change, 'content', 'spec', 'template', 'spec', 'containers')];
  if (isObject(data))
    return Object.entries(data)
      .map(([key, value]) => `data.${key}: ${value}`)
      .join(', ');
  return isList(containers) ? `image: ${textAt(containers[0], 'image')}` : '';
}

/** Creates the policy for namespaces of the demo only. Resolves when the API server enforces it, which another banner shows. */
async function freeze(client: Client): Promise<void> {
  for (const object of await readManifest(changeFreeze)) must(await applyObject(client, inNamespacesOfTheDemo(object)));
  const elsewhere = `/api/v1/namespaces/${engineNamespace}/configmaps`;
  must(await client.create(elsewhere, { metadata: { name: 'banner' } }));
  let tries = 0;
  await waitFor(async () => {
    tries += 1;
    return (await client.patch(`${elsewhere}/banner`, { data: { tries: String(tries) } })).code === 422;
  }, 'the change freeze to be in force');
  await client.delete(`${elsewhere}/banner`);
}

function inNamespacesOfTheDemo(object: JsonObject): JsonObject {
  if (object.kind !== 'ValidatingAdmissionPolicy') return object;
  const values = ['shop', engineNamespace];
  const matchExpressions = [{ key: 'kubernetes.io/metadata.name', operator: 'In', values }];
  return withPath(object, ['spec', 'matchConstraints', 'namespaceSelector'], { matchExpressions });
}

export function showChanges(before: Shop, after: Shop): void {
  const now = picture(after);
  const rows = picture(before).map((row, index) => [...row, now[index]?.[2] ?? '']);
  table(['OBJECT', 'FIELD', 'BEFORE', 'AFTER'], rows, true);
}

function checkVersion2(checks: Checks, shop: Shop): void {
  const config = shop['ConfigMap app-config'];
  const [version = '', greeting = ''] = [textAt(config, 'data', 'version'), textAt(config, 'data', 'greeting')];
  const image = imageOf(shop['Deployment web-server']);
  checks.that('app-config has version 2.0', version === '2.0', version);
  checks.that('its greeting, which no manifest names, is untouched', greeting === 'Welcome', greeting);
  checks.that('web-server has image nginx:1.29', image === 'nginx:1.29', image);
  checks.that('old-api-key is gone', shop['Secret old-api-key'] === undefined, 'it exists');
}

export async function checkAsBefore(checks: Checks, client: Client, before: Shop): Promise<void> {
  for (const name of Object.keys(before)) {
    const { equal, differences } = await compareAgain(client, name, before);
    const what = before[name] === undefined ? 'is absent, as before' : 'is exactly as before, its managedFields included';
    checks.that(`${name} ${what}`, equal, differences);
  }
}

export async function checkLocks(checks: Checks, client: Client): Promise<void> {
  const { items } = await client.list(`/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`);
  const names = items.map((lease: JsonObject) => textAt(lease, 'metadata', 'name'));
  checks.that('no lock is left', names.length === 0, names);
}

/** Whether all of `expected` were seen, in this order. */
export function isInOrder(seen: readonly string[], expected: readonly string[]): boolean {
  const found = seen.filter((phase, index) => expected.includes(phase) && phase !== seen[index - 1]);
  return found.join() === expected.join();
}
