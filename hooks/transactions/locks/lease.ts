// Locks are Lease objects in the engine's namespace. Their times follow the API server's clock, never this machine's.
//
// A Lease names the writer that took it: a turn of a process. On the Lease of the first change that name is the fencing token of
// the whole Transaction. A process changes no target before it has written its own name there (in-flight/in-flight.ts).
import type { Location, Write } from '../../objects/cluster.ts';
import { at, isObject, type JsonObject, textAt, withKey, withPath } from '../../objects/json.ts';
import { describe, identityOf, lockName, type Reference } from '../../objects/reference.ts';
import { formatMicroTime } from '../../objects/time.ts';
import { foreign } from '../../objects/words.ts';
import { holderOf, type Transaction } from '../model/transaction.ts';
import { transactionAnnotation } from '../snapshots/objects.ts';
import { engine, engineManager, leases, preconditionOf, uidLabel } from '../writes/resources.ts';

const writerAnnotation = 'tx.janus.io/writer';
const identityAnnotation = 'tx.janus.io/identity';
const longestIdentity = 600;

/** A writer: turn `number` of the process `server`. */
export function nameWriter(server: string, number: number): string {
  return `${server}/${number}`;
}

/** The writer that a Lease names. */
export function writerOf(lease: JsonObject | undefined): string | undefined {
  return textAt(lease, 'metadata', 'annotations', writerAnnotation);
}

/** Whether a Lease names the process `server`, in any of its turns. */
export function isWrittenBy(server: string, lease: JsonObject): boolean {
  return writerOf(lease)?.startsWith(`${server}/`) === true;
}

/** A lock that a Transaction needs. */
export interface Lock {
  readonly name: string;
  readonly target: Reference;
}

export function lockOf(target: Reference): Lock {
  return { name: lockName(target), target };
}

/**
 * The object that a Lease locks, in words, if it is not the target of this lock. The name of a Lease holds only a part of a hash,
 * so two targets may share one name.
 */
export function otherTarget({ target }: Lock, lease: JsonObject | undefined): string | undefined {
  const said = textAt(lease, 'metadata', 'annotations', identityAnnotation);
  return said === undefined || said === identityOf(target) ? undefined : foreign(said, longestIdentity);
}

export function leaseLocation(name: string, engineNamespace: string): Location {
  return { resource: leases, namespace: engineNamespace, name };
}

interface LeaseContext {
  readonly transaction: Transaction;
  readonly engineNamespace: string;
  readonly now: number;
  /** Names this process and its current turn. */
  readonly writer: string;
  /** Whether the Transaction lost the lock before, while it had changes (wasLost). */
  readonly isRegained?: boolean | undefined;
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

function leaseObject(
  { name, target }: Lock,
  { transaction, engineNamespace, now, writer, isRegained }: LeaseContext,
): JsonObject {
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
        [identityAnnotation]: identityOf(target),
        [transactionAnnotation]: `${transaction.namespace}/${transaction.name}`,
        [writerAnnotation]: writer,
      },
    },
    spec: {
      holderIdentity: holderOf(transaction),
      leaseDurationSeconds: Math.max(1, Math.ceil(transaction.lockTimeout / 1000)),
      acquireTime: time,
      renewTime: time,
      ...(isRegained === true ? { leaseTransitions: 1 } : {}),
    },
  };
}

/** Whether a rollback took the lock again after it had lost the lock: another Transaction may have held the lock in between. */
export function wasLost(lease: JsonObject): boolean {
  const transitions = at(lease, 'spec', 'leaseTransitions');
  return typeof transitions === 'number' && transitions > 0;
}

/**
 * Takes over an expired Lease, or renews our own. The write names uid and resourceVersion, so it replaces only the version that was
 * read.
 */
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

/** Renews a Lease and keeps the name of its writer. */
export function renewWrite(lease: JsonObject, { engineNamespace, now }: Omit<LeaseContext, 'writer'>): Write | undefined {
  const precondition = preconditionOf(lease);
  const spec = at(lease, 'spec');
  if (precondition === undefined || !isObject(spec)) return undefined;
  return {
    verb: 'update',
    identity: engine,
    location: leaseLocation(textAt(lease, 'metadata', 'name') ?? '', engineNamespace),
    object: withKey(lease, 'spec', { ...spec, renewTime: formatMicroTime(now) }),
    precondition,
    fieldManager: engineManager,
  };
}

/** Writes the name `writer` into the Lease of the first change, over the name that was read there. */
export function signWrite(lease: JsonObject, writer: string, engineNamespace: string): Write | undefined {
  const precondition = preconditionOf(lease);
  if (precondition === undefined) return undefined;
  return {
    verb: 'update',
    identity: engine,
    location: leaseLocation(textAt(lease, 'metadata', 'name') ?? '', engineNamespace),
    object: withPath(lease, ['metadata', 'annotations', writerAnnotation], writer),
    precondition,
    fieldManager: engineManager,
  };
}

/** Deletes our Lease. The write names the Lease's version, so it cannot delete the Lease of a successor. */
export function releaseWrite(lease: JsonObject, engineNamespace: string): Write | undefined {
  const precondition = preconditionOf(lease);
  const location = leaseLocation(textAt(lease, 'metadata', 'name') ?? '', engineNamespace);
  return precondition === undefined ? undefined : { verb: 'delete', identity: engine, location, precondition };
}
