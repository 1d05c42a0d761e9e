// The entrance for the command line: what would become of a Transaction, and what has become of one. It only reads: a Reader is all it
// is given. The stages of the engine are run, none is written again.
import type { Fault } from './checks/fault.ts';
import { fault } from './checks/fault.ts';
import { staticFaults } from './checks/validity.ts';
import type { Resource } from './cluster.ts';
import { heldLocks, plannedChange, scalesReplicas } from './inspect/changes.ts';
import { fieldChanges } from './inspect/masks.ts';
import { mayQuoteSecrets, printed } from './inspect/printed.ts';
import { statesOf } from './inspect/states.ts';
import { type Survey, survey } from './inspect/survey.ts';
import type { ChangeStates, Finding, Plan, PlanParts, StatesParts } from './inspection.ts';
import { isObject, type Json, type JsonObject } from './model/json.ts';
import { decodeTransaction } from './model/transaction.ts';
import { engine } from './writes/resources.ts';

export { mayQuoteSecrets, printed };

/** What the Transaction alone shows: no cluster is needed. Pure. */
export function lint(object: Json): readonly Finding[] {
  if (!isObject(object)) return [finding(fault('Invalid', 'expected a Transaction, found no object'))];
  return staticFaults(decodeTransaction(object)).map(finding);
}

/**
 * The changes of a Transaction that is there: before, as expected, and now. Without the engine's key: what is sealed is said to be,
 * and that the rest was not modified is shown by the digest in the status alone.
 */
export function states(parts: StatesParts, object: JsonObject): Promise<readonly ChangeStates[]> {
  return statesOf(parts, object);
}

/** What the engine would do with the Transaction if it were created now. `object` names its namespace. Writes nothing. */
export async function plan(parts: PlanParts, object: JsonObject): Promise<Plan> {
  const found = await survey(parts, object);
  const { transaction, refusal, also, trouble, gaps, needs, locks, unseen, now, prepared } = found;
  const scaled = await autoscalers(parts, found);
  const { namespace, name, serviceAccountName } = transaction;
  return {
    ...{ namespace, name, serviceAccountName, exact: parts.actAs === 'serviceAccount', gaps, needs },
    verdict: refusal.length > 0 ? 'refused' : trouble !== undefined ? 'unknown' : 'accepted',
    refusal: refusal.map(finding),
    also: also.map(finding),
    ...(trouble === undefined ? {} : { trouble }),
    changes: prepared.map((one) => plannedChange(one, transaction, scaled.items)),
    locks: heldLocks(locks, prepared, transaction, now),
    unseen: [...unseen, ...scaled.unseen],
  };
}

function finding({ reason, message, item }: Fault): Finding {
  return item === undefined ? { reason, message } : { index: item, reason, message };
}

const horizontal: Resource = {
  ...{ group: 'autoscaling', version: 'v2', plural: 'horizontalpodautoscalers', kind: 'HorizontalPodAutoscaler' },
  ...{ namespaced: true, statusSubresource: true, verbs: ['list'] },
};

interface Autoscalers {
  readonly items: readonly JsonObject[];
  readonly unseen: readonly string[];
}

/** Those of the namespaces in which replicas are changed. */
async function autoscalers({ reader }: PlanParts, { prepared }: Survey): Promise<Autoscalers> {
  const scaled = prepared.filter(({ resolved: { resource }, prior, expected, way }) => {
    const fields = fieldChanges({ before: prior, after: expected }, { resource, hiding: 'values', withNow: false });
    return scalesReplicas(fields, way === 'Update' || way === 'Patch' ? 'update' : 'none');
  });
  const namespaces = [...new Set(scaled.flatMap(({ resolved: { target } }) => target.namespace ?? []))];
  const lists = await Promise.all(
    namespaces.map((namespace) => reader.listMetadata(horizontal, namespace, engine, { whole: true })),
  );
  const hidden = namespaces.filter((_, index) => lists[index]?.kind === 'failed');
  return {
    items: lists.flatMap((list) => (list.kind === 'ok' ? list.items : [])),
    unseen: hidden.map((namespace) => `HorizontalPodAutoscalers in namespace ${namespace}`),
  };
}
