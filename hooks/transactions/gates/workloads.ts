// Kinds that keep Pods: Deployment, ReplicaSet, StatefulSet, DaemonSet. None fails because of one of its Pods: what keeps a Pod down
// is often another object that is still to come.
import { at, textAt } from '../../objects/json.ts';
import { conditionOf, conditionWords, hasStatus, troubleWords } from './conditions.ts';
import { fewer, hasNumber, numberAt, share, surplus } from './counts.ts';
import { failed, notYet, ready, type Seen, unless, type Verdict } from './verdict.ts';

/** A Deployment with this deadline has none. Source: Kubernetes, deployment util, HasProgressDeadline. */
const noDeadline = 2_147_483_647;

const wantedReplicas = (seen: Seen): number => numberAt(seen, 'spec.replicas', 1);

export function deployment(seen: Seen): Verdict {
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

// Where there is no deadline, the controller does not keep the condition up.
function isRolledOut(seen: Seen): boolean {
  if (numberAt(seen, 'spec.progressDeadlineSeconds', noDeadline) === noDeadline) return true;
  const progressing = conditionOf(seen.live, 'Progressing');
  return hasStatus(progressing, 'True') && textAt(progressing, 'reason') === 'NewReplicaSetAvailable';
}

export function replicaSet(seen: Seen): Verdict {
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

export function statefulSet(seen: Seen): Verdict {
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

export function daemonSet(seen: Seen): Verdict {
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
