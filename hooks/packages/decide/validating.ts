// The tree is resolved and compared, or refused, before anything is made.
import type { JsonObject } from '../../model/json.ts';
import { cut } from '../../model/words.ts';
import { type PackageFault, packageFault } from '../model/fault.ts';
import { holderOf, packagesDigest } from '../model/holder.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { advanced, millisecondsOf, type Outcome, timeOf } from '../model/status.ts';
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
  /** The time of the call is over; what was read is kept, and the next call goes on. */
  | { readonly kind: 'unfinished' };

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
  if (validation.kind === 'unfinished') return reading(scene);
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

function reading(scene: Validating): Move {
  const { ptx, now } = scene;
  const note = { reason: 'Resolving', message: 'Reading packages' } as const;
  if (now < millisecondsOf(ptx.status.tryTime) + longestReading)
    return staying(ptx.status, 'the time of the call is over', 0.2, note);
  const message = `the packages could not be read within ${longestReading / 60_000} minutes`;
  return going(ended(ptx.status, { kind: 'Failed', step: 'Validation', reason: 'Unavailable', message }), message);
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
