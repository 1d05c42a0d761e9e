// PersistentVolumeClaims that a StatefulSet makes and, by its persistentVolumeClaimRetentionPolicy, deletes with itself. Its
// controller sets itself as their owner when it makes them, or the next time it looks once the policy says so. Source:
// k8s.io/kubernetes pkg/controller/statefulset/stateful_set_utils.go, updateClaimOwnerRefForSetAndPod.
import type { Neighbour } from '../checks/company.ts';
import type { Resource } from '../cluster.ts';
import { textAt } from '../model/json.ts';
import { kindOfReference } from '../model/reference.ts';
import { inTurn, type Looker } from './listing.ts';

export const claims: Resource = {
  group: '',
  version: 'v1',
  plural: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  namespaced: true,
  verbs: [],
  statusSubresource: true,
};

/** The claims with a volume among the objects. A claim that cannot be read counts as one with a volume. */
export async function boundClaims({ reader, identity }: Looker, made: readonly Neighbour[]): Promise<readonly Neighbour[]> {
  const all = made.filter((one) => isClaim(one) && !isOfPod(one, made));
  const bound = await inTurn(all, async ({ reference: { namespace = '', name } }) => {
    const found = await reader.get({ resource: claims, namespace, name }, identity);
    return found.kind === 'ok' ? textAt(found.object, 'spec', 'volumeName') !== undefined : found.failure.kind !== 'absent';
  });
  return all.filter((_, index) => bound[index] === true);
}

function isClaim({ reference: { apiVersion, kind } }: Neighbour): boolean {
  return apiVersion === 'v1' && kind === claims.kind;
}

// An ephemeral claim: it is always deleted together with its Pod.
function isOfPod({ owners }: Neighbour, made: readonly Neighbour[]): boolean {
  const controllers = new Set(owners.filter(({ isController }) => isController).map(({ uid }) => uid));
  return made.some(({ uid, reference }) => controllers.has(uid) && kindOfReference(reference) === '/Pod');
}
