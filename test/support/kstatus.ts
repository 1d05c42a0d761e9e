// The rule of kstatus for a kind that it has no rule of its own for: what Flux, Helm 4 and kapp take from a Transaction.
// Source: Compute in sigs.k8s.io/cli-utils/pkg/kstatus/status/core.go, with checkGenericProperties and checkReadyCondition.
import { at, isList, type Json, textAt } from '../../hooks/objects/json.ts';

type Kstatus = 'Terminating' | 'InProgress' | 'Failed' | 'Current';

export function kstatusOf(object: Json): Kstatus {
  if (textAt(object, 'metadata', 'deletionTimestamp') !== undefined) return 'Terminating';
  const [generation, observed] = [at(object, 'metadata', 'generation'), at(object, 'status', 'observedGeneration')];
  if (typeof observed === 'number' && observed !== generation) return 'InProgress';
  return byConditions(at(object, 'status', 'conditions')) ?? 'Current';
}

function byConditions(list: Json | undefined): Kstatus | undefined {
  const conditions = isList(list) ? list : [];
  const standard = conditions.find((one) => ['Reconciling', 'Stalled'].includes(typeOf(one)) && textAt(one, 'status') === 'True');
  if (standard !== undefined) return typeOf(standard) === 'Stalled' ? 'Failed' : 'InProgress';
  const ready = conditions.find((one) => typeOf(one) === 'Ready');
  if (ready === undefined) return undefined;
  return textAt(ready, 'status') === 'True' ? 'Current' : 'InProgress';
}

function typeOf(condition: Json): string {
  return textAt(condition, 'type') ?? '';
}
