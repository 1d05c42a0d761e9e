// What goes along with an object when it is deleted, from the metadata of what is around it. Pure.
//
// 1. What names it as owner, by uid: the garbage collector takes it.
// 2. What controllers take by other signs: Endpoints of the name of a Service (the API server itself does), token Secrets of a
//    ServiceAccount, the Pods of a Node.
// 3. And so on for what would go along with that.
//
// Sources: k8s.io/kubernetes pkg/controller/garbagecollector, serviceaccount/tokens_controller.go, podgc/gc_controller.go and
// pkg/registry/core/service/storage/storage.go.
import type { Resource } from '../cluster.ts';
import { at, isList, isObject, type Json, type JsonObject, textAt } from '../model/json.ts';
import { groupOf, type Reference } from '../model/reference.ts';

export interface Neighbour {
  readonly reference: Reference;
  readonly uid: string;
  readonly owners: readonly Owner[];
  /** Of its metadata what is looked at: others decide how large the rest is. */
  readonly object: JsonObject;
}

interface Owner {
  readonly uid: string;
  readonly isController: boolean;
}

/** What is deleted. */
export interface Doomed {
  readonly resource: Pick<Resource, 'group' | 'kind'>;
  readonly target: Reference;
  /** Whole: the selector of a Service says whose its Endpoints are. */
  readonly object: JsonObject;
}

/** What was found around it; each list holds what its name says, and may hold more. */
export interface Surroundings {
  /** Those that have an owner. */
  readonly owned: readonly Neighbour[];
  readonly endpoints: readonly Neighbour[];
  /** Secrets of the type of a ServiceAccount's token. */
  readonly tokens: readonly Neighbour[];
  /** Pods that are bound to the Node that is deleted. */
  readonly pods: readonly Neighbour[];
}

export function neighbourOf({ group, version, kind }: Resource, object: JsonObject): Neighbour {
  const namespace = textAt(object, 'metadata', 'namespace');
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return {
    reference: {
      apiVersion,
      kind,
      name: textAt(object, 'metadata', 'name') ?? '',
      ...(namespace === undefined ? {} : { namespace }),
    },
    uid: textAt(object, 'metadata', 'uid') ?? '',
    owners: ownerReferences(object).map((owner) => ({
      uid: textAt(owner, 'uid') ?? '',
      isController: at(owner, 'controller') === true,
    })),
    object: { metadata: slim(at(object, 'metadata')) },
  };
}

const readLabels = ['endpointslice.kubernetes.io/managed-by', 'kubernetes.io/service-name'];
const readAnnotations = ['kubernetes.io/service-account.name', 'kubernetes.io/service-account.uid'];

// That there are labels or annotations counts too.
function slim(metadata: Json | undefined): JsonObject {
  const { deletionTimestamp, ownerReferences, managedFields, labels, annotations } = isObject(metadata) ? metadata : {};
  const kept = {
    deletionTimestamp,
    ownerReferences,
    managedFields: isList(managedFields) ? managedFields.map((entry) => only(entry, ['manager', 'operation'])) : undefined,
    labels: labels === undefined ? undefined : only(labels, readLabels),
    annotations: annotations === undefined ? undefined : only(annotations, readAnnotations),
  };
  return Object.fromEntries(Object.entries(kept).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}

function only(object: Json, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.flatMap((key) => (at(object, key) === undefined ? [] : [[key, at(object, key) ?? null]])));
}

function ownerReferences(object: JsonObject): readonly Json[] {
  const references = at(object, 'metadata', 'ownerReferences');
  return isList(references) ? references.filter(isObject) : [];
}

/**
 * What goes along with it and is lost. `isMade` says of which of these it is not, since it comes back with the object or is none
 * of anybody's: what goes along with those is looked at in their place.
 */
export function companyOf(
  doomed: Doomed,
  around: Surroundings,
  isMade: (neighbour: Neighbour, by: string) => boolean,
): readonly Neighbour[] {
  const uid = textAt(doomed.object, 'metadata', 'uid') ?? '';
  const ownedBy = dependentsOf(around.owned);
  const seen = new Set([uid]);
  const found: Neighbour[] = [];
  const visit = (neighbours: readonly Neighbour[], by: string): void => {
    const fresh = neighbours.filter((neighbour) => !seen.has(neighbour.uid) && !isLeaving(neighbour));
    for (const neighbour of fresh) seen.add(neighbour.uid);
    const [made, lost] = [true, false].map((wanted) => fresh.filter((neighbour) => isMade(neighbour, by) === wanted));
    found.push(...(lost ?? []));
    for (const neighbour of made ?? []) visit(ownedBy(neighbour.uid), neighbour.uid);
  };
  visit([...ownedBy(uid), ...bySigns(doomed, around)], uid);
  return found;
}

function dependentsOf(owned: readonly Neighbour[]): (uid: string) => readonly Neighbour[] {
  const byOwner = new Map<string, Neighbour[]>();
  for (const neighbour of owned)
    for (const { uid } of neighbour.owners) {
      const others = byOwner.get(uid) ?? [];
      others.push(neighbour);
      byOwner.set(uid, others);
    }
  return (uid) => byOwner.get(uid) ?? [];
}

/** Whether these are the Events of Kubernetes, which expire by themselves; other groups have kinds of that name too. */
export function areEvents({ group, plural }: Pick<Resource, 'group' | 'plural'>): boolean {
  return plural === 'events' && ['', 'events.k8s.io'].includes(group);
}

/** On its way out already: nothing is lost by our deed. */
export function isLeaving({ object }: Neighbour): boolean {
  return textAt(object, 'metadata', 'deletionTimestamp') !== undefined;
}

export function isControlledBy({ owners }: Neighbour, uid: string): boolean {
  return owners.some((owner) => owner.uid === uid && owner.isController);
}

function bySigns(doomed: Doomed, { endpoints, tokens, pods }: Surroundings): readonly Neighbour[] {
  const { target } = doomed;
  switch (kindOf(doomed.resource)) {
    case '/Service':
      return isFedByKubernetes(doomed.object) ? [] : endpoints.filter(({ reference }) => isBeside(reference, target));
    case '/ServiceAccount':
      return tokens.filter((token) => isTokenOf(token, doomed));
    case '/Node':
      return pods;
    default:
      return [];
  }
}

export function kindOf({ group, kind }: Pick<Resource, 'group' | 'kind'>): string {
  return `${group}/${kind}`;
}

function isBeside(one: Reference, other: Reference): boolean {
  return one.namespace === other.namespace && one.name === other.name;
}

/** Whether controllers of Kubernetes make the Endpoints and EndpointSlices of a Service, over whatever others write there. */
function isFedByKubernetes(service: JsonObject): boolean {
  return isObject(at(service, 'spec', 'selector')) && textAt(service, 'spec', 'type') !== 'ExternalName';
}

function isTokenOf({ reference, object }: Neighbour, { target, object: account }: Doomed): boolean {
  const said = (key: string): string => textAt(object, 'metadata', 'annotations', `kubernetes.io/service-account.${key}`) ?? '';
  if (reference.namespace !== target.namespace || said('name') !== target.name) return false;
  return said('uid') === '' || said('uid') === textAt(account, 'metadata', 'uid');
}

const slices = 'discovery.k8s.io/EndpointSlice';
const feeders: Readonly<Record<string, readonly string[]>> = {
  '/Service': ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io'],
  '/Endpoints': ['endpointslicemirroring-controller.k8s.io'],
};

/**
 * Whether an object is made again by Kubernetes as soon as the object that goes is back. Labels are no proof, everybody can write
 * them: these count where the controller that they name takes the object for its own, and writes or deletes it as it sees fit.
 */
export function isDerived({ reference, object }: Neighbour, { resource, target, object: doomed }: Doomed): boolean {
  const label = (name: string): string => textAt(object, 'metadata', 'labels', name) ?? '';
  if (kindOf({ ...reference, group: groupOf(reference.apiVersion) }) !== slices) return false;
  const feeder = label('endpointslice.kubernetes.io/managed-by');
  if (label('kubernetes.io/service-name') !== target.name || feeders[kindOf(resource)]?.includes(feeder) !== true) return false;
  return feeder !== 'endpointslice-controller.k8s.io' || isFedByKubernetes(doomed);
}
