// Where the runs take place: a control plane that audits every write, one namespace, and three more actors beside the engine
// who can be told apart in the audit log: Metacontroller, the ServiceAccount of the Transactions, and a stranger.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sealer } from '../../hooks/cluster.ts';
import { createCluster, type KubernetesCluster } from '../../server/kubernetes/cluster.ts';
import { loadConnection } from '../../server/kubernetes/connection.ts';
import { createSealer } from '../../server/kubernetes/sealer.ts';
import { ensureSealingKeys } from '../../server/kubernetes/sealing-key.ts';
import { type ControlPlane, startControlPlane } from '../controlplane/start.ts';
import { type Client, connect, freeNamespace, must, waitFor } from '../support/client.ts';
import { engineNamespace, installManifests } from '../support/install.ts';
import { account } from '../support/stage.ts';
import { type AuditTrail, openAuditTrail, users } from './audit.ts';

export interface World {
  readonly namespace: string;
  readonly cluster: KubernetesCluster;
  readonly sealer: Sealer;
  /** Metacontroller: makes Transactions, stores statuses, removes its finalizer. */
  readonly controller: Client;
  /** Somebody who writes to the targets. */
  readonly stranger: Client;
  readonly audit: AuditTrail;
  close(): Promise<void>;
}

export async function openWorld(report?: (line: string) => void): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), 'janus-faults-'));
  const policyFile = join(directory, 'audit-policy.json');
  writeFileSync(policyFile, JSON.stringify(auditPolicy));
  const plane = await startControlPlane({ audit: { policyFile }, ...(report && { report }) });
  const close = async (): Promise<void> => {
    await plane.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    return await furnish(plane, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function furnish(plane: ControlPlane, close: () => Promise<void>): Promise<World> {
  const client = connect(plane.kubeconfig);
  await installManifests(client);
  const namespace = await freeNamespace(client, 'faults');
  must(await client.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: account } }));
  await allowEverything(client, namespace);
  const connection = loadConnection({ kubeconfig: plane.kubeconfig });
  const cluster = createCluster(connection, { writeTimeout: 10_000 });
  const keys = await waitFor(async () => {
    const answer = await ensureSealingKeys(cluster, engineNamespace);
    return answer.kind === 'ok' ? answer.keyRing : undefined;
  }, 'the sealing key');
  return {
    namespace,
    cluster,
    sealer: createSealer(() => keys),
    controller: client.asUser(users.controller),
    stranger: client.asUser(users.stranger),
    audit: openAuditTrail(plane.auditLog ?? '', `system:serviceaccount:${namespace}:${account}`),
    close: async () => {
      await cluster.close();
      await client.close();
      await close();
    },
  };
}

async function allowEverything(client: Client, namespace: string): Promise<void> {
  const subjects = [
    { kind: 'ServiceAccount', name: account, namespace },
    ...Object.values(users).map((name) => ({ kind: 'User', name, apiGroup: 'rbac.authorization.k8s.io' })),
  ];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
  const path = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
  must(await client.create(path, { metadata: { name: 'faults' }, roleRef, subjects }));
}

const written = [
  { group: '', resources: ['configmaps'] },
  { group: 'coordination.k8s.io', resources: ['leases'] },
  { group: 'tx.janus.io', resources: ['transactions', 'transactions/status'] },
];

const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'RequestResponse', verbs: ['create', 'update', 'patch', 'delete'], resources: written },
    { level: 'Metadata', verbs: ['get'], resources: [{ group: '', resources: ['configmaps'] }] },
    { level: 'None' },
  ],
};
