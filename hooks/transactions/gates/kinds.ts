// The rules for when an object is ready if its gate does not define this itself. They follow from the kind, whatever the version.
// docs/gates.md has the rules as a table. They follow kstatus (sigs.k8s.io/cli-utils), except for the differences that are listed
// there.
import { at, isList, objectsAt, textAt } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import {
  behindWords,
  conditionOf,
  conditionsOf,
  conditionWords,
  failed,
  fewer,
  type GateEvidence,
  hasNumber,
  hasStatus,
  notYet,
  numberAt,
  phaseWords,
  ready,
  readyWithEvidence,
  reasonAt,
  type Seen,
  share,
  surplus,
  troubleWords,
  unless,
  type Verdict,
  withReason,
} from './verdict.ts';

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

function rowOf({ group, kind }: GateEvidence['resource']): Rule | undefined {
  return rules.get(`${group}/${kind}`);
}

/** Whether the write alone passes the gate, so that the engine reads nothing: no controller writes a status for a ConfigMap. */
export function needsNoRead({ gate, type, resource }: Pick<GateEvidence, 'gate' | 'type' | 'resource'>): boolean {
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

/** Conditions that have one meaning on every kind: the first such condition decides. */
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

// Kinds that keep Pods: Deployment, ReplicaSet, StatefulSet, DaemonSet. None fails because of one of its Pods: what keeps a Pod down
// is often another object that is still to come.

/** A Deployment with this deadline has none. Source: Kubernetes, deployment util, HasProgressDeadline. */
const noDeadline = 2_147_483_647;

const wantedReplicas = (seen: Seen): number => numberAt(seen, 'spec.replicas', 1);

function deployment(seen: Seen): Verdict {
  const progressing = conditionOf(seen.live, 'Progressing');
  if (textAt(progressing, 'reason') === 'ProgressDeadlineExceeded') return failed(troubleWords(seen, 'Progressing'), progressing);
  const wanted = wantedReplicas(seen);
  const [replicas, updated] = [numberAt(seen, 'status.replicas'), numberAt(seen, 'status.updatedReplicas')];
  const available = numberAt(seen, 'status.availableReplicas');
  return unless(
    [
      fewer(seen, replicas, wanted, 'replicas are created'),
      fewer(seen, updated, wanted, 'replicas are updated'),
      surplus(seen, replicas, wanted),
      fewer(seen, available, updated, 'replicas are available'),
      fewer(seen, numberAt(seen, 'status.readyReplicas'), wanted, 'replicas are ready'),
      isRolledOut(seen) ? undefined : conditionWords(seen, 'Progressing'),
      hasStatus(conditionOf(seen.live, 'Available'), 'True') ? undefined : conditionWords(seen, 'Available'),
    ],
    share(seen, available, wanted, 'replicas are available'),
  );
}

// If there is no deadline, the controller does not keep the condition up.
function isRolledOut(seen: Seen): boolean {
  if (numberAt(seen, 'spec.progressDeadlineSeconds', noDeadline) === noDeadline) return true;
  const progressing = conditionOf(seen.live, 'Progressing');
  return hasStatus(progressing, 'True') && textAt(progressing, 'reason') === 'NewReplicaSetAvailable';
}

function replicaSet(seen: Seen): Verdict {
  const wanted = wantedReplicas(seen);
  const failure = hasStatus(conditionOf(seen.live, 'ReplicaFailure'), 'True');
  const available = numberAt(seen, 'status.availableReplicas');
  return unless(
    [
      failure ? troubleWords(seen, 'ReplicaFailure') : undefined,
      fewer(seen, numberAt(seen, 'status.fullyLabeledReplicas'), wanted, 'replicas have all labels'),
      fewer(seen, available, wanted, 'replicas are available'),
      fewer(seen, numberAt(seen, 'status.readyReplicas'), wanted, 'replicas are ready'),
      surplus(seen, numberAt(seen, 'status.replicas'), wanted),
    ],
    share(seen, available, wanted, 'replicas are available'),
  );
}

const isOnDelete = ({ live }: Seen): boolean => textAt(live, 'spec', 'updateStrategy', 'type') === 'OnDelete';

function statefulSet(seen: Seen): Verdict {
  if (isOnDelete(seen)) return ready('its Pods are updated when somebody deletes them (OnDelete)');
  const wanted = wantedReplicas(seen);
  const replicas = numberAt(seen, 'status.replicas');
  const readyReplicas = numberAt(seen, 'status.readyReplicas');
  return unless(
    [
      fewer(seen, replicas, wanted, 'replicas are created'),
      fewer(seen, readyReplicas, wanted, 'replicas are ready'),
      surplus(seen, replicas, wanted),
      ...outdated(seen, wanted),
    ],
    share(seen, readyReplicas, wanted, 'replicas are ready'),
  );
}

function outdated(seen: Seen, wanted: number): readonly (string | undefined)[] {
  const partition = 'spec.updateStrategy.rollingUpdate.partition';
  if (hasNumber(seen, partition)) {
    return [fewer(seen, numberAt(seen, 'status.updatedReplicas'), wanted - numberAt(seen, partition), 'replicas are updated')];
  }
  const [current, update] = ['currentRevision', 'updateRevision'].map((name) => at(seen.live, 'status', name));
  return [
    fewer(seen, numberAt(seen, 'status.currentReplicas'), wanted, 'replicas are current'),
    current === update ? undefined : 'status.currentRevision is not status.updateRevision',
  ];
}

function daemonSet(seen: Seen): Verdict {
  const missing = ['metadata.generation', 'status.observedGeneration', 'status.desiredNumberScheduled'].find(
    (path) => !hasNumber(seen, path),
  );
  if (missing !== undefined) return notYet(`${missing} is not set`);
  const wanted = numberAt(seen, 'status.desiredNumberScheduled');
  const available = numberAt(seen, 'status.numberAvailable');
  return unless(
    [
      fewer(seen, numberAt(seen, 'status.currentNumberScheduled'), wanted, 'Pods are scheduled'),
      // With OnDelete it may never be reached.
      isOnDelete(seen) ? undefined : fewer(seen, numberAt(seen, 'status.updatedNumberScheduled'), wanted, 'Pods are updated'),
      fewer(seen, available, wanted, 'Pods are available'),
      fewer(seen, numberAt(seen, 'status.numberReady'), wanted, 'Pods are ready'),
    ],
    share(seen, available, wanted, 'Pods are available'),
  );
}

// Pod and Job.

function pod(seen: Seen): Verdict {
  const phase = textAt(seen.live, 'status', 'phase');
  if (phase === 'Succeeded') return ready(phaseWords(seen));
  if (phase === 'Failed') return failed(withReason(phaseWords(seen), reasonAt(seen.live, 'status', 'reason')));
  if (phase === 'Running' && hasStatus(conditionOf(seen.live, 'Ready'), 'True')) return ready(conditionWords(seen, 'Ready'));
  return notYet(held(seen) ?? (phase === 'Running' ? conditionWords(seen, 'Ready') : phaseWords(seen)));
}

/** Why it does not run: no node, or a container that waits. Neither is final. */
function held(seen: Seen): string | undefined {
  if (hasStatus(conditionOf(seen.live, 'PodScheduled'), 'False')) return conditionWords(seen, 'PodScheduled');
  const waiting = ['initContainerStatuses', 'containerStatuses']
    .flatMap((name) => objectsAt(seen.live, 'status', name))
    .find((one) => !isStarting(reasonAt(one, 'state', 'waiting', 'reason')));
  if (waiting === undefined) return undefined;
  const name = seen.sealed ? 'a container' : `container ${foreign(textAt(waiting, 'name') ?? '', 63)}`;
  return withReason(`${name} waits`, reasonAt(waiting, 'state', 'waiting', 'reason'));
}

/** Every container waits for these reasons once, or for none. */
const isStarting = (reason: string | undefined): boolean =>
  reason === undefined || reason === 'ContainerCreating' || reason === 'PodInitializing';

function job(seen: Seen): Verdict {
  const ended = conditionsOf(seen.live).find(
    (one) => hasStatus(one, 'True') && (textAt(one, 'type') === 'Complete' || textAt(one, 'type') === 'Failed'),
  );
  if (textAt(ended, 'type') === 'Complete') return ready('condition Complete is True');
  if (ended !== undefined) return failed(troubleWords(seen, 'Failed'), ended);
  if (at(seen.live, 'spec', 'suspend') === true) return notYet('it is suspended');
  if (textAt(seen.live, 'status', 'startTime') === undefined) return notYet('it has not started');
  // A work queue has no completions: it is complete once one Pod has succeeded and none runs.
  const wanted = numberAt(seen, 'spec.completions', 1);
  return notYet(`it runs: ${share(seen, numberAt(seen, 'status.succeeded'), wanted, 'Pods have succeeded')}`);
}

// Kinds that something outside the object provides for: a volume, an address, a served API.

const selectedNode = 'volume.kubernetes.io/selected-node';

function claim(seen: Seen): Verdict {
  const phase = textAt(seen.live, 'status', 'phase');
  if (phase === 'Bound') return ready(phaseWords(seen));
  // It may be that only a later change makes that Pod.
  if (phase === 'Pending' && waitsForPod(seen))
    return ready('phase is Pending: it waits for its first Pod (WaitForFirstConsumer)');
  return notYet(phaseWords(seen));
}

function waitsForPod({ live, storageClass }: Seen): boolean {
  const isChosen = at(live, 'metadata', 'annotations', selectedNode) !== undefined;
  return !isChosen && textAt(storageClass, 'volumeBindingMode') === 'WaitForFirstConsumer';
}

function service({ live }: Seen): Verdict {
  if (textAt(live, 'spec', 'type') !== 'LoadBalancer') return ready('a Service of this type needs no provider');
  const ingress = at(live, 'status', 'loadBalancer', 'ingress');
  const isProvided = isList(ingress) && ingress.length > 0;
  return isProvided ? ready('status.loadBalancer.ingress is set') : notYet('status.loadBalancer.ingress is empty');
}

function customResourceDefinition(seen: Seen): Verdict {
  const refused = conditionsOf(seen.live).find(
    (one) =>
      hasStatus(one, 'False') &&
      (textAt(one, 'type') === 'NamesAccepted' ||
        (textAt(one, 'type') === 'Established' && textAt(one, 'reason') !== 'Installing')),
  );
  if (refused !== undefined) return failed(troubleWords(seen, textAt(refused, 'type') ?? ''), refused);
  return unless(
    [untrue(seen, 'NamesAccepted'), untrue(seen, 'Established')],
    'conditions NamesAccepted and Established are True',
  );
}

function apiService(seen: Seen): Verdict {
  return unless([untrue(seen, 'Available')], 'condition Available is True');
}

function untrue(seen: Seen, type: string): string | undefined {
  return hasStatus(conditionOf(seen.live, type), 'True') ? undefined : conditionWords(seen, type);
}

function namespace(seen: Seen): Verdict {
  return unless([textAt(seen.live, 'status', 'phase') === 'Active' ? undefined : phaseWords(seen)], 'phase is Active');
}
