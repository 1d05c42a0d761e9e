// Garbage collection for Transactions. Leases are orphaned if a process died between acquiring them and reporting it, or if a
// create landed only after the Transaction had ended. Snapshots are orphaned if a user removed the finalizers of their
// Transaction. A Lease expires, though maybe only after an hour; a snapshot with its finalizer would block the deletion of its
// namespace for ever.

import type { Cluster, ListAnswer, Packer, Resource } from '../objects/cluster.ts';
import { type JsonObject, textAt } from '../objects/json.ts';
import { parseTime } from '../objects/time.ts';
import { holdsLocks } from './due.ts';
import { leaseLocation, releaseWrite } from './locks/lease.ts';
import { leaseState } from './locks/state.ts';
import { isTerminal } from './model/phase.ts';
import { decodeTransaction } from './model/transaction.ts';
import { isSnapshotOf, type Owner } from './snapshots/names.ts';
import { transactionAnnotation } from './snapshots/objects.ts';
import { unprotect } from './snapshots/store.ts';
import { configMaps, engine, leases, transactions, uidLabel } from './writes/resources.ts';

/**
 * ms: a call that acquires the locks of a finished Transaction again reports that sooner. After this time such a Lease is orphaned.
 */
const settlingTimeMs = 120_000;

/**
 * (L6) Deletes expired Leases whose Transaction does not exist, and Leases of Transactions that have released their locks. Returns how
 * many it deleted. A failure of the API server ends it early.
 */
export function sweepLeases(cluster: Cluster, engineNamespace: string): Promise<number> {
  // Only the operator may write Leases in that namespace, so all of them count as ours.
  const all = { resource: leases, namespace: engineNamespace, limit: 500, isOurs: () => true };
  return sweep(cluster, all, async (item, owner) => {
    const name = textAt(item, 'metadata', 'name') ?? '';
    const lease = await cluster.get(leaseLocation(name, engineNamespace), engine);
    if (lease.kind === 'failed' || !isOrphaned(lease.object, owner, lease.serverTime)) return false;
    const write = releaseWrite(lease.object, engineNamespace);
    return write !== undefined && (await cluster.send(write)).kind === 'ok';
  });
}

function isOrphaned(lease: JsonObject, owner: Fate, now: number): boolean {
  if (owner === 'gone') return leaseState(lease, 'no holder', now) === 'expired';
  return owner === 'finished' && now > (parseTime(textAt(lease, 'spec', 'renewTime')) ?? now) + settlingTimeMs;
}

/**
 * Removes our finalizer from snapshots whose Transaction does not exist, so that they can be deleted. Returns how many. Looks into
 * the given namespaces, or into all namespaces if none is given.
 */
export async function sweepSnapshots(cluster: Cluster, packer: Packer, namespaces: readonly string[] = []): Promise<number> {
  let swept = 0;
  for (const namespace of namespaces.length === 0 ? [undefined] : namespaces)
    swept += await sweepSnapshotsIn(cluster, packer, namespace);
  return swept;
}

function sweepSnapshotsIn(cluster: Cluster, packer: Packer, within: string | undefined): Promise<number> {
  const isOurs = (item: JsonObject): boolean => isSnapshotOf(item, claimed(item), packer);
  const unprotectOne: SweepOne = async (item, owner) => {
    if (owner !== 'gone') return false;
    const [namespace = '', name = ''] = [textAt(item, 'metadata', 'namespace'), textAt(item, 'metadata', 'name')];
    const found = await cluster.get({ resource: configMaps, namespace, name }, engine);
    const write = found.kind === 'ok' && isOurs(found.object) ? unprotect(found.object) : undefined;
    return write !== undefined && (await cluster.send(write)).kind === 'ok';
  };
  return sweep(cluster, { resource: configMaps, namespace: within, limit: fewLarge, isOurs }, unprotectOne);
}

/**
 * The owner that an object claims. Any writer can claim an owner. If the claim matters, the object must have a name that only our
 * key gives for that owner.
 */
function claimed(item: JsonObject): Owner {
  const [namespace = '', name = ''] = (textAt(item, 'metadata', 'annotations', transactionAnnotation) ?? '').split('/');
  return { namespace, name, uid: textAt(item, 'metadata', 'labels', uidLabel) ?? '' };
}

/** The state of the Transaction that an object belongs to. */
type Fate = 'gone' | 'finished' | 'running' | 'unknown';

/**
 * ConfigMaps per page: anybody can put our label on ConfigMaps with megabytes of metadata, and the size of an answer is limited.
 */
const fewLarge = 10;

type SweepOne = (item: JsonObject, owner: Fate) => Promise<boolean>;

interface Swept {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  /** Objects per page. */
  readonly limit: number;
  readonly isOurs: (item: JsonObject) => boolean;
}

async function sweep(cluster: Cluster, swept: Swept, sweepOne: SweepOne): Promise<number> {
  const fates = new Map<string, Fate>();
  let count = 0;
  // One at a time: it is not urgent, and calls need the API server more.
  for await (const item of itemsOf(cluster, swept)) {
    const owner = claimed(item);
    const key = JSON.stringify(owner);
    const fate = fates.get(key) ?? (await fateOf(cluster, owner));
    fates.set(key, fate);
    if (await sweepOne(item, fate)) count += 1;
  }
  return count;
}

async function* itemsOf(cluster: Cluster, { resource, namespace, limit, isOurs }: Swept): AsyncGenerator<JsonObject> {
  for (let from: string | undefined; from !== ''; ) {
    const options = { labelSelector: uidLabel, limit, ...(from === undefined ? {} : { from }) };
    const page: ListAnswer = await cluster.listMetadata(resource, namespace, engine, options);
    if (page.kind === 'failed') return;
    yield* page.items.filter(isOurs);
    from = page.next;
  }
}

async function fateOf(cluster: Cluster, { namespace, name, uid }: Owner): Promise<Fate> {
  if (name === '') return 'unknown';
  const found = await cluster.get({ resource: transactions, namespace, name }, engine);
  if (found.kind === 'failed') return found.failure.kind === 'absent' ? 'gone' : 'unknown';
  if (textAt(found.object, 'metadata', 'uid') !== uid) return 'gone';
  const { status } = decodeTransaction(found.object);
  return status !== undefined && isTerminal(status.phase) && !holdsLocks(status) ? 'finished' : 'running';
}
