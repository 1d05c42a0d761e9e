// Orphans that a controller of Kubernetes deletes in answer to a change: objects without a controller, so that nobody recreates them. Pure.
//
// 1. A NoExecute taint evicts the Pods of its Node that do not tolerate it for ever.
// 2. A controller that comes adopts the Pods that its selector matches. A ReplicaSet deletes those beyond its replicas; a StatefulSet and a
//    DaemonSet replace those that are of no revision, a StatefulSet deletes those beyond its ordinals.
// 3. A Deployment that comes adopts ReplicaSets, and takes the Pods of those that are not its own.
// 4. A Pod or a ReplicaSet that gets other labels is adopted by a controller whose selector matches these.
// What a deleted controller of the same kind left (`--cascade=orphan`) has the label of its revision: it is adopted again as it is.
//
// Sources: k8s.io/kubernetes pkg/controller/tainteviction/taint_eviction.go; replicaset/replica_set.go, manageReplicas;
// statefulset/stateful_set_control.go, processReplica and processCondemned; daemon/update.go, rollingUpdate;
// deployment/deployment_controller.go, getReplicaSetsForDeployment; k8s.io/api/core/v1/toleration.go.
import { isTerminating } from '../content/ownership.ts';
import { at, equalJson, isList, isObject, type JsonObject, textAt } from '../model/json.ts';
import { kindOfObject } from '../model/reference.ts';
import { labelSelectorOf, selects } from '../model/selector.ts';
import { ordinalsOf } from './consequences.ts';
import { evictingTaints, isToleratedBy } from './taints.ts';

/** What a change makes a controller delete. */
export interface OrphanLoss {
  readonly of: readonly Plural[];
  readonly selector: { readonly labelSelector?: string; readonly fieldSelector?: string };
  /** Undefined for all namespaces. */
  readonly namespace: string | undefined;
  /** Whether one of those that the selector matches may be deleted, or deletes the orphan. */
  readonly mayLose: (object: JsonObject, of: Plural) => boolean;
  /** How many such objects may be there before one is deleted. */
  readonly spared: number;
  /** In words, before the names. */
  readonly why: string;
  /** What a user does. */
  readonly remedy: string;
}

/** Kinds by their plural. */
export type Plural = 'pods' | 'replicasets' | 'replicationcontrollers' | 'statefulsets' | 'daemonsets' | 'deployments';

/** What may be lost once `before` becomes `after`; undefined where nothing is. `before`: undefined if the object is not there. */
export function orphanLossBy(before: JsonObject | undefined, after: JsonObject): OrphanLoss | undefined {
  const kind = kindOfObject(after);
  if (kind === '/Node') return evictions(before, after);
  return adoptionBy(kind, before, after) ?? adoptionOf(kind, before, after);
}

/** By a controller that comes, or that gets another selector. */
function adoptionBy(kind: string, before: JsonObject | undefined, after: JsonObject): OrphanLoss | undefined {
  const adopter = adopters[kind];
  if (adopter === undefined) return undefined;
  if (before !== undefined && equalJson(at(before, 'spec', 'selector'), at(after, 'spec', 'selector'))) return undefined;
  const labelSelector = labelSelectorOf(after);
  if (labelSelector === undefined) return undefined;
  return {
    of: ['pods'],
    selector: { labelSelector },
    namespace: textAt(after, 'metadata', 'namespace'),
    spared: 0,
    remedy: 'delete them',
    ...adopter(after),
  };
}

const mayAdopt: Readonly<Record<string, readonly Plural[]>> = {
  '/Pod': ['replicasets', 'replicationcontrollers', 'statefulsets', 'daemonsets'],
  'apps/ReplicaSet': ['deployments'],
};

/** Of an orphan that gets other labels. */
function adoptionOf(kind: string, before: JsonObject | undefined, after: JsonObject): OrphanLoss | undefined {
  const [was, is] = [labelsOf(before), labelsOf(after)];
  const of = mayAdopt[kind];
  if (of === undefined || before === undefined || !isOrphan(before) || equalJson(was, is)) return undefined;
  return {
    of,
    selector: {},
    namespace: textAt(after, 'metadata', 'namespace'),
    spared: 0,
    mayLose: (controller, plural) => selects(controller, is) && !selects(controller, was) && isLostTo(controller, plural, after),
    why: 'these controllers select its new labels, and delete, replace or scale down what they adopt and do not need',
    remedy: 'change its labels, or their selectors',
  };
}

function isLostTo(controller: JsonObject, plural: Plural, orphan: JsonObject): boolean {
  switch (plural) {
    case 'statefulsets':
      return isReplaced(controller, orphan);
    case 'daemonsets':
      return isUpdated(controller, orphan);
    case 'deployments':
      return !hasLabel(orphan, templateHash) && losesPods(controller, orphan);
    default:
      return Number(at(controller, 'status', 'replicas') ?? 0) >= Number(at(controller, 'spec', 'replicas') ?? 1);
  }
}

function labelsOf(object: JsonObject | undefined): JsonObject {
  const labels = at(object, 'metadata', 'labels');
  return isObject(labels) ? labels : {};
}

type Adopter = (after: JsonObject) => Pick<OrphanLoss, 'mayLose' | 'why'> & Partial<OrphanLoss>;

const surplus: Adopter = (after) => {
  const replicas = at(after, 'spec', 'replicas');
  return {
    spared: typeof replicas === 'number' ? replicas : 1,
    mayLose: (pod) => isOrphan(pod) && !['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase') ?? ''),
    why: 'its selector matches more Pods without a controller than it has replicas, and Kubernetes would delete some of them',
  };
};

const revision = 'controller-revision-hash';
const templateHash = 'pod-template-hash';

const adopters: Readonly<Record<string, Adopter>> = {
  '/ReplicationController': surplus,
  'apps/ReplicaSet': surplus,
  'apps/StatefulSet': (after) => ({
    mayLose: (pod) => isOrphan(pod) && isReplaced(after, pod),
    why: 'its selector matches Pods without a controller that have names of its Pods, and Kubernetes would delete or replace them',
  }),
  'apps/DaemonSet': (after) => ({
    mayLose: (pod) => isOrphan(pod) && isUpdated(after, pod),
    why: 'its selector matches Pods without a controller, and Kubernetes would replace them',
  }),
  'apps/Deployment': (after) => ({
    of: ['replicasets'],
    mayLose: (set) => isOrphan(set) && !hasLabel(set, templateHash) && losesPods(after, set),
    why: 'its selector matches ReplicaSets without a controller, and Kubernetes would delete their Pods',
  }),
};

function isReplaced(after: JsonObject, pod: JsonObject): boolean {
  const [name, start] = [textAt(pod, 'metadata', 'name') ?? '', `${textAt(after, 'metadata', 'name')}-`];
  const ordinal = name.startsWith(start) ? name.slice(start.length) : '';
  if (!/^\d+$/.test(ordinal)) return false;
  const { from, to } = ordinalsOf(after);
  const isMember = from <= Number(ordinal) && Number(ordinal) < to;
  return !isMember || isUpdated(after, pod);
}

function isUpdated(controller: JsonObject, pod: JsonObject): boolean {
  return !hasLabel(pod, revision) && textAt(controller, 'spec', 'updateStrategy', 'type') !== 'OnDelete';
}

// The one with the template of the Deployment is taken as its own, and scaled.
function losesPods(deployment: JsonObject, set: JsonObject): boolean {
  const [wanted, has] = [deployment, set].map((one) => at(one, 'spec', 'replicas') ?? 1);
  return !equalJson(at(deployment, 'spec', 'template'), at(set, 'spec', 'template')) || Number(has) > Number(wanted);
}

function isOrphan(object: JsonObject): boolean {
  const owners = at(object, 'metadata', 'ownerReferences');
  const isControlled = isList(owners) && owners.some((owner) => at(owner, 'controller') === true);
  return !isControlled && !isTerminating(object);
}

function hasLabel(object: JsonObject, label: string): boolean {
  return at(object, 'metadata', 'labels', label) !== undefined;
}

function evictions(before: JsonObject | undefined, after: JsonObject): OrphanLoss | undefined {
  const added = evictingTaints(before, after);
  if (added.length === 0) return undefined;
  return {
    of: ['pods'],
    selector: { fieldSelector: `spec.nodeName=${textAt(after, 'metadata', 'name')}` },
    namespace: undefined,
    mayLose: (pod) => isOrphan(pod) && !added.every((taint) => isToleratedBy(pod, taint)),
    spared: 0,
    why: 'with its NoExecute taints Kubernetes would delete Pods that have no controller',
    remedy: 'delete them',
  };
}
