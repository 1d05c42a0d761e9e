// The permissions of a plan: all that are needed, and those that are missing.

import type { AccessQuestion } from '../../objects/cluster.ts';
import { gapFaults, merged, type Need, needsOf, needsOfGates, needsOfSources, needsOfWays } from '../checks/permissions.ts';
import type { Gap } from '../inspection.ts';
import { reviewAccess } from '../observe/access.ts';
import { type LockContext, resolveTargets } from '../observe/begin.ts';
import type { Prepared } from '../observe/observation.ts';

/** Of every change whose kind is served; of an Apply as far as its way is known. */
export async function needsOfAll(context: LockContext, prepared: readonly Prepared[]): Promise<readonly Need[]> {
  const { resolved } = await resolveTargets(context.reader, context.transaction);
  // A dry run that has passed shows a right, and does not make it needless.
  const ways = needsOfWays(prepared.map((one) => ({ ...one, approximate: true })));
  const sources = needsOfSources(context.transaction).map((question): Need => ({ question, by: [], purpose: 'change' }));
  return merged([...sources, ...needsOf(resolved), ...ways, ...needsOfGates(context.transaction, resolved)]);
}

/** What was not answered is no gap: the verdict says so. */
export async function gapsOf(context: LockContext, needs: readonly Need[]): Promise<readonly Gap[]> {
  const missing = async (purpose: Gap['for']): Promise<readonly Gap[]> => {
    const access = await reviewAccess(
      context,
      needs.filter((need) => need.purpose === purpose),
    );
    return access.kind === 'reviewed' ? access.gaps.map((question) => ({ question, for: purpose })) : [];
  };
  return [...(await missing('change')), ...(await missing('undo'))];
}

/** What the faults say that name a permission which only the undo needs. */
export function saidOfUndo(gaps: readonly Gap[], who: string): ReadonlySet<string> {
  const questions = gaps.filter((gap) => gap.for === 'undo').map(({ question }) => question);
  return new Set(gapFaults(questions, who).map(({ message }) => message));
}

/** Whether the gap, which may be one of a single name, is one of this need. */
export function isGapOf({ question: gap }: Gap, { question }: Need): boolean {
  const members = ['verb', 'group', 'resource', 'namespace', 'subresource'] satisfies (keyof AccessQuestion)[];
  return members.every((member) => gap[member] === question[member]);
}
