// A plan: what would become of a Transaction. The command line loads this file only for a plan, because it loads most of the stages.
import type { JsonObject } from '../../objects/json.ts';
import type { Finding, Plan, PlanParts } from '../inspection.ts';
import { autoscalersOf } from './autoscalers.ts';
import { heldLocks, plannedChange } from './changes.ts';
import { finding } from './finding.ts';
import { survey } from './preflight.ts';
import { saidOfUndo } from './rights.ts';

export async function planOf(parts: PlanParts, object: JsonObject): Promise<Plan> {
  const found = await survey(parts, object);
  const { transaction, refusal, also, trouble, gaps, needs, locks, unseen, now, prepared } = found;
  const scaled = await autoscalersOf(parts, found);
  const { namespace, name, serviceAccountName } = transaction;
  const ofUndo = saidOfUndo(gaps, parts.actAs === 'caller' ? 'you' : `ServiceAccount ${namespace}/${serviceAccountName}`);
  const marked = (all: typeof refusal): readonly Finding[] =>
    all.map((one) => ({ ...finding(one), ...(ofUndo.has(one.message) ? { for: 'undo' } : {}) }));
  return {
    ...{ namespace, name, serviceAccountName, exact: parts.actAs === 'serviceAccount', gaps, needs },
    verdict: refusal.length > 0 ? 'refused' : trouble !== undefined ? 'unknown' : 'accepted',
    ...{ refusal: marked(refusal), also: marked(also), ...(trouble === undefined ? {} : { trouble }) },
    changes: prepared.map((one) => plannedChange(one, transaction, scaled.items)),
    ...{ locks: heldLocks(locks, prepared, transaction, now), unseen: [...unseen, ...scaled.unseen] },
  };
}
