// Claims that Kubernetes deletes with an object, and the volumes behind them.
//
// PersistentVolumeClaims that a StatefulSet makes and, by its persistentVolumeClaimRetentionPolicy, deletes with itself. Its
// controller sets the StatefulSet as their owner when it makes them, or at its next run after the policy requires that. Source:
// k8s.io/kubernetes pkg/controller/statefulset/stateful_set_utils.go, updateClaimOwnerRefForSetAndPod.

import type { Resource } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { describe, kindOf, kindOfReference, type Reference } from '../../objects/reference.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { parseTime } from '../../objects/time.ts';
import { type Lister, listAll } from '../reading/listing.ts';
import { type Dependent, dependentOf } from './dependents.ts';
import type { Hazards } from './hazards.ts';
import { type HazardContext, nameIn } from './read-context.ts';
import { isClaimOfScale } from './triggers.ts';

export const claims: Resource = {
  group: '',
  version: 'v1',
  plural: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  namespaced: true,
  verbs: [],
  statusSubresource: true,
};

const volumes: Resource = { ...claims, plural: 'persistentvolumes', kind: 'PersistentVolume', namespaced: false };

/**
 * The claims of the Pods that a StatefulSet loses by an undo. Claims that are older than the Transaction belong to others. Their
 * volumes count with the volumes that were not made for a claim.
 */
export async function readClaims(
  { lister, transaction, undo }: HazardContext,
  { before = {}, after = {} }: { readonly before: JsonObject | undefined; readonly after: JsonObject | undefined },
): Promise<Partial<Hazards>> {
  if (undo === undefined) return {};
  const namespace = textAt(before, 'metadata', 'namespace') ?? '';
  const pick = (object: JsonObject): readonly JsonObject[] =>
    volumeOf(object) !== undefined && isClaimOfScale(textAt(object, 'metadata', 'name') ?? '', before, after) ? [object] : [];
  // Which claims are picked depends on the replicas: another state of the StatefulSet is another list.
  const key = `claims of ${textAt(before, 'metadata', 'name')} ${namespace} ${textAt(before, 'metadata', 'resourceVersion')}`;
  const wanted = { resource: claims, namespace, whole: true };
  const listing = await lister.callReads.once(key, () => listAll(lister, key, wanted, pick));
  if (listing.kind === 'denied') return { forbiddenKinds: [claims.plural] };
  if (listing.kind !== 'listed') return { trouble: listing.failure };
  const isOlder = (claim: JsonObject): boolean =>
    (parseTime(textAt(claim, 'metadata', 'creationTimestamp')) ?? 0) < transaction.createdAt;
  return {
    claims: listing.items.map((claim) => describe(dependentOf(claims, claim).reference)),
    volumes: listing.items.filter(isOlder).map((claim) => `${volumes.kind} ${volumeOf(claim)}`),
  };
}

interface Claim {
  readonly reference: Reference;
  /** Undefined if it cannot be read. */
  readonly object: JsonObject | undefined;
}

/** The claims with a volume among what the controllers of an object made. A claim that cannot be read counts as one with a volume. */
async function claimsBehind({ reader, identity }: Lister, made: readonly Dependent[]): Promise<readonly Claim[]> {
  const pods = new Set(made.filter(({ reference }) => kindOfReference(reference) === '/Pod').map(({ uid }) => uid));
  const all = made.filter((one) => isClaim(one) && !isOfPod(one, pods));
  const found = await inTurn(all, async ({ reference }): Promise<readonly Claim[]> => {
    const { namespace = '', name } = reference;
    const answer = await reader.get({ resource: claims, namespace, name }, identity);
    if (answer.kind === 'failed') return answer.failure.kind === 'absent' ? [] : [{ reference, object: undefined }];
    return volumeOf(answer.object) === undefined ? [] : [{ reference, object: answer.object }];
  });
  return found.flat();
}

function volumeOf(claim: JsonObject): string | undefined {
  return textAt(claim, 'spec', 'volumeName');
}

/**
 * The claims with a volume that Kubernetes deletes with an object. Also the volumes that Kubernetes deletes with these claims by
 * their reclaim policy, and that were not made for these claims, or for the object if it is a claim. A volume that is made for a
 * claim has the uid of the claim in its name. Sources: k8s.io/kubernetes pkg/controller/volume/persistentvolume,
 * getProvisionedVolumeNameForClaim and reclaimVolume.
 */
export async function readVolumes(
  context: HazardContext,
  object: JsonObject,
  made: readonly Dependent[],
): Promise<Partial<Pick<Hazards, 'claims' | 'volumes' | 'forbiddenKinds' | 'trouble'>>> {
  const { lister, entry } = context;
  const bound = await claimsBehind(lister, made);
  const own = kindOf(entry.resource) === `/${claims.kind}` ? [object] : [];
  const all = [...own, ...bound.flatMap((claim) => (claim.object === undefined ? [] : [claim.object]))];
  const found = await inTurn(all, async (claim) => (isMadeFor(claim) ? undefined : reclaimed(lister, claim)));
  const failures = found.filter((one) => typeof one === 'object');
  const trouble = failures.find(({ kind }) => kind === 'transient');
  if (trouble !== undefined) return { trouble };
  return {
    claims: bound.map(({ reference }) => nameIn(context, reference)),
    volumes: found.filter((one) => typeof one === 'string'),
    forbiddenKinds: failures.length > 0 ? [volumes.plural] : [],
  };
}

function isMadeFor(claim: JsonObject): boolean {
  return (volumeOf(claim) ?? '').endsWith(textAt(claim, 'metadata', 'uid') ?? '');
}

/** The name of the volume of the claim if Kubernetes deletes it with the claim; the failure if it cannot be read. */
async function reclaimed({ reader, identity }: Lister, claim: JsonObject): Promise<string | Failure | undefined> {
  const name = volumeOf(claim);
  if (name === undefined) return undefined;
  const answer = await reader.get({ resource: volumes, name }, identity);
  if (answer.kind === 'failed') return answer.failure.kind === 'absent' ? undefined : answer.failure;
  const isBound = textAt(answer.object, 'spec', 'claimRef', 'uid') === textAt(claim, 'metadata', 'uid');
  const isDeleted = isBound && textAt(answer.object, 'spec', 'persistentVolumeReclaimPolicy') !== 'Retain';
  return isDeleted ? `${volumes.kind} ${name}` : undefined;
}

function isClaim({ reference: { apiVersion, kind } }: Dependent): boolean {
  return apiVersion === 'v1' && kind === claims.kind;
}

// An ephemeral claim: it is always deleted together with its Pod.
function isOfPod({ owners }: Dependent, pods: ReadonlySet<string>): boolean {
  return owners.some(({ uid, isController }) => isController && pods.has(uid));
}
