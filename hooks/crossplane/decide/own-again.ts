// Why an installed Package makes its package transaction again, although its spec is the same: a revision or a CRD is gone, or the tag has
// moved. The package transaction of the present generation has succeeded, or a package transaction by hand has installed the Package.
import { type JsonObject, textAt } from '../../objects/json.ts';
import { holderOf } from '../model/holder.ts';
import type { OwnCondition } from '../model/own.ts';
import { isActive } from '../model/package.ts';
import type { Wanted } from '../model/package-transaction.ts';
import { writeReference } from '../model/reference.ts';
import { millisecondsOf } from '../model/status.ts';
import type { OwnObservation } from '../observe/observation.ts';
import { absenceIn, type MissingDefinitions } from '../writes/absence.ts';
import { ownInstall } from '../writes/own.ts';
import { create, ending, nameOf, type OwnStep, pending, rest, safetyWaitSeconds, wait } from './own-step.ts';

/** Undefined if all is there, and the tag names what is installed. `current`: the package transaction of the present generation. */
export function madeAgain(
  observation: OwnObservation,
  { reference }: Wanted,
  current: JsonObject | undefined,
): OwnStep | undefined {
  const { revisions, moved } = observation;
  if (current !== undefined && revisions.length === 0) return again(observation, current, 'The revision is gone');
  const absence = revisions.filter(isActive).flatMap((one) => absenceIn(one) ?? [])[0];
  if (absence !== undefined && isSince(absence, current)) return restore(observation, absence, current);
  if (moved === undefined) return undefined;
  return again(observation, current, `${writeReference(reference)} has moved to ${moved}`);
}

/** The package transaction is deleted, so the Package makes it again once it is gone. */
function again(
  observation: OwnObservation,
  ptx: JsonObject | undefined,
  why: string,
  condition: Omit<OwnCondition, 'message'> = pending(observation),
): OwnStep {
  if (ptx === undefined) return create(observation, ownInstall(observation), condition);
  const message = `${why}: package transaction ${nameOf(ptx)} is made again`;
  return ending(rest(message, { ...condition, message }, wait), ptx, observation);
}

/** Whether the CRD was found missing after the package transaction had ended. */
function isSince({ since }: MissingDefinitions, ptx: JsonObject | undefined): boolean {
  return ptx === undefined || millisecondsOf(since) >= millisecondsOf(textAt(ptx, 'status', 'completionTime'));
}

/** The holder of the Lock may be deleting the package, so it ends first. */
function restore(observation: OwnObservation, { reason, message }: MissingDefinitions, current: JsonObject | undefined): OwnStep {
  const holder = observation.lock === undefined ? undefined : holderOf(observation.lock);
  const condition = { status: 'False', reason } as const;
  if (holder === undefined) return again(observation, current, message, condition);
  const waits = `${message}; package transaction ${holder.name} holds the Lock, and ends first`;
  return rest(waits, { ...condition, message: waits }, safetyWaitSeconds);
}
