// ConfigMaps of the engine in the namespace of a Transaction: a ResourceQuota counts them with those of its users.

import type { Failure } from '../../objects/failure.ts';
import type { Step } from '../decide/step.ts';
import { count } from '../decide/wording.ts';
import { type Reason, reasonOfFailure } from '../model/reason.ts';
import type { Observation } from '../observe/observation.ts';
import { failuresOf, type PerformedStep } from './answer.ts';

const forbidden = 403;

type Tried = Extract<Step, { kind: 'apply' | 'refused' | 'compensate' }>;

/** The words to add if the API server refuses a create: the snapshot may have taken its place. Empty if this is impossible. */
export function placesTaken(step: Tried, { code }: Failure, { status, transaction }: Observation): string {
  const { target } = step.entry;
  const isNearby = target.namespace === transaction.namespace && target.apiVersion === 'v1' && target.kind === 'ConfigMap';
  const ref = status.rollbackRef;
  if (code !== forbidden || !isNearby || ref === undefined || !isCreation(step)) return '';
  const names = ref.objects === 1 ? ref.name : `${ref.name} and ${ref.objects - 1} more`;
  const taken = `${count(ref.objects, 'ConfigMap')} in namespace ${transaction.namespace} (${names})`;
  return `; the snapshot of this Transaction uses ${taken}, which a ResourceQuota counts too`;
}

function isCreation(step: Tried): boolean {
  return step.kind === 'compensate' ? step.verdict.kind === 'recreate' : step.entry.type === 'Create';
}

/** Why a snapshot cannot be stored, and what to do. */
export function snapshotRefused(
  failure: Failure,
  { plan, outcome, observation }: PerformedStep,
): { readonly reason: Reason; readonly message: string } {
  const { message, code } = failure;
  if (code !== forbidden) return { reason: reasonOfFailure(failure), message: `the snapshot cannot be stored: ${message}` };
  const needed = plan.kind === 'sequence' ? plan.mutations.length : 0;
  const stored = outcome.length - failuresOf(outcome).length;
  const place = `${count(needed, 'ConfigMap')} in namespace ${observation.transaction.namespace}`;
  const kept = stored === 0 ? '' : `; ${stored} of them remain until this Transaction is deleted`;
  const next = 'raise the ResourceQuota or delete other ConfigMaps, then recreate the Transaction';
  return {
    reason: 'SnapshotRefused',
    message: `the snapshot cannot be stored: it requires ${place}: ${message}${kept}; ${next}`,
  };
}
