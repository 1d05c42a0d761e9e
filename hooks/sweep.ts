// What Transactions have left behind: Leases, by a process that died between taking them and being told, or that came to be only
// after all was over; and snapshots, where somebody forced the finalizers of the Transaction off. Leases expire by themselves,
// though some only after an hour; a snapshot that keeps its finalizer would keep its namespace for ever.
import { holdsLocks } from './agenda/agenda.ts';
import type { Cluster, Resource } from './cluster.ts';
import { leaseState } from './decide/locks.ts';
import { type JsonObject, textAt } from './model/json.ts';
import { isTerminal } from './model/phase.ts';
import { transactionAnnotation } from './model/snapshot.ts';
import { parseTime } from './model/timeouts.ts';
import { decodeTransaction } from './model/transaction.ts';
import { unprotect } from './plan/snapshot.ts';
import { leaseLocation, releaseWrite } from './writes/lease.ts';
import { configMaps, engine, leases, transactions, uidLabel } from './writes/resources.ts';

/** A Lease of a Transaction at rest is nobody's once a call that takes locks anew would have told of it. */
const settlingTime = 120_000;

/**
 * Deletes expired Leases whose Transaction does not exist, and those of Transactions that have given their locks back; gives how
 * many. Trouble with the API server ends it early.
 */
export function sweepLeases(cluster: Cluster, engineNamespace: string): Promise<number> {
  return sweep(cluster, leases, engineNamespace, async (item, owner) => {
    const name = textAt(item, 'metadata', 'name') ?? '';
    const lease = await cluster.get(leaseLocation(name, engineNamespace), engine);
    if (lease.kind === 'failed' || !isStray(lease.object, owner, lease.serverTime)) return false;
    const write = releaseWrite(lease.object, engineNamespace);
    return write !== undefined && (await cluster.send(write)).kind === 'ok';
  });
}

function isStray(lease: JsonObject, owner: Owner, now: number): boolean {
  if (owner === 'gone') return leaseState(lease, 'nobody', now) === 'expired';
  return owner === 'at rest' && now > (parseTime(textAt(lease, 'spec', 'renewTime')) ?? now) + settlingTime;
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
  return sweep(cluster, configMaps, within, async (item, owner) => {
    if (owner !== 'gone') return false;
    const [namespace = '', name = ''] = [textAt(item, 'metadata', 'namespace'), textAt(item, 'metadata', 'name')];
    const found = await cluster.get({ resource: configMaps, namespace, name }, engine);
    const write = found.kind === 'ok' ? unprotect(found.object) : undefined;
    return write !== undefined && (await cluster.send(write)).kind === 'ok';
  });
}

/** What has become of the Transaction that something belongs to. */
type Owner = 'gone' | 'at rest' | 'at work' | 'unknown';

type SweepOne = (item: JsonObject, owner: Owner) => Promise<boolean>;

async function sweep(cluster: Cluster, resource: Resource, namespace: string | undefined, sweepOne: SweepOne): Promise<number> {
  const listed = await cluster.listMetadata(resource, namespace, engine, { labelSelector: uidLabel });
  if (listed.kind === 'failed') return 0;
  const owners = new Map<string, Owner>();
  let swept = 0;
  // One after the other: there is no hurry, and others have better use of the API server.
  for (const item of listed.items) {
    const uid = textAt(item, 'metadata', 'labels', uidLabel) ?? '';
    const owner = owners.get(uid) ?? (await ownerOf(cluster, item, uid));
    owners.set(uid, owner);
    if (await sweepOne(item, owner)) swept += 1;
  }
  return swept;
}

async function ownerOf(cluster: Cluster, item: JsonObject, uid: string): Promise<Owner> {
  const [namespace = '', name = ''] = (textAt(item, 'metadata', 'annotations', transactionAnnotation) ?? '').split('/');
  if (name === '') return 'unknown';
  const found = await cluster.get({ resource: transactions, namespace, name }, engine);
  if (found.kind === 'failed') return found.failure.kind === 'absent' ? 'gone' : 'unknown';
  if (textAt(found.object, 'metadata', 'uid') !== uid) return 'gone';
  const { status } = decodeTransaction(found.object);
  return status !== undefined && isTerminal(status.phase) && !holdsLocks(status) ? 'at rest' : 'at work';
}
