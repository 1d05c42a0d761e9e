// The Pods of the new revision of an object, and those among them with a container that does not start. The gate of the object fails
// because of such a Pod, before its timeout.
//
// Pods of the revision before the change say nothing about the change. So a Pod counts only if it was created since the Transaction
// began, and if its controller has created it from the current template.
import { at, equalJson, isObject, type Json, type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { parseTime, storedResolution } from '../../objects/time.ts';
import type { StoredResource } from '../model/entry.ts';
import type { StartFailure } from '../model/gate.ts';
import { describePod } from './diagnosis.ts';

/** What was read of an object and of what its controller has made. */
interface Made {
  readonly resource: Pick<StoredResource, 'group' | 'kind'>;
  readonly object: JsonObject;
  /** Of a Deployment: its newest. */
  readonly replicaSet?: JsonObject | undefined;
  readonly pods: readonly JsonObject[];
  /** When the Transaction began, in ms by the API server's clock. */
  readonly begun: number;
  /** isSealed of model/entry.ts. */
  readonly sealed: boolean;
}

/** A Pod with a container that does not start now. */
export interface FailingPod {
  readonly uid: string;
  readonly failure: StartFailure;
  /** In words: `describePod`. */
  readonly found: string;
}

type IsNew = (made: Made) => (pod: JsonObject) => boolean;

/** Kinds that have Pods, and which of them belong to the current template. */
const kinds: Readonly<Record<string, IsNew>> = {
  'apps/Deployment': (made) => () => isCurrent(made),
  'apps/StatefulSet': ({ object }) => {
    const revision = textAt(object, 'status', 'updateRevision');
    return (pod) => isObserved(object) && revision !== undefined && labelOf(pod, 'controller-revision-hash') === revision;
  },
  // Its status names no revision. Its controller compares this number, too. Source: k8s.io/kubernetes
  // pkg/controller/daemon/util/daemonset_util.go, IsPodUpdated.
  'apps/DaemonSet': ({ object }) => {
    const generation = textAt(object, 'metadata', 'annotations', 'deprecated.daemonset.template.generation');
    return (pod) => generation !== undefined && labelOf(pod, 'pod-template-generation') === generation;
  },
  'apps/ReplicaSet': ({ object }) => {
    return () => isObserved(object);
  },
  'batch/Job': () => () => true,
  '/Pod': () => () => true,
};

export function hasPods({ group, kind }: Made['resource']): boolean {
  return `${group}/${kind}` in kinds;
}

/** At most one for each Pod and kind of failure, in the order of the Pods. */
export function failingPods(made: Made): readonly FailingPod[] {
  const isNew = kinds[`${made.resource.group}/${made.resource.kind}`]?.(made) ?? (() => false);
  return made.pods
    .filter((pod) => isMadeSince(pod, made) && !isLeaving(pod) && isNew(pod))
    .flatMap((pod) => failuresOf(pod).map((failure) => ({ uid: uidOf(pod), failure, found: describePod(pod, made.sealed) })));
}

function isMadeSince(pod: JsonObject, { begun, resource }: Made): boolean {
  if (resource.kind === 'Pod') return true;
  const created = parseTime(textAt(pod, 'metadata', 'creationTimestamp'));
  return created !== undefined && created > begun - storedResolution;
}

function isLeaving(pod: JsonObject): boolean {
  return textAt(pod, 'metadata', 'deletionTimestamp') !== undefined;
}

function uidOf(pod: JsonObject): string {
  return textAt(pod, 'metadata', 'uid') ?? '';
}

function labelOf(object: JsonObject, name: string): string | undefined {
  return textAt(object, 'metadata', 'labels', name);
}

function isObserved(object: JsonObject): boolean {
  const [generation, observed] = [at(object, 'metadata', 'generation'), at(object, 'status', 'observedGeneration')];
  return typeof generation === 'number' && typeof observed === 'number' && observed >= generation;
}

const templateHash = 'pod-template-hash';

// As the controller of Deployments compares them. Source: k8s.io/kubernetes pkg/controller/deployment/util/deployment_util.go,
// EqualIgnoreHash.
function isCurrent({ object, replicaSet }: Made): boolean {
  const [wanted, made] = [object, replicaSet].map((one) => withoutHash(at(one, 'spec', 'template')));
  return wanted !== undefined && made !== undefined && equalJson(wanted, made);
}

function withoutHash(template: Json | undefined): Json | undefined {
  const [metadata, labels] = [at(template, 'metadata'), at(template, 'metadata', 'labels')];
  if (!isObject(template) || !isObject(metadata) || !isObject(labels)) return template;
  const { [templateHash]: _hash, ...rest } = labels;
  return { ...template, metadata: { ...metadata, labels: rest } };
}

// Kubelets alternate between the first two. Source of the reasons: k8s.io/kubernetes pkg/kubelet/images/types.go, and
// pkg/kubelet/kuberuntime/kuberuntime_container.go.
const waits: Readonly<Record<StartFailure, readonly string[]>> = {
  Image: ['ErrImagePull', 'ImagePullBackOff', 'ErrImageNeverPull', 'InvalidImageName'],
  Container: ['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError'],
};

/** A container that ends a few times may only wait for a dependency. */
const fewRestarts = 3;

function failuresOf(pod: JsonObject): readonly StartFailure[] {
  const statuses = [...listAt(pod, 'status', 'initContainerStatuses'), ...listAt(pod, 'status', 'containerStatuses')];
  return [...new Set(statuses.flatMap((status) => failureOf(status) ?? []))];
}

function failureOf(status: Json): StartFailure | undefined {
  const reason = textAt(status, 'state', 'waiting', 'reason') ?? '';
  if (waits.Image.includes(reason)) return 'Image';
  if (waits.Container.includes(reason)) return 'Container';
  const restarts = at(status, 'restartCount');
  const isLooping = reason === 'CrashLoopBackOff' && typeof restarts === 'number' && restarts >= fewRestarts;
  return isLooping ? 'Container' : undefined;
}
