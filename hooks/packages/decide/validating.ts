// The tree is resolved and compared, or refused, before anything is made.
import type { JsonObject } from '../../objects/json.ts';
import { cut } from '../../objects/words.ts';
import { type PackageFault, packageFault } from '../model/fault.ts';
import { holderOf, packagesDigest } from '../model/holder.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { advanced, millisecondsOf, type Outcome, type Status, timeOf } from '../model/status.ts';
import { releaseLock } from '../plan/lock.ts';
import type { RegistryFailure } from '../registry.ts';
import { abandoned, ended, type Moment } from './ends.ts';
import { going, type Move, staying } from './move.ts';
import { healing, type Orphan } from './owners.ts';

/** What the reads of a validation came to. */
export type Validation =
  | { readonly kind: 'valid'; readonly lock: readonly JsonObject[] }
  | { readonly kind: 'refused'; readonly faults: readonly (PackageFault | CoordinatorFault)[] }
  /** A registry does not give what is needed. */
  | { readonly kind: 'failed'; readonly failure: RegistryFailure }
  /** The time of the call is over; what was found is kept, and the next call goes on. */
  | { readonly kind: 'unfinished' }
  /** The time of the call is over before the tree was read. */
  | { readonly kind: 'unread' };

/** A refusal that only a look at the cluster gives. */
export interface CoordinatorFault {
  readonly reason: 'DryRunFailed';
  readonly message: string;
}

interface Validating extends Moment {
  readonly ptx: PackageTransaction;
  readonly lock: JsonObject | undefined;
  readonly validation: Validation | undefined;
  readonly namespace: string;
  /** Installed objects of any package whose owners are gone, if the tree is valid. */
  readonly orphans?: readonly Orphan[];
}

/** ms for which a try reads before it counts as failed. */
export const longestReading = 600_000;
/** Of the packages of the Lock: they stand in the status too, beside stages and conditions, and the API server stores 1.5 MiB. */
const mostLockBytes = 1_000_000;
const mostFaults = 10;
export const longestMessage = 7_000;

export function holds(ptx: PackageTransaction, lock: JsonObject | undefined): lock is JsonObject {
  return lock !== undefined && holderOf(lock)?.uid === ptx.uid;
}

export function validate(scene: Validating): Move {
  const { ptx, lock, validation, namespace, orphans = [] } = scene;
  const { status } = ptx;
  if (ptx.isDeleting) return going(abandoned(status), 'it is being deleted');
  if (!holds(ptx, lock)) return going(advanced(status, { phase: 'Waiting' }), 'the Lock is not held any more');
  if (validation === undefined) return staying(status, 'nothing was read', 1);
  if (validation.kind === 'unfinished' || validation.kind === 'unread') return goesOn(scene, lock, validation.kind);
  if (validation.kind === 'failed') return going(ended(status, unread(validation.failure)), validation.failure.message);
  if (validation.kind === 'refused') return going(ended(status, refusedBy(validation.faults)), 'it is refused');
  const size = Buffer.byteLength(JSON.stringify(validation.lock));
  if (size > mostLockBytes) return going(ended(status, refusedBy([tooLarge(size)])), 'the Lock would be too large');
  const lockDigest = packagesDigest(lock);
  const next = advanced(status, { phase: 'Preparing', proposed: validation.lock, lockDigest });
  return { ...going(next, 'everything is resolved'), deeds: healing(orphans, namespace) };
}

function tooLarge(size: number): PackageFault {
  return packageFault('InvalidPackage', `The Lock would have ${size} bytes of packages, at most ${mostLockBytes} are possible`);
}

export const readingNote = { reason: 'Resolving', message: 'Reading packages' } as const;

export const tooSlow = {
  kind: 'Failed',
  step: 'Validation',
  reason: 'Unavailable',
  message: `the packages could not be read within ${longestReading / 60_000} minutes`,
} as const satisfies Outcome;

/** Since the try began, or since it began to read for the Lock. */
export function isOverdue({ tryTime }: Status, now: number): boolean {
  return tryTime !== undefined && now >= millisecondsOf(tryTime) + longestReading;
}

function goesOn({ ptx, now, namespace }: Validating, lock: JsonObject, kind: 'unfinished' | 'unread'): Move {
  if (isOverdue(ptx.status, now)) return going(ended(ptx.status, tooSlow), tooSlow.message);
  if (kind === 'unread') return givingBack(ptx, lock, namespace);
  return staying(ptx.status, 'the time of the call is over', 0.2, readingNote);
}

/** The call after this one reads the rest without the Lock: other package transactions wait for a registry at most one call. The try has not failed. */
export function givingBack({ status }: PackageTransaction, lock: JsonObject, namespace: string): Move {
  const next = advanced(status, { phase: 'Waiting', proposed: undefined, lockDigest: undefined });
  const because = 'the packages are not read before the time of the call is over';
  return { because, deeds: [{ write: releaseLock(lock, namespace) }], status: next, wait: 0.2, note: readingNote };
}

const reasons = {
  denied: 'FetchDenied',
  absent: 'Unavailable',
  invalid: 'InvalidPackage',
  unavailable: 'Unavailable',
} as const satisfies Record<RegistryFailure['kind'], string>;

/** What a registry does not give, as the end of a try. */
export function unread({ kind, message, retryAfterSeconds }: RegistryFailure): Outcome {
  const after = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return { kind: 'Failed', step: 'Validation', reason: reasons[kind], message: cut(message, longestMessage), ...after };
}

function refusedBy(faults: readonly (PackageFault | CoordinatorFault)[]): Outcome {
  const isFinal = faults.some((one) => 'isFinal' in one);
  const [first] = faults;
  const others = faults.length > mostFaults ? `; and ${faults.length - mostFaults} more` : '';
  const message = `${faults
    .slice(0, mostFaults)
    .map((one) => one.message)
    .join('; ')}${others}`;
  const reason = first?.reason ?? 'InvalidPackage';
  return { kind: 'Failed', step: 'Validation', reason, message: cut(message, longestMessage), ...(isFinal ? { isFinal } : {}) };
}

/** The time of the next try. */
export function retryTimeOf(now: number, seconds: number): string {
  return timeOf(now + seconds * 1000);
}
