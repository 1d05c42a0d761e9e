// What controllers of Kubernetes destroy in answer to a change of fields, be it a change or its undo: no later write brings it back. Pure.
//
// Sources: k8s.io/kubernetes pkg/controller/statefulset/stateful_set_control.go, processCondemned;
// pkg/controller/volume/persistentvolume/pv_controller.go, reclaimVolume;
// pkg/controller/ttlafterfinished/ttlafterfinished_controller.go, processJob;
// pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go, syncClusterRole;
// pkg/controller/serviceaccount/tokens_controller.go, syncSecret;
// pkg/registry/flowcontrol/ensurer, RemoveUnwantedObjects; kube-aggregator pkg/controllers/autoregister, checkAPIService;
// pkg/controller/endpointslice.
import { isToken, tokenAccount } from '../content/generated.ts';
import { at, equalJson, isList, type Json, type JsonObject, textAt } from '../model/json.ts';
import { kindOfObject } from '../model/reference.ts';

type Consequence = (before: JsonObject, after: Json, once: Json | undefined) => string | undefined;

/** What is lost once `before` becomes `after`, in words; undefined where nothing is. `once`: how the object was before, if it is set back. */
export function lossBy(before: JsonObject, after: Json, once?: Json): string | undefined {
  const kind = kindOfObject(before);
  return consequences.find(([of]) => of === kind)?.[1](before, after, once);
}

const consequences: readonly (readonly [string, Consequence])[] = [
  ['apps/StatefulSet', claimsOfScale],
  ['/PersistentVolume', reclaimedVolume],
  ['batch/Job', finishedJob],
  ['/Secret', strayToken],
  ['rbac.authorization.k8s.io/ClusterRole', aggregatedRules],
  ['flowcontrol.apiserver.k8s.io/FlowSchema', marked('annotations', 'apf.kubernetes.io/autoupdate-spec', 'true')],
  ['flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration', marked('annotations', 'apf.kubernetes.io/autoupdate-spec', 'true')],
  ['apiregistration.k8s.io/APIService', marked('labels', 'kube-aggregator.kubernetes.io/automanaged', 'true')],
  [
    'discovery.k8s.io/EndpointSlice',
    marked('labels', 'endpointslice.kubernetes.io/managed-by', 'endpointslice-controller.k8s.io'),
  ],
];

/** Kubernetes deletes what has its mark and is not its own. */
function marked(where: 'labels' | 'annotations', mark: string, value: string): Consequence {
  const has = (object: Json): boolean => textAt(object, 'metadata', where, mark) === value;
  return (before, after, once) =>
    once === undefined && !has(before) && has(after)
      ? `Kubernetes would take it for its own, and may delete it, since it has ${mark}=${value} then`
      : undefined;
}

function claimsOfScale(before: JsonObject, after: Json): string | undefined {
  const policy = textAt(after, 'spec', 'persistentVolumeClaimRetentionPolicy', 'whenScaled');
  return policy === 'Delete' && losesPods(before, after) && templatesOf(before).length > 0
    ? 'Kubernetes would delete the claims of the Pods that go, and what their volumes hold, since whenScaled is Delete'
    : undefined;
}

/** Whether Pods of the StatefulSet go. */
export function losesPods(before: Json, after: Json): boolean {
  const [old, next] = [ordinalsOf(before), ordinalsOf(after)];
  return old.from < old.to && (old.from < next.from || next.to < old.to);
}

/** Whether the claim is of a Pod that the StatefulSet has as `before`, and no longer as `after`. */
export function isClaimOfScale(claim: string, before: JsonObject, after: Json): boolean {
  const starts = templatesOf(before).map((template) => `${template}-${textAt(before, 'metadata', 'name')}-`);
  const ends = starts.filter((start) => claim.startsWith(start)).map((start) => claim.slice(start.length));
  const [old, next] = [ordinalsOf(before), ordinalsOf(after)];
  const isIn = ({ from, to }: Ordinals, ordinal: number): boolean => from <= ordinal && ordinal < to;
  return ends.some((end) => /^\d+$/.test(end) && isIn(old, Number(end)) && !isIn(next, Number(end)));
}

function templatesOf(set: Json): readonly string[] {
  const templates = at(set, 'spec', 'volumeClaimTemplates');
  return isList(templates) ? templates.map((template) => textAt(template, 'metadata', 'name') ?? '') : [];
}

/** From the first to before the last. */
interface Ordinals {
  readonly from: number;
  readonly to: number;
}

/** The ordinals of the Pods of a StatefulSet. */
export function ordinalsOf(set: Json): Ordinals {
  const [start, replicas] = [at(set, 'spec', 'ordinals', 'start'), at(set, 'spec', 'replicas')];
  const from = typeof start === 'number' ? start : 0;
  return { from, to: from + (typeof replicas === 'number' ? replicas : 1) };
}

function reclaimedVolume(before: JsonObject, after: Json): string | undefined {
  const policyOf = (volume: Json): string => textAt(volume, 'spec', 'persistentVolumeReclaimPolicy') ?? 'Retain';
  const isReleased = ['Released', 'Failed'].includes(textAt(before, 'status', 'phase') ?? '');
  const policy = policyOf(after);
  if (policy === 'Retain') return undefined;
  const [claim, other] = [before, after].map((volume) => at(volume, 'spec', 'claimRef'));
  if (textAt(other, 'uid') !== undefined && !equalJson(claim, other))
    return `Kubernetes would delete the volume with what it holds if no claim has that name and uid: its claimRef changes, and its policy is ${policy}`;
  if (!isReleased || policy === policyOf(before)) return undefined;
  return `Kubernetes would delete the volume with what it holds: no claim is bound to it, and its policy is ${policy} then`;
}

// Set back, a time to live is what its owner wanted.
function finishedJob(before: JsonObject, after: Json, once: Json | undefined): string | undefined {
  const [old, next] = [at(before, 'spec', 'ttlSecondsAfterFinished'), at(after, 'spec', 'ttlSecondsAfterFinished')];
  const isSooner = typeof next === 'number' && (typeof old !== 'number' || next < old);
  const conditions = at(before, 'status', 'conditions');
  const isFinished = (isList(conditions) ? conditions : []).some(
    (one) => ['Complete', 'Failed'].includes(textAt(one, 'type') ?? '') && textAt(one, 'status') === 'True',
  );
  return once === undefined && isSooner && isFinished
    ? `it has finished, and Kubernetes would delete it ${next} s after that`
    : undefined;
}

function aggregatedRules(before: JsonObject, after: Json, once: Json | undefined): string | undefined {
  const isAggregated = (role: Json | undefined): boolean => at(role, 'aggregationRule') !== undefined;
  const rules = at(once === undefined ? before : after, 'rules');
  if (isAggregated(before) || !isAggregated(after) || !isList(rules) || rules.length === 0) return undefined;
  // What Kubernetes has written there, it writes again.
  const isItsOwn = isAggregated(once) && equalJson(rules, at(once, 'rules') ?? []);
  return isItsOwn ? undefined : 'Kubernetes would overwrite its rules, since it has an aggregationRule then';
}

// Allowed once, it may be of its former ServiceAccount again.
function strayToken(before: JsonObject, after: Json, once: Json | undefined): string | undefined {
  if (once !== undefined || !isToken(before) || equalJson(tokenAccount(before), tokenAccount(after))) return undefined;
  return 'Kubernetes would delete the Secret, or its token, since it would be of another ServiceAccount';
}
