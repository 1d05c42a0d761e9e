// Lists the objects that Kubernetes may delete with an object. It lists as the ServiceAccount, and only metadata.

import type { Resource } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import { kindOf, kindOfReference } from '../../objects/reference.ts';
import type { ListQuery } from '../../objects/requests/pager.ts';
import { apiServiceOf, awayOf, isPassing, type KindsListing, type Lister, listKinds, pluralOf } from '../reading/listing.ts';
import { type Candidates, type DeletionTarget, type Dependent, dependentOf, isCollected, isLeaving } from './dependents.ts';
import type { Hazards } from './hazards.ts';

type ListedCandidates =
  | ({ readonly kind: 'known' } & Candidates & Pick<Hazards, 'forbiddenKinds' | 'failingKinds' | 'unavailable'>)
  | { readonly kind: 'trouble'; readonly failure: Failure };

type Listed = KindsListing<Dependent>;

/**
 * For a moment, all objects in one namespace share one list. `isAgain`: the engine lists only some kinds. These are the kinds in
 * which the first list of this process found objects with an owner, and the kinds that it could not list. They also include the
 * kinds that often have dependents.
 */
export async function listCandidates(
  lister: Lister,
  { resource, target }: DeletionTarget,
  isAgain = false,
): Promise<ListedCandidates> {
  const served = await lister.callReads.once('resources', () => lister.reader.resources());
  if (served.kind === 'failed') return { kind: 'trouble', failure: served.failure };
  const near = await listNear(lister, served.resources, { namespace: target.namespace, isAgain });
  if (near.kind === 'trouble') return near;
  const more = await listBySign(lister, served.resources, { resource, target });
  if (more.kind === 'trouble') return more;
  // Nothing can be learned of a server that is away. It is passed over: one APIService must not hold up every deletion in the cluster.
  const unlistable = [...near.unlistable, ...more.unlistable];
  const failing = unlistable.filter(isPassing);
  const away = [...served.away, ...failing.map((one) => awayOf(one, served.stale))].filter((one) => one !== undefined);
  return {
    kind: 'known',
    owned: near.items.filter(({ owners }) => owners.length > 0),
    endpoints: near.items.filter(({ reference }) => reference.kind === 'Endpoints'),
    bySign: more.items,
    forbiddenKinds: unlistable.filter((one) => !isPassing(one)).map(({ kind }) => kind),
    failingKinds: failing.filter((one) => awayOf(one, served.stale) === undefined),
    unavailable: [...new Set(away.map(apiServiceOf))],
  };
}

// A namespaced object has its dependents in its namespace. If one kind cannot be listed, only that kind is in trouble; if no kind
// can be listed, the API server is.
async function listNear(
  lister: Lister,
  resources: readonly Resource[],
  { namespace, isAgain }: { readonly namespace: string | undefined; readonly isAgain: boolean },
): Promise<Listed> {
  const place = namespace ?? '';
  const known = isAgain ? lister.callReads.kinds.get(place) : undefined;
  const isIn = ({ namespaced }: Resource): boolean => namespaced || namespace === undefined;
  const isToList = (resource: Resource): boolean =>
    known === undefined || listedAgain.has(kindOf(resource)) || known.has(kindOf(resource)) || known.has(pluralOf(resource));
  const wanted = resources.filter((resource) => isIn(resource) && isCollected(resource) && isToList(resource));
  const key = `dependents ${place}${known === undefined ? '' : ` again ${known.size}`}`;
  const listed = await listKinds(
    lister,
    key,
    wanted.map((resource) => ({ resource, namespace })),
    pick,
  );
  if (listed.kind === 'trouble') return listed;
  const [first] = listed.unlistable.filter(isPassing).length === wanted.length ? listed.unlistable : [];
  if (first !== undefined) return { kind: 'trouble', failure: first.failure };
  if (known === undefined) lister.callReads.kinds.set(place, kindsIn(listed));
  return listed;
}

/** Kinds that controllers and people often make for other objects, and those that hold data. */
const listedAgain = new Set([
  ...['/Pod', '/PersistentVolumeClaim', '/ConfigMap', '/Secret', '/Service', '/Endpoints', 'discovery.k8s.io/EndpointSlice'],
  ...['apps/Deployment', 'apps/ReplicaSet', 'apps/StatefulSet', 'apps/DaemonSet', '/ReplicationController'],
  ...['batch/Job', 'batch/CronJob'],
]);

function kindsIn({ items, unlistable }: Extract<Listed, { kind: 'listed' }>): ReadonlySet<string> {
  return new Set([...items.map(({ reference }) => kindOfReference(reference)), ...unlistable.map(({ kind }) => kind)]);
}

/** Lists dependents that are found by other signs than an owner reference. */
async function listBySign(
  lister: Lister,
  resources: readonly Resource[],
  { resource, target }: Pick<DeletionTarget, 'resource' | 'target'>,
): Promise<Listed> {
  const signs = {
    '/ServiceAccount': ['secrets', 'type=kubernetes.io/service-account-token', target.namespace],
    '/Node': ['pods', `spec.nodeName=${target.name}`, undefined],
  } as const;
  const [plural, fieldSelector, namespace] = signs[kindOf(resource) as '/Node'] ?? [];
  const wanted = resources.find((one) => one.group === '' && one.plural === plural);
  if (wanted === undefined || fieldSelector === undefined) return { kind: 'listed', items: [], unlistable: [] };
  return listKinds(lister, `${namespace} ${fieldSelector}`, [{ resource: wanted, namespace, fieldSelector }], pick);
}

// Most objects of a cluster are no dependents: these are not kept.
function pick({ resource, fieldSelector }: ListQuery, object: JsonObject): readonly Dependent[] {
  const one = dependentOf(resource, object);
  const mayGo = fieldSelector !== undefined || one.owners.length > 0 || resource.plural === 'endpoints';
  return mayGo && !isLeaving(one) ? [one] : [];
}
