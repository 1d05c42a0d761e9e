// Leases of Transactions that are no more: left by a process that died between taking them and being told. They expire by
// themselves; sweeping keeps the engine's namespace small.
import type { Cluster } from './cluster.ts';
import { leaseState } from './decide/locks.ts';
import { type JsonObject, textAt } from './model/json.ts';
import { leaseLocation, releaseWrite } from './writes/lease.ts';
import { engine, leases, transactions, uidLabel } from './writes/resources.ts';

/** Deletes expired Leases whose Transaction does not exist; gives how many. Trouble with the API server ends it early. */
export async function sweepLeases(cluster: Cluster, engineNamespace: string): Promise<number> {
  const listed = await cluster.listMetadata(leases, engineNamespace, engine, { labelSelector: uidLabel });
  if (listed.kind === 'failed') return 0;
  let swept = 0;
  // One after the other: there is no hurry, and others have better use of the API server.
  for (const item of listed.items) if (await sweepOne(cluster, item, engineNamespace)) swept += 1;
  return swept;
}

async function sweepOne(cluster: Cluster, item: JsonObject, engineNamespace: string): Promise<boolean> {
  if (!(await isOrphan(cluster, item))) return false;
  const name = textAt(item, 'metadata', 'name') ?? '';
  const lease = await cluster.get(leaseLocation(name, engineNamespace), engine);
  if (lease.kind === 'failed' || leaseState(lease.object, 'nobody', lease.serverTime) !== 'expired') return false;
  const write = releaseWrite(lease.object, engineNamespace);
  return write !== undefined && (await cluster.send(write)).kind === 'ok';
}

async function isOrphan(cluster: Cluster, item: JsonObject): Promise<boolean> {
  const [namespace = '', name = ''] = (textAt(item, 'metadata', 'annotations', 'tx.janus.io/transaction') ?? '').split('/');
  if (name === '') return false;
  const found = await cluster.getMetadata({ resource: transactions, namespace, name }, engine);
  if (found.kind === 'failed') return found.failure.kind === 'absent';
  return textAt(found.object, 'metadata', 'uid') !== textAt(item, 'metadata', 'labels', uidLabel);
}
