// The step of a Package that makes its own package transactions, and the parts of it that its install and its removal share.
import type { Write } from '../../objects/cluster.ts';
import { isTerminating } from '../../objects/content/ownership.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { cut } from '../../objects/words.ts';
import { type OwnCondition, packageUidLabel } from '../model/own.ts';
import { isActive } from '../model/package.ts';
import { conditionOf, isTerminal } from '../model/status.ts';
import type { OwnObservation } from '../observe/observation.ts';
import { endWrite } from '../writes/own.ts';

export interface OwnStep {
  readonly because: string;
  /** If absent, the revisions alone give the condition Installed. */
  readonly condition?: OwnCondition;
  readonly write?: Write;
  /** Seconds until the next call. 0: a change of the Package, or of a related object, causes the call. */
  readonly wait: number;
  readonly finalized: boolean;
}

export function rest(because: string, condition?: OwnCondition, wait = 0): OwnStep {
  return { because, wait, finalized: false, ...(condition === undefined ? {} : { condition }) };
}

export function letGo(because: string): OwnStep {
  return { because, wait: 0, finalized: true };
}

/** Seconds after which a call comes although no watch causes it. */
export const safetyWaitSeconds = 10;
/** Nothing that Metacontroller watches shows the end of another package transaction. */
export const wait = 3;

const longestMessage = 8_000;

/** `more`: what follows the message of the condition. */
export function saidBy(ptx: JsonObject, shown: JsonObject | undefined, more: string): Omit<OwnCondition, 'status'> {
  const progress = isRunning(ptx) ? textAt(ptx, 'status', 'progress') : undefined;
  const stages = progress === undefined ? '' : ` (${progress} stages)`;
  const message = `Package transaction ${nameOf(ptx)}: ${textAt(shown, 'message') ?? 'it has not begun'}`;
  return {
    reason: textAt(shown, 'reason') ?? 'InstallationPending',
    message: `${cut(message, longestMessage - stages.length - more.length)}${stages}${more}`,
  };
}

/** While an update runs, the Package stays installed in its former version. */
export function underWay({ pkg, revisions }: OwnObservation): 'True' | 'Unknown' {
  const wasInstalled = textAt(conditionOf(pkg, 'Installed'), 'status') === 'True';
  return wasInstalled && revisions.some(isActive) ? 'True' : 'Unknown';
}

/** The condition of a Package that is about to be installed. */
export function pending(observation: OwnObservation) {
  return { status: underWay(observation), reason: 'InstallationPending' } as const;
}

/** The hook deletes a running package transaction: it ends before its next stage, and is rolled back. */
export function end(observation: OwnObservation, ptx: JsonObject, whose: string): OwnStep {
  const message = `Package transaction ${nameOf(ptx)} of ${whose} ends first`;
  const step = rest(message, { status: underWay(observation), reason: 'WaitingForTransaction', message }, wait);
  return ending(step, ptx, observation);
}

/** The step also deletes the package transaction, unless it is being deleted already. */
export function ending(step: OwnStep, ptx: JsonObject, { namespace }: OwnObservation): OwnStep {
  return isTerminating(ptx) ? step : { ...step, write: endWrite(ptx, namespace) };
}

/** `namesake`: a Package that was deleted had the same name, and has made it. */
export function create(observation: OwnObservation, write: Write, condition: Omit<OwnCondition, 'message'>): OwnStep {
  const { namesake } = observation;
  const message = `Package transaction ${write.location.name}: it has not begun`;
  if (namesake === undefined) return { ...rest('it is made', { ...condition, message }, safetyWaitSeconds), write };
  if (textAt(namesake, 'metadata', 'labels', packageUidLabel) !== undefined)
    return end(observation, namesake, 'a former Package of this name');
  const taken = `Package transaction ${nameOf(namesake)} was not made by this Package, which needs its name: delete it`;
  return rest(taken, { ...condition, reason: 'WaitingForTransaction', message: taken }, safetyWaitSeconds);
}

export function nameOf(object: JsonObject): string | undefined {
  return textAt(object, 'metadata', 'name');
}

export function uidOf(object: JsonObject): string {
  return textAt(object, 'metadata', 'uid') ?? '';
}

export function isRunning(ptx: JsonObject): boolean {
  return !isTerminal(textAt(ptx, 'status', 'phase'));
}

export function hasSucceeded(ptx: JsonObject): boolean {
  return textAt(ptx, 'status', 'phase') === 'Succeeded';
}
