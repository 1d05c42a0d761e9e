// Objects that the garbage collector would take along with a deleted one: they cannot be put back as they were.

import type { Resolved } from '../checks/targets.ts';
import type { Identity, Reader, Resource } from '../cluster.ts';
import type { Failure } from '../model/failure.ts';
import { type JsonObject, textAt } from '../model/json.ts';
import { ownersOf } from './read.ts';

export type Dependents =
  | { readonly kind: 'known'; readonly byOwner: ReadonlyMap<string, readonly string[]> }
  | { readonly kind: 'trouble'; readonly failure: Failure };

// Kinds that own nothing, by what they are: no need to look through a whole namespace for them.
const leaves: readonly string[] = [
  '/ConfigMap',
  '/Secret',
  '/ServiceAccount',
  '/Endpoints',
  '/LimitRange',
  '/ResourceQuota',
  'discovery.k8s.io/EndpointSlice',
  'networking.k8s.io/NetworkPolicy',
  'networking.k8s.io/Ingress',
  'policy/PodDisruptionBudget',
  'autoscaling/HorizontalPodAutoscaler',
  'rbac.authorization.k8s.io/Role',
  'rbac.authorization.k8s.io/RoleBinding',
  'rbac.authorization.k8s.io/ClusterRole',
  'rbac.authorization.k8s.io/ClusterRoleBinding',
];

// Made anew by Kubernetes whenever their owner is there.
const derived: readonly string[] = [
  'discovery.k8s.io/EndpointSlice',
  '/Event',
  'events.k8s.io/Event',
  'metrics.k8s.io/PodMetrics',
];

function kindOf({ group, kind }: Pick<Resource, 'group' | 'kind'>): string {
  return `${group}/${kind}`;
}

/** Whether a deleted object of this kind may have dependents that count. */
export function mayOwn({ change, resource }: Resolved): boolean {
  return change.type === 'Delete' && !leaves.includes(kindOf(resource));
}

/**
 * The dependents, by uid of their owner, of what these changes delete. Kinds that the identity may not list are left out: what it
 * may not see it cannot be asked about.
 */
export async function findDependents(reader: Reader, identity: Identity, deleted: readonly Resolved[]): Promise<Dependents> {
  if (deleted.length === 0) return { kind: 'known', byOwner: new Map() };
  const all = await reader.resources();
  if (all.kind === 'failed') return { kind: 'trouble', failure: all.failure };
  const listable = all.resources.filter((resource) => resource.verbs.includes('list') && !derived.includes(kindOf(resource)));
  const isClusterWide = deleted.some(({ target }) => target.namespace === undefined);
  const namespaces = isClusterWide ? [undefined] : [...new Set(deleted.map(({ target }) => target.namespace))];
  const lists = namespaces.flatMap((namespace) =>
    listable
      .filter(({ namespaced }) => namespaced || isClusterWide)
      .map((resource) => listOne(reader, identity, resource, namespace)),
  );
  const listed = await Promise.all(lists);
  const trouble = listed.find((one) => one.kind === 'trouble');
  if (trouble?.kind === 'trouble') return trouble;
  return { kind: 'known', byOwner: group(listed.flatMap((one) => (one.kind === 'listed' ? one.items : []))) };
}

interface Item {
  readonly kind: string;
  readonly object: JsonObject;
}

type Listed = { readonly kind: 'listed'; readonly items: readonly Item[] } | Extract<Dependents, { kind: 'trouble' }>;

async function listOne(reader: Reader, identity: Identity, resource: Resource, namespace: string | undefined): Promise<Listed> {
  const answer = await reader.listMetadata(resource, namespace, identity, {});
  if (answer.kind === 'ok') return { kind: 'listed', items: answer.items.map((object) => ({ kind: resource.kind, object })) };
  return answer.failure.kind === 'transient' ? { kind: 'trouble', failure: answer.failure } : { kind: 'listed', items: [] };
}

function group(items: readonly Item[]): ReadonlyMap<string, readonly string[]> {
  const byOwner = new Map<string, readonly string[]>();
  for (const { kind, object } of items) {
    for (const owner of ownersOf(object)) {
      const uid = textAt(owner, 'uid') ?? '';
      byOwner.set(uid, [...(byOwner.get(uid) ?? []), `${kind} ${textAt(object, 'metadata', 'name')}`]);
    }
  }
  return byOwner;
}
