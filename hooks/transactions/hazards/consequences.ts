// What controllers of Kubernetes destroy in answer to a change of fields, be it a change or its undo: no later write brings it back. Pure.
//
// Sources: k8s.io/kubernetes pkg/controller/statefulset/stateful_set_control.go, processCondemned;
// pkg/controller/volume/persistentvolume/pv_controller.go, reclaimVolume;
// pkg/controller/serviceaccount/tokens_controller.go, syncSecret.
import { isToken, tokenAccount } from '../../objects/content/generated.ts';
import { at, equalJson, isList, type Json, type JsonObject, textAt } from '../../objects/json.ts';
import { kindOfObject } from '../../objects/reference.ts';

type Consequence = (before: JsonObject, after: Json, once: Json | undefined) => string | undefined;

/** What is lost once `before` becomes `after`, in words; undefined where nothing is. `once`: how the object was before, if it is set back. */
export function lossBy(before: JsonObject, after: Json, once?: Json): string | undefined {
  const kind = kindOfObject(before);
  return consequences.find(([of]) => of === kind)?.[1](before, after, once);
}

const consequences: readonly (readonly [string, Consequence])[] = [
  ['apps/StatefulSet', claimsOfScale],
  ['/PersistentVolume', reclaimedVolume],
  ['/Secret', strayToken],
];

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
function ordinalsOf(set: Json): Ordinals {
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

// Allowed once, it may be of its former ServiceAccount again.
function strayToken(before: JsonObject, after: Json, once: Json | undefined): string | undefined {
  if (once !== undefined || !isToken(before) || equalJson(tokenAccount(before), tokenAccount(after))) return undefined;
  return 'Kubernetes would delete the Secret, or its token, since it would be of another ServiceAccount';
}
