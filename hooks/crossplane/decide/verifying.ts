// All objects are made: the hook checks them once more, then writes the Lock.

import { isTerminating } from '../../objects/content/ownership.ts';
import type { Failure } from '../../objects/failure.ts';
import { isObject, type JsonObject, textAt } from '../../objects/json.ts';
import { cut } from '../../objects/words.ts';
import { holderOf, holds, isAsResolved, packagesOf } from '../model/holder.ts';
import { entriesToWrite, withoutDigest } from '../model/lock.ts';
import { installOf, type PackageTransaction, replacedBy } from '../model/package-transaction.ts';
import { advanced, isActivated, millisecondsOf, type Outcome, type Status, timeOf } from '../model/status.ts';
import type { ObservedTo, RuntimeState, WebhookSecret } from '../observe/observation.ts';
import type { Paused } from '../writes/beside.ts';
import { type Step, setStatus } from './step.ts';
import { abandoned, ended, installationFailure, longestMessage, lostLock, succeeded } from './transitions.ts';

export function verify(observation: ObservedTo<'verify'>): Step {
  const { ptx, lock, faults, edited } = observation;
  const { status } = ptx;
  // The Lock was written, and the answer was lost. From then on the try has succeeded, even if the package transaction is being
  // deleted.
  if (holds(ptx, lock) && holderOf(lock)?.hasWritten === true) return setStatus(done(ptx, lock), 'the Lock is written');
  if (!isAsResolved(ptx, lock)) return setStatus(lostLock(status), 'the Lock is not as it was');
  if (ptx.isDeleting) return giveUp(lock, abandoned(status), 'it is being deleted');
  // Its Package makes another package transaction, which deletes this one: no try has failed.
  if (edited !== undefined) return giveUp(lock, abandoned(status, edited), edited);
  const outcome = failureIn(status, faults);
  if (outcome !== undefined) return giveUp(lock, ended(status, outcome), outcome.message ?? '');
  if (faults === 'unfinished') return setStatus(status, 'the time of the call is over', 0.2);
  return complete(observation, lock);
}

function done(ptx: PackageTransaction, lock: JsonObject): Status {
  const proposed = proposedOf(ptx, lock);
  return succeeded({ ...ptx.status, proposed }, inactiveRevision(ptx) ?? withoutDigest(proposed));
}

function complete(observation: ObservedTo<'verify'>, lock: JsonObject): Step {
  const { ptx, unserved = [], isBeside, retired } = observation;
  const { status } = ptx;
  if (replacedBy(ptx) !== undefined) return replace(observation, lock);
  if (unserved.length > 0) return awaitAuthority(observation, lock, unserved);
  return {
    kind: 'writePackages',
    lock,
    packages: entriesToWrite(proposedOf(ptx, lock), isBeside),
    retired,
    because: 'everything is there',
    status: done(ptx, lock),
    wait: 1,
    // An earlier write of the Lock may still be late: the next call fences the Lock before the hook rolls anything back.
    refused: ({ message }) => advanced(status, { outcome: failure(`The packages of the Lock could not be written: ${message}`) }),
  };
}

/** ms for which Crossplane may take to make the Secret of a package, and to write its authority. */
export const longestAuthorityMs = 300_000;

/**
 * A CRD whose objects cannot be converted is not installed. Only Crossplane makes the Secret of a package, once it has the revision.
 * Until the Secret is there, Crossplane writes no object of the package, so the try can be undone.
 */
function awaitAuthority(
  { ptx: { status }, now }: ObservedTo<'verify'>,
  lock: JsonObject,
  unserved: readonly WebhookSecret[],
): Step {
  const paused = [...new Map(unserved.flatMap(({ paused: one }) => (one === undefined ? [] : [[nameOf(one), one]]))).values()];
  if (paused.length > 0) {
    const next = advanced(status, { handOverTime: status.handOverTime ?? timeOf(now) });
    // Crossplane may have got others of them.
    const refused = ({ message }: Failure): Status => advanced(next, { outcome: failure(message) });
    const because = 'Crossplane must make the Secrets of webhooks';
    return { kind: 'handOver', paused, isEarly: true, because, status: next, wait: 1, refused };
  }
  if (now < millisecondsOf(status.handOverTime) + longestAuthorityMs)
    return setStatus(status, 'Secrets of webhooks are missing', 1);
  const named = unserved.slice(0, mostNamed).map(({ definition, secret }) => `CRD ${definition}: Secret ${secret}`);
  const more = unserved.length > mostNamed ? `; and ${unserved.length - mostNamed} more` : '';
  const message = `expected Crossplane to make the Secrets of webhooks within ${longestAuthorityMs / 60_000} minutes, and to write their authority, found none: ${named.join('; ')}${more}; read the conditions of the revisions, and the log of Crossplane`;
  return giveUp(lock, ended(status, failure(message)), message);
}

const mostNamed = 10;

function nameOf({ live }: Paused): string {
  return textAt(live, 'metadata', 'name') ?? '';
}

/** The Lock holds Active revisions only. */
function proposedOf({ status }: PackageTransaction, lock: JsonObject): readonly JsonObject[] {
  if (isActivated(status)) return status.proposed ?? [];
  return packagesOf(lock).filter(isObject);
}

/** Says what a user does to activate the revision; undefined if it is Active. */
function inactiveRevision(ptx: PackageTransaction): string | undefined {
  const wanted = installOf(ptx);
  if (wanted === undefined || isActivated(ptx.status)) return undefined;
  const entry = ptx.status.proposed?.find((one) => textAt(one, 'source') === wanted.reference.source);
  const what = `${wanted.kind}Revision ${textAt(entry, 'name')} is Inactive, since spec.revisionActivationPolicy is Manual`;
  const next = ptx.packageUid === undefined ? ', and create a package transaction of this version' : '';
  return `${what}: set its spec.desiredState to Active${next}`;
}

/** What it replaces is Inactive. Beside Crossplane the new packages must run, and before that nothing of the former ones may. */
function replace(observation: ObservedTo<'verify'>, lock: JsonObject): Step {
  const { ptx, now, runtimes, unserved = [] } = observation;
  const { status } = ptx;
  const { stoppedTime, handOverTime } = status;
  const going = runtimes === undefined ? undefined : running(observation, lock, runtimes);
  if (going !== undefined) return going;
  const missing = [
    ...(runtimes?.unhealthy ?? []),
    ...unserved.map(({ definition, unread }) => unread ?? `CRD ${definition}: no authority`),
  ];
  if (runtimes !== undefined && missing.length > 0) {
    const message = `expected the new packages to be healthy within ${longestAuthorityMs / 60_000} minutes: ${missing.slice(0, mostNamed).join('; ')}`;
    if (now < millisecondsOf(handOverTime) + longestAuthorityMs)
      return setStatus(status, 'the new packages are not healthy yet', 1);
    return giveUp(lock, ended(status, failure(message)), message);
  }
  const gap = stoppedTime === undefined ? {} : { gapSeconds: Math.round((now - millisecondsOf(stoppedTime)) / 1000) };
  return setStatus(advanced(status, { phase: 'Deleting', ...gap }), 'everything is there, and what it replaces can go', 0.1);
}

/** Undefined once Crossplane has the new revisions. */
function running(observation: ObservedTo<'verify'>, lock: JsonObject, runtimes: RuntimeState): Step | undefined {
  const { ptx, now } = observation;
  const { status } = ptx;
  const objects = runtimes.running.filter(({ resource, object }) => resource.kind === 'Deployment' && !isTerminating(object));
  const stopped = status.stoppedTime === undefined ? advanced(status, { stoppedTime: timeOf(now) }) : status;
  if (objects.length > 0) {
    const refused = ({ message }: Failure): Status =>
      advanced(status, { outcome: failure(`A Deployment could not be deleted: ${message}`) });
    return { kind: 'delete', objects, kept: [], because: 'what leaves must not run', status: stopped, wait: 0.5, refused };
  }
  if (runtimes.running.length > 0 && status.handOverTime === undefined) {
    const names = runtimes.running.map(({ object }) => textAt(object, 'metadata', 'name') ?? '').slice(0, mostNamed);
    const message = `expected the Pods of the former packages to end within ${longestAuthorityMs / 60_000} minutes, found ${names.join(', ')}`;
    if (now < millisecondsOf(stopped.stoppedTime) + longestAuthorityMs)
      return setStatus(stopped, 'the former packages still run', 0.5);
    return giveUp(lock, ended(status, failure(message)), message);
  }
  const { paused } = runtimes;
  if (paused.length === 0) return undefined;
  const next = advanced(status, { handOverTime: status.handOverTime ?? timeOf(now) });
  // Crossplane may have got others of them.
  const refused = ({ message }: Failure): Status => advanced(next, { outcome: failure(message) });
  return {
    kind: 'handOver',
    paused,
    isEarly: true,
    because: 'nothing else reconciles the resources',
    status: next,
    wait: 1,
    refused,
  };
}

/** The API server refused the Lock before, or an object is not as a stage made it. */
function failureIn({ outcome }: Status, faults: ObservedTo<'verify'>['faults']): Outcome | undefined {
  const isFaulty = faults !== 'unfinished' && faults.length > 0;
  return outcome ?? (isFaulty ? failure(faults.slice(0, mostNamed).join('; ')) : undefined);
}

function failure(message: string): Outcome {
  return installationFailure(cut(message, longestMessage));
}

/** The answer to a write of the Lock may be lost, and the write late: it must not take effect after a rollback. */
function giveUp(lock: JsonObject, status: Status, because: string): Step {
  // A policy that refuses every write of the Lock refuses a late write too.
  return { kind: 'fence', lock, because, status, wait: 1, refused: () => status };
}
