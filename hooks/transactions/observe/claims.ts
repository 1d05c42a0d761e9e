// Claims that go with an object, and the volumes behind them.
//
// PersistentVolumeClaims that a StatefulSet makes and, by its persistentVolumeClaimRetentionPolicy, deletes with itself. Its
// controller sets itself as their owner when it makes them, or the next time it looks once the policy says so. Source:
// k8s.io/kubernetes pkg/controller/statefulset/stateful_set_utils.go, updateClaimOwnerRefForSetAndPod.

import type { Resource } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { kindOf, kindOfReference, type Reference } from '../../objects/reference.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { parseTime } from '../../objects/time.ts';
import { type Doomed, type Neighbour, neighbourOf } from '../checks/company.ts';
import { isClaimOfScale } from '../checks/consequences.ts';
import { type Looker, listAll } from './listing.ts';

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

type Behind =
  | {
      readonly kind: 'known';
      /** The claims with a volume among what the controllers of the object made. */
      readonly claims: readonly Reference[];
      /** Volumes that were not made for a claim, and are deleted with it, in words. */
      readonly volumes: readonly string[];
      /** The kind of volumes, if the ServiceAccount may not read them: of these it is not known whether they go. */
      readonly unlisted: readonly string[];
    }
  | { readonly kind: 'trouble'; readonly failure: Failure };

/** What is stored behind an object, a claim or not, and what its controllers made. */
export async function storedBehind(looker: Looker, doomed: Doomed, made: readonly Neighbour[]): Promise<Behind> {
  const bound = await boundClaims(looker, made);
  const own = kindOf(doomed.resource) === `/${claims.kind}` ? [doomed.object] : [];
  const found = await volumesOfOthers(looker, [...own, ...bound.map(({ object }) => object)]);
  return found.kind === 'trouble' ? found : { ...found, claims: bound.map(({ reference }) => reference) };
}

/**
 * The same behind the Pods of a StatefulSet that it would no longer have, were it as `prior` again: with `whenScaled: Delete` their claims go.
 * Claims that are older than `since` (ms since the epoch) are of others: their volumes count with those that were not made for a claim.
 */
export async function storedBehindScale(
  looker: Looker,
  { live, prior, since }: { readonly live: JsonObject; readonly prior: JsonObject; readonly since: number },
): Promise<Behind> {
  const namespace = textAt(live, 'metadata', 'namespace') ?? '';
  const pick = (object: JsonObject): readonly JsonObject[] =>
    volumeOf(object) !== undefined && isClaimOfScale(textAt(object, 'metadata', 'name') ?? '', live, prior) ? [object] : [];
  // Which claims are picked depends on the replicas: another state of the StatefulSet is another look.
  const key = `claims of ${textAt(live, 'metadata', 'name')} ${namespace} ${textAt(live, 'metadata', 'resourceVersion')}`;
  const wanted = { resource: claims, namespace, whole: true };
  const listing = await looker.looks.once(key, () => listAll(looker, key, wanted, pick));
  if (listing.kind === 'denied') return { kind: 'known', claims: [], volumes: [], unlisted: [claims.plural] };
  if (listing.kind !== 'listed') return { kind: 'trouble', failure: listing.failure };
  const older = listing.items.filter((claim) => (parseTime(textAt(claim, 'metadata', 'creationTimestamp')) ?? 0) < since);
  return {
    kind: 'known',
    claims: listing.items.map((claim) => neighbourOf(claims, claim).reference),
    volumes: older.map((claim) => `${volumes.kind} ${volumeOf(claim)}`),
    unlisted: [],
  };
}

interface Claim {
  readonly reference: Reference;
  /** Undefined if it cannot be read. */
  readonly object: JsonObject | undefined;
}

/** The claims with a volume among the objects. A claim that cannot be read counts as one with a volume. */
async function boundClaims({ reader, identity }: Looker, made: readonly Neighbour[]): Promise<readonly Claim[]> {
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

type FoundVolumes = Omit<Extract<Behind, { kind: 'known' }>, 'claims'> | Extract<Behind, { kind: 'trouble' }>;

/**
 * The volumes, in words, that were not made for these claims, and that Kubernetes deletes with them by their reclaim policy. A volume
 * that is made for a claim has the uid of the claim in its name. Sources: k8s.io/kubernetes pkg/controller/volume/persistentvolume,
 * getProvisionedVolumeNameForClaim and reclaimVolume.
 */
async function volumesOfOthers(looker: Looker, claims: readonly (JsonObject | undefined)[]): Promise<FoundVolumes> {
  const others = claims.filter((claim) => claim !== undefined && !isMadeFor(claim));
  const found = await inTurn(others, (claim) => reclaimed(looker, claim ?? {}));
  const failures = found.filter((one) => typeof one === 'object');
  const trouble = failures.find(({ kind }) => kind === 'transient');
  if (trouble !== undefined) return { kind: 'trouble', failure: trouble };
  const unlisted = failures.length > 0 ? [volumes.plural] : [];
  return { kind: 'known', volumes: found.filter((one) => typeof one === 'string'), unlisted };
}

function isMadeFor(claim: JsonObject): boolean {
  return (volumeOf(claim) ?? '').endsWith(textAt(claim, 'metadata', 'uid') ?? '');
}

/** The volume of the claim, in words, if it goes with the claim; why it cannot be read, if so. */
async function reclaimed({ reader, identity }: Looker, claim: JsonObject): Promise<string | Failure | undefined> {
  const name = volumeOf(claim);
  if (name === undefined) return undefined;
  const answer = await reader.get({ resource: volumes, name }, identity);
  if (answer.kind === 'failed') return answer.failure.kind === 'absent' ? undefined : answer.failure;
  const isBound = textAt(answer.object, 'spec', 'claimRef', 'uid') === textAt(claim, 'metadata', 'uid');
  const goes = isBound && textAt(answer.object, 'spec', 'persistentVolumeReclaimPolicy') !== 'Retain';
  return goes ? `${volumes.kind} ${name}` : undefined;
}

function isClaim({ reference: { apiVersion, kind } }: Neighbour): boolean {
  return apiVersion === 'v1' && kind === claims.kind;
}

// An ephemeral claim: it is always deleted together with its Pod.
function isOfPod({ owners }: Neighbour, pods: ReadonlySet<string>): boolean {
  return owners.some(({ uid, isController }) => isController && pods.has(uid));
}
