// All objects are made: the hook checks them once more, then writes the Lock.
import { isObject, type JsonObject, textAt } from '../../objects/json.ts';
import { cut } from '../../objects/words.ts';
import { holderOf, holds, isAsResolved, packagesOf } from '../model/holder.ts';
import { withoutDigest, withTagOnly } from '../model/lock.ts';
import { installOf, type PackageTransaction } from '../model/package-transaction.ts';
import { advanced, type Outcome, type Status } from '../model/status.ts';
import type { ObservedTo } from '../observe/observation.ts';
import { type Step, setStatus } from './step.ts';
import { abandoned, ended, installationFailure, longestMessage, lostLock, succeeded } from './transitions.ts';

export function verify({ ptx, lock, faults, isBeside, retired }: ObservedTo<'verify'>): Step {
  const { status } = ptx;
  const proposed = proposedOf(ptx, lock);
  const done = succeeded({ ...status, proposed }, inactiveRevision(ptx) ?? withoutDigest(proposed));
  // The Lock was written, and the answer was lost. From then on the try has succeeded, even if the package transaction is being
  // deleted.
  if (holds(ptx, lock) && holderOf(lock)?.hasWritten === true) return setStatus(done, 'the Lock is written');
  if (!isAsResolved(ptx, lock)) return setStatus(lostLock(status), 'the Lock is not as it was');
  if (ptx.isDeleting) return giveUp(lock, abandoned(status), 'it is being deleted');
  const outcome = failureIn(status, faults);
  if (outcome !== undefined) return giveUp(lock, ended(status, outcome), outcome.message ?? '');
  if (faults === 'unfinished') return setStatus(status, 'the time of the call is over', 0.2);
  return {
    kind: 'writePackages',
    lock,
    packages: entriesToWrite(proposed, isBeside),
    retired,
    because: 'everything is there',
    status: done,
    wait: 1,
    // An earlier write of the Lock may still be late: the next call fences the Lock before the hook rolls anything back.
    refused: ({ message }) => advanced(status, { outcome: failure(`The packages of the Lock could not be written: ${message}`) }),
  };
}

/** Without a stage that activates them, the revisions stay Inactive. */
function isActivated({ stages }: Status): boolean {
  return stages.some(({ purpose }) => purpose === 'Activation');
}

/** The Lock holds Active revisions only. */
function proposedOf({ status }: PackageTransaction, lock: JsonObject | undefined): readonly JsonObject[] {
  if (isActivated(status) || lock === undefined) return status.proposed ?? [];
  return packagesOf(lock).filter(isObject);
}

/** Says what a user does to activate the revision; undefined if it is Active. */
function inactiveRevision(ptx: PackageTransaction): string | undefined {
  const wanted = installOf(ptx);
  if (wanted === undefined || isActivated(ptx.status)) return undefined;
  const entry = ptx.status.proposed?.find((one) => textAt(one, 'source') === wanted.reference.source);
  const what = `${wanted.kind}Revision ${textAt(entry, 'name')} is Inactive, since spec.revisionActivationPolicy is Manual`;
  return `${what}: set its spec.desiredState to Active, and create a package transaction of this version`;
}

/** Crossplane's controllers read a tag or a digest, and not both. */
function entriesToWrite(proposed: readonly JsonObject[], isBeside = false): readonly JsonObject[] {
  return isBeside ? proposed.map(withTagOnly) : proposed;
}

/** The API server refused the Lock before, or an object is not as a stage made it. */
function failureIn({ outcome }: Status, faults: ObservedTo<'verify'>['faults']): Outcome | undefined {
  const isFaulty = faults !== 'unfinished' && faults.length > 0;
  return outcome ?? (isFaulty ? failure(faults.slice(0, 10).join('; ')) : undefined);
}

function failure(message: string): Outcome {
  return installationFailure(cut(message, longestMessage));
}

/** The answer to a write of the Lock may be lost, and the write late: it must not take effect after a rollback. */
function giveUp(lock: JsonObject, status: Status, because: string): Step {
  // A policy that refuses every write of the Lock refuses a late write too.
  return { kind: 'fence', lock, because, status, wait: 1, refused: () => status };
}
