// The rights of the engine, and what it did with them, from the audit log of an API server of its own: every right is used, none is
// missing, every request goes where it should, and each write to a target has its line in the log of the engine.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { at, isList, type JsonObject, parseJson, textAt } from '../../hooks/objects/json.ts';
import { sweepLeases, sweepSnapshots } from '../../hooks/transactions/sweep.ts';
import { createCluster } from '../../server/kubernetes/cluster.ts';
import { createInventory } from '../../server/telemetry/inventory.ts';
import { must, waitFor } from '../support/client.ts';
import { sealerOf } from '../support/engine.ts';
import { engineUser } from '../support/engine-identity.ts';
import { engineNamespace, readManifest } from '../support/install.ts';
import { connectionOf } from '../support/kubeconfig.ts';
import { ownControlPlane } from '../support/own-control-plane.ts';
import { snapshotNamesOf } from '../support/snapshots.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { stepToEnd, stepUntil, stepUntilGone } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';

interface Asked {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uri: string;
  readonly code: number;
  readonly isDryRun: boolean;
  /** The user that it acted as, if another. */
  readonly as: string | undefined;
}

function askedBy(path: string, user: string): readonly Asked[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseJson(line))
    .filter((event) => textAt(event, 'user', 'username') === user)
    .map((event) => ({
      verb: textAt(event, 'verb') ?? '',
      group: textAt(event, 'objectRef', 'apiGroup') ?? '',
      resource: textAt(event, 'objectRef', 'resource') ?? '',
      namespace: textAt(event, 'objectRef', 'namespace') ?? '',
      name: textAt(event, 'objectRef', 'name') ?? '',
      uri: textAt(event, 'requestURI') ?? '',
      code: Number(at(event, 'responseStatus', 'code')),
      // A DELETE says so in its body, all others in the query.
      isDryRun: at(event, 'requestObject', 'dryRun') !== undefined || (textAt(event, 'requestURI') ?? '').includes('dryRun='),
      as: textAt(event, 'impersonatedUser', 'username'),
    }));
}

/** All that the engine does, on one stage: commits, undoes, waits, times out, sweeps, reports. */
async function live(stage: Stage): Promise<void> {
  const green = { data: { color: 'green' } };
  await createConfigMaps(stage, ['one', 'two', 'three']);
  must(await stage.client.create(stage.path('secrets'), { metadata: { name: 'key' }, stringData: { color: 'blue' } }));
  await stage.transaction('first', [
    change('Patch', 'one', green),
    change('Create', 'made', green),
    change('Delete', 'two'),
    change('Update', 'key', { stringData: { color: 'green' } }, { kind: 'Secret' }),
  ]);
  await stepToEnd(stage, 'first');
  await stage.annotate('first', { 'tx.janus.io/request-rollback': 'yes' });
  await stepUntil(stage, 'first', 'RolledBack');
  await stepToEnd(stage, 'first');
  await stage.transaction('brief', [change('Patch', 'three', green)], {
    spec: { ttlSecondsAfterFinished: 0, lockTimeout: '30s' },
  });
  await stepUntilGone(stage, 'brief');
  await leaveBehind(stage);
  await leftover(stage);
}

/** A Lease and a snapshot of a Transaction whose finalizers were forced off. */
async function leaveBehind(stage: Stage): Promise<void> {
  const { client } = stage;
  await stage.transaction('forced', [change('Patch', 'three', { data: { color: 'red' } })]);
  await stepUntil(stage, 'forced', 'Prepared');
  const path = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/forced`;
  must(await client.delete(path));
  await client.patch(path, { metadata: { finalizers: null } });
  await waitFor(async () => (await client.get(path)).code === 404, 'the Transaction to be gone');
  const [lease = ''] = await stage.leases();
  const renewTime = '2020-01-01T00:00:00.000000Z';
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`;
  must(await client.patch(`${leases}/${lease}`, { spec: { renewTime } }));
  // Expired: it is taken over. Then all that is left is swept.
  await stage.transaction('next', [change('Patch', 'three', { data: { color: 'red' } })]);
  await stepToEnd(stage, 'next');
  must(await client.create(leases, abandoned(stage, renewTime)));
  const cluster = createCluster(connectionOf(stage.engineKubeconfig), { writeTimeout: 10_000 });
  await sweepLeases(cluster, engineNamespace);
  await sweepSnapshots(cluster, await sealerOf(cluster));
  const census = createInventory(cluster.transport, { engineNamespace, namespaces: [] });
  await census.locks(census.transactions());
  await cluster.close();
}

function abandoned({ namespace }: Stage, renewTime: string): JsonObject {
  const labels = { 'tx.janus.io/transaction-uid': 'gone' };
  const annotations = { 'tx.janus.io/transaction': `${namespace}/gone` };
  const spec = { holderIdentity: `${namespace}/gone/gone`, leaseDurationSeconds: 3_600, renewTime };
  return { metadata: { name: 'janus-lock-abandoned', labels, annotations }, spec };
}

/** Something that lies where the snapshot belongs, as an adversary leaves it who has seen an earlier one. */
async function leftover(stage: Stage): Promise<void> {
  await stage.transaction('late', [change('Patch', 'one', { data: { color: 'red' } })]);
  await stepUntil(stage, 'late', 'Preparing');
  const [name = ''] = await snapshotNamesOf(stage, 'late');
  must(await stage.client.create(stage.path('configmaps'), { metadata: { name } }));
  await stepToEnd(stage, 'late');
}

function rightsOf(role: JsonObject): readonly string[] {
  const words = (rule: JsonObject, key: string): readonly string[] => (rule[key] ?? []) as readonly string[];
  const rules = at(role, 'rules');
  return (isList(rules) ? (rules as readonly JsonObject[]) : []).flatMap((rule) =>
    words(rule, 'resources').flatMap((resource) =>
      words(rule, 'verbs').map((verb) => `${verb} ${resource}${role.kind === 'Role' ? ` in ${engineNamespace}` : ''}`),
    ),
  );
}

t.test('the audit log shows that the engine uses exactly its rights', async (t) => {
  const plane = await ownControlPlane(t, { audit: 'Request' });
  const log: string[] = [];
  await t.test('the engine runs every operation', async (t) => {
    const stage = await startStage(t, { withoutLoop: true, logTo: { write: (line) => void log.push(line) } });
    await live(stage);
    await waitFor(async () => (await stage.client.list(stage.path('events'))).items.length > 3, 'the Events');
  });
  const asked = askedBy(plane.auditLog ?? '', engineUser);
  const own = asked.filter(({ as, resource }) => as === undefined && resource !== '');
  const acted = asked.filter(({ as }) => as !== undefined);

  await t.test('the engine uses every right, and misses no right', async (t) => {
    const locked = ['leases', 'secrets'];
    const used = new Set(
      own.map(({ verb, resource }) => `${verb} ${resource}${locked.includes(resource) ? ` in ${engineNamespace}` : ''}`),
    );
    if (acted.length > 0) used.add('impersonate serviceaccounts');
    const roles = (await readManifest('rbac.yaml')).filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');
    t.same([...used].sort(), roles.flatMap(rightsOf).sort());
    t.same(
      own.filter(({ code }) => code === 403),
      [],
      'nothing is refused',
    );
    const elsewhere = own.filter(({ resource, namespace }) => locked.includes(resource) && namespace !== engineNamespace);
    t.same(elsewhere, [], 'Leases and Secrets in its own namespace only');
  });

  await t.test('the engine sends every request to an allowed place', async (t) => {
    t.ok(acted.length > 20);
    for (const { as, uri } of asked) {
      t.match(as ?? 'system:serviceaccount:a:b', /^system:serviceaccount:[a-z0-9-]+:[a-z0-9.-]+$/);
      t.match(uri, /^\/(?:api|apis|version|openapi)(?:$|[/?])/);
      t.notMatch(uri.split('?')[0], /\.\.|%2f|\/\//i);
    }
  });

  await t.test('the audit log has one line for each write to a target', async (t) => {
    const isWrite = ({ verb, resource, isDryRun }: Asked): boolean =>
      ['create', 'update', 'patch', 'delete'].includes(verb) && !isDryRun && resource !== 'selfsubjectaccessreviews';
    const verbs: Readonly<Record<string, string>> = { patch: 'apply' };
    const written = acted
      .filter(isWrite)
      .map(({ verb, resource, code }) => `${verbs[verb] ?? verb} ${resource} ${code < 300 ? 'ok' : 'refused'}`);
    const lines = log.map((line) => parseJson(line)).filter((line) => at(line, 'audit') === true);
    const audited = lines.map(
      (line) => `${textAt(line, 'verb')} ${textAt(line, 'resource')} ${textAt(line, 'outcome') === 'ok' ? 'ok' : 'refused'}`,
    );
    t.ok(written.length >= 8, `${written.length} writes`);
    t.same(audited.sort(), written.sort());
  });
});
