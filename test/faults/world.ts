// Where the runs take place: a control plane that audits every write, one namespace, and three more actors besides the engine,
// which the audit log shows apart: Metacontroller, the ServiceAccount of the Transactions, and a stranger.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sealer } from '../../hooks/objects/cluster.ts';
import { createCluster, type KubernetesCluster } from '../../server/kubernetes/cluster.ts';
import { createSealer } from '../../server/kubernetes/sealer.ts';
import { ensureSealingKeys } from '../../server/kubernetes/sealing-key.ts';
import { type ControlPlane, startControlPlane } from '../controlplane/start.ts';
import { owners } from '../generated/arbitraries.ts';
import { installWidgets as installGenerated } from '../generated/world.ts';
import { type Client, connect, freeNamespace, must, waitFor } from '../support/client.ts';
import { engineUser, writeEngineKubeconfig } from '../support/engine-identity.ts';
import { engineNamespace, installManifests } from '../support/install.ts';
import { connectionOf } from '../support/kubeconfig.ts';
import { account, pathIn } from '../support/stage.ts';
import { type AuditTrail, adversaryUser, openAuditTrail, users } from './audit.ts';
import { installWidgets } from './widgets.ts';

export interface World {
  readonly kubeconfig: string;
  readonly namespace: string;
  /** A second one. */
  readonly elsewhere: string;
  readonly cluster: KubernetesCluster;
  readonly sealer: Sealer;
  /** Metacontroller: creates Transactions, stores statuses, removes its finalizer. */
  readonly controller: Client;
  /** Somebody who writes to the targets. */
  readonly stranger: Client;
  /** Somebody with all rights on ConfigMaps and Events in `namespace`, who may read Transactions there, and nothing else. */
  readonly adversary: Client;
  readonly audit: AuditTrail;
  /** ms after which a call of the engine starts no further target; 0: each call handles one. */
  readonly callBudget: number;
  /** server/main.ts of another checkout: every second process of a site runs it. */
  readonly against?: string | undefined;
  readonly plane: ControlPlane;
  close(): Promise<void>;
}

/** ms: shorter than the deadline of a call, which is short here. */
const windows = 2_000;

export async function openWorld({
  callBudget = windows,
  against,
}: Partial<Pick<World, 'callBudget' | 'against'>> = {}): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), 'janus-faults-'));
  const policyFile = join(directory, 'audit-policy.json');
  writeFileSync(policyFile, JSON.stringify(auditPolicy));
  const plane = await startControlPlane({ audit: { policyFile } });
  const close = async (): Promise<void> => {
    await plane.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    return { ...(await furnish(plane, join(directory, 'engine.kubeconfig'), close)), callBudget, against };
  } catch (error) {
    await close();
    throw error;
  }
}

async function furnish(
  plane: ControlPlane,
  engine: string,
  close: () => Promise<void>,
): Promise<Omit<World, 'callBudget' | 'against'>> {
  const client = connect(plane.kubeconfig);
  await installManifests(client);
  const [namespace, elsewhere] = [await freeNamespace(client, 'faults'), await freeNamespace(client, 'faults')];
  for (const home of [namespace, elsewhere]) await createAccount(client, home);
  await allowEverything(client);
  await allowAdversary(client, namespace);
  await installWidgets(client);
  await installGenerated({ client, path: (suffix) => pathIn(namespace, suffix) }, { teardown: () => undefined });
  for (const name of Object.keys(owners)) must(await client.create(pathIn(namespace, 'configmaps'), { metadata: { name } }));
  await writeEngineKubeconfig(client, plane.kubeconfig, engine);
  const cluster = createCluster(connectionOf(engine), { writeTimeout: 10_000 });
  const keys = await waitFor(async () => {
    const answer = await ensureSealingKeys(cluster, engineNamespace);
    return answer.kind === 'ok' ? answer.keyRing : undefined;
  }, 'the sealing key');
  return {
    kubeconfig: plane.kubeconfig,
    namespace,
    elsewhere,
    cluster,
    sealer: createSealer(() => keys),
    controller: client.asUser(users.controller),
    stranger: client.asUser(users.stranger),
    adversary: client.asUser(adversaryUser),
    audit: openAuditTrail(plane.auditLog ?? ''),
    plane,
    close: async () => {
      await cluster.close();
      await client.close();
      await close();
    },
  };
}

export async function createAccount(client: Client, namespace: string): Promise<void> {
  must(await client.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: account } }));
}

async function allowEverything(client: Client): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io';
  const people = Object.values(users).map((name) => ({ kind: 'User', name, apiGroup }));
  const subjects = [{ kind: 'Group', name: 'system:serviceaccounts', apiGroup }, ...people];
  const roleRef = { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' };
  must(await client.create(`/apis/${apiGroup}/v1/clusterrolebindings`, { metadata: { name: 'faults' }, roleRef, subjects }));
}

const adversaryRules = [
  { apiGroups: [''], resources: ['configmaps', 'events'], verbs: ['*'] },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['*'] },
  { apiGroups: ['tx.janus.io'], resources: ['transactions'], verbs: ['get', 'list', 'watch'] },
];

async function allowAdversary(client: Client, namespace: string): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io';
  const root = `/apis/${apiGroup}/v1/namespaces/${namespace}`;
  const [metadata, subjects] = [{ name: 'adversary' }, [{ kind: 'User', name: adversaryUser, apiGroup }]];
  must(await client.create(`${root}/roles`, { metadata, rules: adversaryRules }));
  const roleRef = { apiGroup, kind: 'Role', name: 'adversary' };
  must(await client.create(`${root}/rolebindings`, { metadata, roleRef, subjects }));
}

// The requests of the engines and the actors, as the administrator, as the engine, or impersonated by one of them. Without Events,
// reviews, and the reads of the tests themselves.
const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'None', resources: [{ group: 'authorization.k8s.io' }, { group: '', resources: ['events'] }] },
    { level: 'RequestResponse', users: ['admin', engineUser], verbs: ['create', 'update', 'patch', 'delete'] },
    { level: 'None', resources: [{ group: 'tx.janus.io' }, { group: 'coordination.k8s.io' }] },
    { level: 'Metadata', users: ['admin', engineUser], verbs: ['get'] },
    { level: 'None' },
  ],
};
