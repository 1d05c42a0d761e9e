// Orphans that a controller of Kubernetes deletes in answer to a change: objects without a controller, so that nobody recreates them. Pure.
//
// 1. A NoExecute taint evicts the Pods of its Node that do not tolerate it for ever.
// 2. A controller that comes adopts the Pods that its selector matches. A ReplicaSet deletes those beyond its replicas; a StatefulSet and a
//    DaemonSet replace those that are of no revision, a StatefulSet deletes those beyond its ordinals.
// 3. A Deployment that comes adopts ReplicaSets, and takes the Pods of those that are not its own.
// What a deleted controller of the same kind left (`--cascade=orphan`) has the label of its revision: it is adopted again as it is.
//
// Sources: k8s.io/kubernetes pkg/controller/tainteviction/taint_eviction.go; replicaset/replica_set.go, manageReplicas;
// statefulset/stateful_set_control.go, processReplica and processCondemned; daemon/update.go, rollingUpdate;
// deployment/deployment_controller.go, getReplicaSetsForDeployment; k8s.io/api/core/v1/toleration.go.
import { at, equalJson, isList, type Json, type JsonObject, textAt } from '../model/json.ts';
import { kindOfReference } from '../model/reference.ts';
import { labelSelectorOf } from '../model/selector.ts';
import { ordinalsOf } from './consequences.ts';

/** What a change makes a controller delete. */
export interface OrphanLoss {
  readonly of: 'pods' | 'replicasets';
  readonly selector: { readonly labelSelector?: string; readonly fieldSelector?: string };
  /** Undefined for all namespaces. */
  readonly namespace: string | undefined;
  /** Whether one of those that the selector matches may be deleted. */
  readonly mayLose: (object: JsonObject) => boolean;
  /** How many such objects may be there before one is deleted. */
  readonly spared: number;
  /** In words, before the names. */
  readonly why: string;
}

/** What may be lost once `before` becomes `after`; undefined where nothing is. `before`: undefined if the object is not there. */
export function orphanLossBy(before: JsonObject | undefined, after: JsonObject): OrphanLoss | undefined {
  const kind = kindOfReference({ apiVersion: textAt(after, 'apiVersion') ?? '', kind: textAt(after, 'kind') ?? '' });
  if (kind === '/Node') return evictions(before, after);
  if (before !== undefined && equalJson(at(before, 'spec', 'selector'), at(after, 'spec', 'selector'))) return undefined;
  const adopter = adopters[kind];
  const labelSelector = labelSelectorOf(after);
  if (adopter === undefined || labelSelector === undefined) return undefined;
  return {
    of: 'pods',
    selector: { labelSelector },
    namespace: textAt(after, 'metadata', 'namespace'),
    spared: 0,
    ...adopter(after),
  };
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

const adopters: Readonly<Record<string, Adopter>> = {
  '/ReplicationController': surplus,
  'apps/ReplicaSet': surplus,
  'apps/StatefulSet': (after) => ({
    mayLose: (pod) => isOrphan(pod) && isReplaced(after, pod),
    why: 'its selector matches Pods without a controller that have names of its Pods, and Kubernetes would delete or replace them',
  }),
  'apps/DaemonSet': (after) => ({
    mayLose: (pod) => isOrphan(pod) && !hasLabel(pod, revision) && textAt(after, 'spec', 'updateStrategy', 'type') !== 'OnDelete',
    why: 'its selector matches Pods without a controller, and Kubernetes would replace them',
  }),
  'apps/Deployment': (after) => ({
    of: 'replicasets',
    mayLose: (set) => isOrphan(set) && !hasLabel(set, 'pod-template-hash') && losesPods(after, set),
    why: 'its selector matches ReplicaSets without a controller, and Kubernetes would delete their Pods',
  }),
};

function isReplaced(after: JsonObject, pod: JsonObject): boolean {
  const [name, start] = [textAt(pod, 'metadata', 'name') ?? '', `${textAt(after, 'metadata', 'name')}-`];
  const ordinal = name.startsWith(start) ? name.slice(start.length) : '';
  if (!/^\d+$/.test(ordinal)) return false;
  const { from, to } = ordinalsOf(after);
  const isMember = from <= Number(ordinal) && Number(ordinal) < to;
  return !isMember || (!hasLabel(pod, revision) && textAt(after, 'spec', 'updateStrategy', 'type') !== 'OnDelete');
}

// The one with the template of the Deployment is taken as its own, and scaled.
function losesPods(deployment: JsonObject, set: JsonObject): boolean {
  const [wanted, has] = [deployment, set].map((one) => at(one, 'spec', 'replicas') ?? 1);
  return !equalJson(at(deployment, 'spec', 'template'), at(set, 'spec', 'template')) || Number(has) > Number(wanted);
}

function isOrphan(object: JsonObject): boolean {
  const owners = at(object, 'metadata', 'ownerReferences');
  const isControlled = isList(owners) && owners.some((owner) => at(owner, 'controller') === true);
  return !isControlled && textAt(object, 'metadata', 'deletionTimestamp') === undefined;
}

function hasLabel(object: JsonObject, label: string): boolean {
  return at(object, 'metadata', 'labels', label) !== undefined;
}

function evictions(before: JsonObject | undefined, after: JsonObject): OrphanLoss | undefined {
  const known = evictingTaints(before);
  const added = evictingTaints(after).filter((taint) => !known.some((one) => isSame(one, taint)));
  if (added.length === 0) return undefined;
  return {
    of: 'pods',
    selector: { fieldSelector: `spec.nodeName=${textAt(after, 'metadata', 'name')}` },
    namespace: undefined,
    mayLose: (pod) => isOrphan(pod) && !added.every((taint) => isToleratedBy(pod, taint)),
    spared: 0,
    why: 'with its NoExecute taints Kubernetes would delete Pods that have no controller',
  };
}

function evictingTaints(node: JsonObject | undefined): readonly Json[] {
  const taints = at(node, 'spec', 'taints');
  return (isList(taints) ? taints : []).filter((taint) => textAt(taint, 'effect') === 'NoExecute');
}

function isSame(one: Json, other: Json): boolean {
  return ['key', 'value'].every((part) => (textAt(one, part) ?? '') === (textAt(other, part) ?? ''));
}

// The first toleration that matches counts. One that ends only delays the eviction.
function isToleratedBy(pod: JsonObject, taint: Json): boolean {
  const tolerations = at(pod, 'spec', 'tolerations');
  const matching = (isList(tolerations) ? tolerations : []).find((toleration) => matches(toleration, taint));
  return matching !== undefined && at(matching, 'tolerationSeconds') === undefined;
}

function matches(toleration: Json, taint: Json): boolean {
  const said = (part: string): string => textAt(toleration, part) ?? '';
  if (!['', 'NoExecute'].includes(said('effect')) || !['', textAt(taint, 'key')].includes(said('key'))) return false;
  if (said('operator') === 'Exists') return true;
  return ['', 'Equal'].includes(said('operator')) && said('value') === (textAt(taint, 'value') ?? '');
}
