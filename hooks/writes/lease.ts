// Locks as Lease objects in the engine's namespace. Times follow the API server's clock, never this machine's.
//
// A Lease is signed by the process that served its target last. Nobody changes a target under the signature of another: so who
// finds its own knows that no other process has a write to this target on its way.
import type { Location, Write } from '../cluster.ts';
import { at, isObject, type JsonObject, textAt, withKey, withPath } from '../model/json.ts';
import { describe, lockName, type Reference } from '../model/reference.ts';
import { transactionAnnotation } from '../model/snapshot.ts';
import { formatMicroTime } from '../model/timeouts.ts';
import { holderOf, type Transaction } from '../model/transaction.ts';
import { engine, engineManager, leases, preconditionOf, uidLabel } from './resources.ts';

const signature = 'tx.janus.io/served-by';

/** Whether the process `server` has served the target of this Lease last. */
export function isSignedBy(server: string, lease: JsonObject): boolean {
  return textAt(lease, 'metadata', 'annotations', signature) === server;
}

/** One lock that is wanted. */
export interface Lock {
  readonly name: string;
  readonly target: Reference;
}

export function lockOf(target: Reference): Lock {
  return { name: lockName(target), target };
}

export function leaseLocation(name: string, engineNamespace: string): Location {
  return { resource: leases, namespace: engineNamespace, name };
}

export interface LeaseContext {
  readonly transaction: Transaction;
  readonly engineNamespace: string;
  readonly now: number;
  /** Names this process among all that serve. */
  readonly server: string;
}

export function acquireWrite(lock: Lock, context: LeaseContext): Write {
  return {
    verb: 'create',
    identity: engine,
    location: leaseLocation(lock.name, context.engineNamespace),
    object: leaseObject(lock, context),
    fieldManager: engineManager,
  };
}

function leaseObject({ name, target }: Lock, { transaction, engineNamespace, now, server }: LeaseContext): JsonObject {
  const time = formatMicroTime(now);
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name,
      namespace: engineNamespace,
      labels: { 'app.kubernetes.io/managed-by': 'janus', [uidLabel]: transaction.uid },
      annotations: {
        'tx.janus.io/target': describe(target),
        [transactionAnnotation]: `${transaction.namespace}/${transaction.name}`,
        [signature]: server,
      },
    },
    spec: {
      holderIdentity: holderOf(transaction),
      leaseDurationSeconds: Math.max(1, Math.ceil(transaction.lockTimeout / 1000)),
      acquireTime: time,
      renewTime: time,
    },
  };
}

/** Takes an expired Lease over, or renews our own: with uid and resourceVersion, so that only what was judged is replaced. */
export function replaceWrite(lock: Lock, lease: JsonObject, context: LeaseContext): Write | undefined {
  const precondition = preconditionOf(lease);
  const object = leaseObject(lock, context);
  return precondition === undefined
    ? undefined
    : {
        verb: 'update',
        identity: engine,
        location: leaseLocation(lock.name, context.engineNamespace),
        object,
        precondition,
        fieldManager: engineManager,
      };
}

export function renewWrite(lease: JsonObject, { engineNamespace, now, server }: LeaseContext): Write | undefined {
  const precondition = preconditionOf(lease);
  const spec = at(lease, 'spec');
  if (precondition === undefined || !isObject(spec)) return undefined;
  const signed = withPath(lease, ['metadata', 'annotations', signature], server);
  return {
    verb: 'update',
    identity: engine,
    location: leaseLocation(textAt(lease, 'metadata', 'name') ?? '', engineNamespace),
    object: withKey(signed, 'spec', { ...spec, renewTime: formatMicroTime(now) }),
    precondition,
    fieldManager: engineManager,
  };
}

/** Deletes a Lease that was seen to be ours; a successor's has another version. */
export function releaseWrite(lease: JsonObject, engineNamespace: string): Write | undefined {
  const precondition = preconditionOf(lease);
  const location = leaseLocation(textAt(lease, 'metadata', 'name') ?? '', engineNamespace);
  return precondition === undefined ? undefined : { verb: 'delete', identity: engine, location, precondition };
}
