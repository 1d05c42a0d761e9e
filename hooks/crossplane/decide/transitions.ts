// How a try ends, and the facts about the Lock that every phase needs. If a try fails before it makes anything, it only releases
// the Lock. If it fails later, it rolls back first.
import type { Failure } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import { cut } from '../../objects/words.ts';
import { holds } from '../model/holder.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { advanced, millisecondsOf, type Outcome, type Status, timeOf } from '../model/status.ts';
import type { Awaiting, Context } from '../observe/observation.ts';
import type { RegistryFailure } from '../registry.ts';
import type { RevisionStatus } from '../writes/applied.ts';
import type { Paused } from '../writes/beside.ts';
import { type Decided, rarely, type Step } from './step.ts';

/** Releases the Lock if it is held. */
export function releasing(
  ptx: PackageTransaction,
  lock: JsonObject | undefined,
  decided: Decided,
  unrecorded: readonly RevisionStatus[] = [],
): Step {
  return holds(ptx, lock) ? { kind: 'release', lock, unrecorded, ...decided } : { kind: 'setStatus', ...decided };
}

export function ended(status: Status, outcome: Outcome): Status {
  const failures = outcome.kind === 'Failed' ? status.failures + 1 : status.failures;
  const isMade = ['Installing', 'Verifying', 'Deleting'].includes(status.phase) && status.deletionTime === undefined;
  return advanced(status, { phase: isMade ? 'RollingBack' : 'Releasing', outcome, failures });
}

/** `message`: what a reader of the end must know. */
export function succeeded(status: Status, message: string | undefined): Status {
  const words = message === undefined ? {} : { message: cut(message, longestMessage) };
  return advanced(status, { phase: 'Releasing', outcome: { kind: 'Succeeded', ...words } });
}

/** `message`: why the try ends although nothing has failed. */
export function abandoned(status: Status, message = 'it is being deleted'): Status {
  return ended(status, { kind: 'Abandoned', message: cut(message, longestMessage) });
}

export function lostLock(status: Status): Status {
  return ended(
    status,
    installationFailure('the Lock was taken away, or its packages were changed by somebody else, while it was held'),
  );
}

/** The last status: from here on another package transaction may take the Lock, and the hook only deletes leftovers. */
export function finished(status: Status, outcome: Outcome | undefined, now: number): Status {
  const phase = outcome?.kind === 'Succeeded' ? 'Succeeded' : 'Failed';
  return advanced(status, { phase, outcome, completionTime: timeOf(now), sweepTime: timeOf(now) });
}

/** The Lock is written: the revisions start, or end, with Crossplane. A refusal keeps the Lock from no one. */
export function handOver(paused: readonly Paused[], status: Status): Step {
  const because = 'Crossplane gets the revisions';
  const refused = ({ message }: Failure): Status => notHandedOver(status, cut(message, longestMessage));
  return { kind: 'handOver', paused, because, status, wait: 0.2, refused };
}

interface HandedOver {
  readonly running: readonly Paused[];
  /** Definitions that Crossplane has written for the revisions. */
  readonly written: readonly Paused[];
}

/**
 * Crossplane leaves the revisions alone again, and the engine undoes what made them. If the API server refuses, the engine says what
 * it leaves.
 */
export function takeBack({ running, written }: HandedOver, status: Status): Step {
  const next = advanced(status, { handOverTime: undefined });
  return {
    kind: 'takeBack',
    paused: running,
    written,
    because: 'the try is undone',
    status: next,
    wait: 0.2,
    refused: () => next,
  };
}

/** The status stays as it is if the API server refuses as before. */
function notHandedOver(status: Status, handOverFault: string): Status {
  return status.handOverFault === handOverFault ? status : advanced(status, { handOverFault });
}

export const longestMessage = 7_000;

export function installationFailure(message: string, isFinal = false): Outcome {
  const final = isFinal ? { isFinal } : {};
  return { kind: 'Failed', step: 'Installation', reason: 'InstallationFailed', message, ...final };
}

const reasons = {
  denied: 'FetchDenied',
  absent: 'Unavailable',
  invalid: 'InvalidPackage',
  unavailable: 'Unavailable',
} as const satisfies Record<RegistryFailure['kind'], string>;

/** The end of a try if a registry does not provide a value. */
export function unread({ kind, message, retryAfterSeconds }: RegistryFailure): Outcome {
  const after = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return { kind: 'Failed', step: 'Validation', reason: reasons[kind], message: cut(message, longestMessage), ...after };
}

/**
 * A user's Package installs itself first. The hook waits without the Lock, and the time does not count as time for reading. A dry run ends
 * instead, and says so.
 */
export function awaitPackage({ ptx, now }: Context, awaiting: Awaiting): Decided {
  const { status, isDryRun, createdAt } = ptx;
  const because = 'another Package installs itself first';
  const note = { reason: 'WaitingForPackage', message: cut(awaiting.message, longestMessage) } as const;
  if (isDryRun) return { because, status: ended(status, { kind: 'Failed', step: 'Validation', ...note }), wait: 1 };
  const isWaiting = status.phase === 'Waiting' && status.tryTime === undefined;
  const next = isWaiting ? status : advanced(status, { phase: 'Waiting', tryTime: undefined });
  return { because, status: next, wait: rarely(now - createdAt, awaitedWaitSeconds), note };
}

/** In seconds. The release of the Lock causes a call, and nothing shows that a Package is gone. */
const awaitedWaitSeconds = 3;

const longestPauseSeconds = 300;

/** Seconds until the next try. */
export function pauseAfter(failures: number): number {
  return Math.min(2 ** Math.min(failures, 20), longestPauseSeconds);
}

/** ms for which a try reads before it counts as failed. */
export const longestReadingMs = 600_000;

/** The time since the try began, or since it began to read for the Lock. */
export function isOverdue({ tryTime }: Status, now: number): boolean {
  return tryTime !== undefined && now >= millisecondsOf(tryTime) + longestReadingMs;
}

export const tooSlow = {
  kind: 'Failed',
  step: 'Validation',
  reason: 'Unavailable',
  message: `the packages could not be read within ${longestReadingMs / 60_000} minutes`,
} as const satisfies Outcome;

export const readingNote = { reason: 'Resolving', message: 'Reading packages' } as const;

/**
 * The call after this one reads the rest without the Lock. So other package transactions wait for a registry at most one call. The
 * try has not failed.
 */
export function givingBack({ status }: PackageTransaction, lock: JsonObject): Step {
  const next = advanced(status, { phase: 'Waiting', proposed: undefined, lockDigest: undefined });
  const because = 'the packages are not read before the time of the call is over';
  return { kind: 'release', lock, because, status: next, wait: 0.2, note: readingNote };
}
