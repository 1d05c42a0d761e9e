// The inventory of the cluster on the real API server: whole pages, by phase, age and unrestored objects.
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { formatTime } from '../../../hooks/objects/time.ts';
import { readPage, secondsOfAge } from '../../../server/kubernetes/tables.ts';
import { createInventory } from '../../../server/telemetry/inventory.ts';
import { freeNamespace, must, waitFor } from '../../support/client.ts';
import { connectToCluster, installManifests } from '../../support/install.ts';
import { openCluster } from '../kubernetes/real.ts';

const client = connectToCluster();
const cluster = openCluster();
t.teardown(() => Promise.all([client.close(), cluster.close()]));
await installManifests(client);
const namespace = await freeNamespace(client, 'inventory', t);
const elsewhere = await freeNamespace(client, 'inventory', t);
const inventory = createInventory(cluster.transport, { engineNamespace: namespace, namespaces: [namespace, elsewhere] });

const target = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' };
const spec = { serviceAccountName: 'deployer', changes: [{ type: 'Patch', target, content: { data: { a: '1' } } }] };

/** Its uid. */
async function transaction(where: string, name: string, status?: JsonObject): Promise<string> {
  const path = `/apis/tx.janus.io/v1alpha1/namespaces/${where}/transactions`;
  const object = { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name }, spec };
  const { metadata } = must(await client.create(path, object)) as { readonly metadata: { readonly uid: string } };
  if (status !== undefined) must(await client.patch(`${path}/${name}/status`, { status: { version: 1, ...status } }));
  return metadata.uid;
}

/** So many ms from now. */
const timeIn = (milliseconds: number): string => formatTime(Date.now() + milliseconds);

const since = (milliseconds: number): JsonObject => ({
  type: 'Reconciling',
  status: 'True',
  reason: 'Committing',
  message: '',
  lastTransitionTime: timeIn(-milliseconds),
});

/** As if that were the list of Transactions. */
const waitingAre = (...uids: string[]) => Promise.resolve({ waiting: new Set(uids) });

t.test('the inventory counts Transactions of the served namespaces by phase; one without a status is Pending', async (t) => {
  await transaction(namespace, 'new');
  await transaction(namespace, 'old', { phase: 'Committing', conditions: [since(600_000)] });
  await transaction(elsewhere, 'young', { phase: 'Committing', conditions: [since(60_000)] });
  await transaction(namespace, 'done', { phase: 'Committed' });
  await transaction(namespace, 'refused', { phase: 'Failed' });
  const left = { left: true, error: { reason: 'RollbackConflict', message: '' } };
  await transaction(elsewhere, 'left', { phase: 'Failed', items: [left] });
  const odd = { left: true, error: { reason: 'PolicyOfSomebody', message: '' } };
  await transaction(elsewhere, 'odd', { phase: 'Failed', items: [odd] });
  const found = await inventory.transactions();
  t.equal(found?.byPhase.get('Pending')?.count, 1);
  t.equal(found?.byPhase.get('Committing')?.count, 2);
  t.ok(Math.abs((found?.byPhase.get('Committing')?.oldest ?? 0) - 600) < 60);
  t.same(found?.byPhase.get('RollingBack'), { count: 0, oldest: 0 });
  t.notOk(found?.byPhase.has('Committed'));
  t.same(Object.fromEntries(found?.unrestored ?? []), { RollbackConflict: 1, Other: 1 });
});

t.test('a Transaction that waits for a gate within its timeout is active, and not old', async (t) => {
  const hours = 3_600_000;
  const waits = async (name: string, left: number): Promise<string> =>
    transaction(namespace, name, { phase: 'Committing', conditions: [since(5 * hours)], waitingUntil: timeIn(left) });
  const uid = await waits('patient', hours);
  const found = await inventory.transactions();
  t.equal(found?.byPhase.get('Committing')?.count, 3);
  t.ok((found?.byPhase.get('Committing')?.oldest ?? Number.POSITIVE_INFINITY) < hours);
  t.same([...(found?.waiting ?? [])], [uid]);
  await waits('overdue', -60_000);
  const later = await inventory.transactions();
  t.ok((later?.byPhase.get('Committing')?.oldest ?? 0) >= 5 * 3600 - 60);
  t.same([...(later?.waiting ?? [])], [uid], 'once its time is over it counts');
});

t.test('the inventory counts locks page by page, and ignores other Leases', async (t) => {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  const labels = { 'tx.janus.io/transaction-uid': 'one' };
  const suffix = (): string => randomBytes(6).toString('hex');
  for (let index = 0; index < 3; index += 1) must(await client.create(path, { metadata: { name: `lock-${suffix()}`, labels } }));
  must(await client.create(path, { metadata: { name: 'of-another' } }));
  const old = async (uid: string): Promise<number> => {
    const holderIdentity = `${namespace}/patient/${uid}`;
    const lease = must(await client.create(path, { metadata: { name: `lock-${suffix()}`, labels }, spec: { holderIdentity } }));
    return Date.parse(textAt(lease, 'metadata', 'creationTimestamp') ?? '');
  };
  const created = await old('its-uid');
  const isASecondOld = async (): Promise<boolean> => ((await inventory.locks(waitingAre()))?.oldest ?? 0) >= 1;
  await waitFor(isASecondOld, `the lock of ${formatTime(created)} to be a second old`);
  t.equal((await inventory.locks(waitingAre()))?.count, 4);
  const holders = waitingAre('its-uid', '');
  t.same(await inventory.locks(holders), { count: 4, oldest: 0 }, 'locks of those that wait for a gate are held, and not old');
  t.ok(((await inventory.locks(waitingAre('its-uid')))?.oldest ?? 0) >= 1, 'the locks of other Transactions count');
  t.equal(await inventory.locks(Promise.resolve(undefined)), undefined, 'whose they are must be known');
});

t.test('the inventory returns the version of a Transaction while its uid matches', async (t) => {
  const { items } = await client.list(`/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions`);
  const uidOf = (name: string): string => {
    const found = items.map(({ metadata }) => metadata as { readonly name: string; readonly uid: string });
    return found.find((metadata) => metadata.name === name)?.uid ?? '';
  };
  t.equal(await inventory.version({ namespace, name: 'old', uid: uidOf('old') }), 1);
  t.equal(await inventory.version({ namespace, name: 'new', uid: uidOf('new') }), 0);
  t.equal(await inventory.version({ namespace, name: 'old', uid: 'another' }), 'gone');
  t.equal(await inventory.version({ namespace, name: 'none', uid: 'none' }), 'gone');
});

t.test('the inventory reports no value, not zero, if the API server refuses', async (t) => {
  const refused = createInventory(
    {
      ...cluster.transport,
      request: (request) => cluster.transport.request(request, { kind: 'serviceAccount', namespace, name: 'default' }),
    },
    { engineNamespace: namespace, namespaces: [] },
  );
  t.equal(await refused.transactions(), undefined);
  t.equal(await refused.locks(waitingAre()), undefined);
  t.equal(await refused.version({ namespace, name: 'old', uid: '' }), undefined);
});

t.test('a page has a continuation if more pages exist', async (t) => {
  const resource = {
    group: '',
    version: 'v1',
    plural: 'namespaces',
    kind: 'Namespace',
    namespaced: false,
    verbs: [],
    statusSubresource: true,
  };
  const few = {
    ...cluster.transport,
    request: (request: Parameters<typeof cluster.transport.request>[0]) =>
      cluster.transport.request({ ...request, query: { ...request.query, limit: '1' } }, { kind: 'engine' }),
  };
  const first = await readPage(few, { resource, namespace: undefined });
  const second = first.kind === 'ok' ? await readPage(few, { resource, namespace: undefined }, first.next) : first;
  t.equal(first.kind === 'ok' && first.rows.length, 1);
  t.equal(second.kind === 'ok' && second.rows.length, 1);
  t.not(first.kind === 'ok' && first.rows[0]?.cell('Name'), second.kind === 'ok' && second.rows[0]?.cell('Name'));
});

t.test('the inventory formats ages', async (t) => {
  for (const [text, seconds] of [
    ['45s', 45],
    ['5m10s', 310],
    ['3h', 10_800],
    ['3d4h', 273_600],
    ['<unknown>', undefined],
    ['', undefined],
  ] as const)
    t.equal(secondsOfAge(text), seconds, text);
});
