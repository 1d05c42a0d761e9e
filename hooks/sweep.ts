// What Transactions that are no more have left behind: Leases, by a process that died between taking them and being told, and
// snapshots, where somebody forced the finalizers of the Transaction off. Leases expire by themselves; a snapshot that keeps its
// finalizer would keep its namespace for ever.
import type { Cluster, Resource } from './cluster.ts';
import { leaseState } from './decide/locks.ts';
import { type JsonObject, textAt } from './model/json.ts';
import { transactionAnnotation } from './model/snapshot.ts';
import { unprotect } from './plan/snapshot.ts';
import { leaseLocation, releaseWrite } from './writes/lease.ts';
import { configMaps, engine, leases, transactions, uidLabel } from './writes/resources.ts';

/** Deletes expired Leases whose Transaction does not exist; gives how many. Trouble with the API server ends it early. */
export function sweepLeases(cluster: Cluster, engineNamespace: string): Promise<number> {
  return sweep(cluster, leases, engineNamespace, async (item) => {
    const name = textAt(item, 'metadata', 'name') ?? '';
    const lease = await cluster.get(leaseLocation(name, engineNamespace), engine);
    if (lease.kind === 'failed' || leaseState(lease.object, 'nobody', lease.serverTime) !== 'expired') return false;
    const write = releaseWrite(lease.object, engineNamespace);
    return write !== undefined && (await cluster.send(write)).kind === 'ok';
  });
}

/**
 * Takes our finalizer off snapshots whose Transaction does not exist, so that they can be collected; gives how many. Looks into
 * these namespaces, or into all where none is named.
 */
export async function sweepSnapshots(cluster: Cluster, namespaces: readonly string[] = []): Promise<number> {
  let swept = 0;
  for (const namespace of namespaces.length === 0 ? [undefined] : namespaces) swept += await sweepSnapshotsIn(cluster, namespace);
  return swept;
}

function sweepSnapshotsIn(cluster: Cluster, within: string | undefined): Promise<number> {
  return sweep(cluster, configMaps, within, async (item) => {
    const [namespace = '', name = ''] = [textAt(item, 'metadata', 'namespace'), textAt(item, 'metadata', 'name')];
    const found = await cluster.get({ resource: configMaps, namespace, name }, engine);
    const write = found.kind === 'ok' ? unprotect(found.object) : undefined;
    return write !== undefined && (await cluster.send(write)).kind === 'ok';
  });
}

type SweepOne = (item: JsonObject) => Promise<boolean>;

async function sweep(cluster: Cluster, resource: Resource, namespace: string | undefined, sweepOne: SweepOne): Promise<number> {
  const listed = await cluster.listMetadata(resource, namespace, engine, { labelSelector: uidLabel });
  if (listed.kind === 'failed') return 0;
  let swept = 0;
  // One after the other: there is no hurry, and others have better use of the API server.
  for (const item of listed.items) if ((await isOrphan(cluster, item)) && (await sweepOne(item))) swept += 1;
  return swept;
}

async function isOrphan(cluster: Cluster, item: JsonObject): Promise<boolean> {
  const [namespace = '', name = ''] = (textAt(item, 'metadata', 'annotations', transactionAnnotation) ?? '').split('/');
  if (name === '') return false;
  const found = await cluster.getMetadata({ resource: transactions, namespace, name }, engine);
  if (found.kind === 'failed') return found.failure.kind === 'absent';
  return textAt(found.object, 'metadata', 'uid') !== textAt(item, 'metadata', 'labels', uidLabel);
}
