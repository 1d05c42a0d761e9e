// What the stages after a refusal would find. Each is run for the changes that the stages before it found nothing wrong with.

import type { Failure } from '../../objects/failure.ts';
import type { Fault } from '../checks/fault.ts';
import { needsOf } from '../checks/permissions.ts';
import { type Resolved, targetFaults } from '../checks/targets.ts';
import { checkRights, fillContents, type LockContext, ownFaults, resolveTargets } from '../observe/begin.ts';
import type { Prepared } from '../observe/observation.ts';
import { tryTargets } from '../observe/prepare.ts';
import { gapsOf, isGapOf } from './rights.ts';

export interface Later {
  readonly faults: readonly Fault[];
  readonly prepared: readonly Prepared[];
  /** Why some changes were not tried. */
  readonly trouble?: string;
}

export async function later(context: LockContext): Promise<Later> {
  const { reader, engineNamespace } = context;
  const { faults: own } = await ownFaults(context);
  // Of the whole: then nothing is known to be sound.
  if (own.some(({ item }) => item === undefined)) return { faults: own, prepared: [] };
  const filled = await fillContents(context);
  const { transaction } = filled;
  const targets = await resolveTargets(reader, transaction);
  const served = sound(targets.resolved, [...own, ...filled.faults, ...targets.faults]);
  const wrong = targetFaults(served, transaction, engineNamespace);
  const tried = { ...context, transaction };
  const rights = await checkRights(tried, served);
  const trial = await tryTargets(tried, sound(served, wrong));
  const refused = await withoutGaps(tried, served, trial.faults);
  const trouble = targets.trouble ?? rights.trouble ?? trial.trouble;
  return {
    faults: [...own, ...filled.faults, ...targets.faults, ...wrong, ...rights.faults, ...refused],
    prepared: trial.targets,
    ...(trouble === undefined ? {} : { trouble: untold(trouble) }),
  };
}

/** Why nothing is known of some changes. */
export function untold({ reason, said }: Failure): string {
  return `not all changes could be tried (${reason}${said === undefined ? '' : `: ${said}`}): try again`;
}

function sound(resolved: readonly Resolved[], faults: readonly Fault[]): readonly Resolved[] {
  const items = new Set(faults.map(({ item }) => item));
  return resolved.filter(({ index }) => !items.has(index));
}

// A request that is refused for a permission that is named as missing is no news.
async function withoutGaps(
  context: LockContext,
  resolved: readonly Resolved[],
  faults: readonly Fault[],
): Promise<readonly Fault[]> {
  const needs = needsOf(resolved);
  const gaps = await gapsOf(context, needs);
  const lacking = needs.filter((need) => gaps.some((gap) => isGapOf(gap, need))).flatMap(({ by }) => by);
  const items = new Set(lacking.map(({ index }) => index));
  return faults.filter(({ item, reason }) => reason !== 'Forbidden' || item === undefined || !items.has(item));
}
