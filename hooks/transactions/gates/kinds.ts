// When an object is ready whose gate does not say so itself: by its kind, whatever the version. docs/gates.md has the rules as a table.
// They follow kstatus (sigs.k8s.io/cli-utils) but for what is listed there.
import { at, textAt } from '../../objects/json.ts';
import { conditionOf, conditionsOf, conditionWords, hasStatus, troubleWords } from './conditions.ts';
import { behindWords } from './evidence.ts';
import type { Look } from './finding.ts';
import { job, pod } from './pods.ts';
import { apiService, claim, customResourceDefinition, namespace, service } from './provided.ts';
import { failed, notYet, ready, readyWithEvidence, type Seen, type Verdict } from './verdict.ts';
import { daemonSet, deployment, replicaSet, statefulSet } from './workloads.ts';

type Rule = (seen: Seen) => Verdict;

const atOnce: Rule = () => ready('it is stored, and nothing else makes it ready');

/** By `group/kind`. */
const rules: ReadonlyMap<string, Rule> = new Map([
  ['apps/Deployment', deployment],
  ['apps/StatefulSet', statefulSet],
  ['apps/DaemonSet', daemonSet],
  ['apps/ReplicaSet', replicaSet],
  ['/Pod', pod],
  ['batch/Job', job],
  ['/PersistentVolumeClaim', claim],
  ['/Service', service],
  ['/Namespace', namespace],
  ['apiextensions.k8s.io/CustomResourceDefinition', customResourceDefinition],
  ['apiregistration.k8s.io/APIService', apiService],
  // Kinds of Kubernetes whose status says how it goes, never that they are ready.
  ['batch/CronJob', atOnce],
  ['policy/PodDisruptionBudget', atOnce],
  ['autoscaling/HorizontalPodAutoscaler', atOnce],
  ['networking.k8s.io/Ingress', atOnce],
  ['/PersistentVolume', atOnce],
  ['/ResourceQuota', atOnce],
]);

function rowOf({ group, kind }: Look['resource']): Rule | undefined {
  return rules.get(`${group}/${kind}`);
}

/** Whether the gate is passed by the write alone, so that nothing is to be read: nobody writes a status for a ConfigMap. */
export function needsNoLook({ gate, type, resource }: Pick<Look, 'gate' | 'type' | 'resource'>): boolean {
  const isExplicit = gate.ready !== undefined || gate.failed !== undefined;
  return type !== 'Delete' && !isExplicit && !resource.statusSubresource && rowOf(resource) === undefined;
}

/** What the rule of the kind says of an object that is not being deleted. */
export function ruleOfKind(seen: Seen): Verdict {
  if (!seen.resource.statusSubresource && rowOf(seen.resource) === undefined) return atOnce(seen);
  return behind(seen) ?? standard(seen) ?? (rowOf(seen.resource) ?? custom)(seen);
}

// Whatever of the status is read next is of before the change.
function behind(seen: Seen): Verdict | undefined {
  const { live } = seen;
  const [observed, generation] = [at(live, 'status', 'observedGeneration'), at(live, 'metadata', 'generation')];
  if (typeof observed !== 'number' || typeof generation !== 'number' || observed === generation) return undefined;
  return notYet(behindWords(seen, observed));
}

/** Conditions that mean the same on every kind: the first of them decides. */
function standard(seen: Seen): Verdict | undefined {
  const found = conditionsOf(seen.live).find(
    (one) => hasStatus(one, 'True') && (textAt(one, 'type') === 'Reconciling' || textAt(one, 'type') === 'Stalled'),
  );
  if (found === undefined) return undefined;
  if (textAt(found, 'type') === 'Stalled') return failed(troubleWords(seen, 'Stalled'), found);
  return notYet(troubleWords(seen, 'Reconciling'));
}

function custom(seen: Seen): Verdict {
  const condition = conditionOf(seen.live, 'Ready');
  if (hasStatus(condition, 'True')) return readyWithEvidence('condition Ready is True', condition);
  if (condition !== undefined) return notYet(conditionWords(seen, 'Ready'));
  return readyWithEvidence(at(seen.live, 'status') === undefined ? 'it has no status' : 'its status has no condition Ready');
}
