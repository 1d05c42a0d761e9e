// Which objects Kubernetes deletes together with an object, computed from their metadata. Pure.
//
// 1. Objects that name it as owner, by uid: the garbage collector deletes them.
// 2. Objects that controllers delete by other signs: the Endpoints with the name of a Service (the API server deletes these
//    itself), token Secrets of a ServiceAccount, the Pods of a Node.
// 3. The dependents of those in turn.
//
// Sources: k8s.io/kubernetes pkg/controller/garbagecollector, serviceaccount/tokens_controller.go, podgc/gc_controller.go and
// pkg/registry/core/service/storage/storage.go.
import type { Resource } from '../../objects/cluster.ts';
import { writesAsController } from '../../objects/content/derived.ts';
import { type Manager, managersOf } from '../../objects/content/fields.ts';
import { isTerminating } from '../../objects/content/ownership.ts';
import { field, pathText } from '../../objects/content/path.ts';
import { whyIncomparable } from '../../objects/content/too-large.ts';
import { at, isList, isObject, type Json, type JsonObject, objectsAt, textAt } from '../../objects/json.ts';
import { apiVersionOf, kindOf, kindOfReference, type Reference } from '../../objects/reference.ts';
import { parseTime, serverTimeResolution } from '../../objects/time.ts';

export interface Dependent {
  readonly reference: Reference;
  readonly uid: string;
  /** In ms; undefined if it is not known. */
  readonly createdAt: number | undefined;
  readonly owners: readonly Owner[];
  /** Only the metadata that is needed: others decide how large the rest is. */
  readonly object: JsonObject;
  /** Endpoints that a controller of Kubernetes made for a Service. */
  readonly isFed?: true;
}

interface Owner {
  readonly uid: string;
  readonly isController: boolean;
}

/** The object to delete. */
export interface DeletionTarget {
  readonly resource: Pick<Resource, 'group' | 'kind'>;
  readonly target: Reference;
  /** The whole object: the selector of a Service decides who writes its Endpoints. */
  readonly object: JsonObject;
}

/** The objects that may be deleted with it. Each list contains at least what its name says. */
export interface Candidates {
  /** Objects with an owner. */
  readonly owned: readonly Dependent[];
  readonly endpoints: readonly Dependent[];
  /** Of a ServiceAccount: Secrets with the type of a token. Of a Node: the Pods on it. */
  readonly bySign: readonly Dependent[];
}

export function dependentOf(
  { group, version, kind }: Pick<Resource, 'group' | 'version' | 'kind'>,
  object: JsonObject,
): Dependent {
  const namespace = textAt(object, 'metadata', 'namespace');
  return {
    reference: {
      apiVersion: apiVersionOf({ group, version }),
      kind,
      name: textAt(object, 'metadata', 'name') ?? '',
      ...(namespace === undefined ? {} : { namespace }),
    },
    ...madeOf(object),
    owners: objectsAt(object, 'metadata', 'ownerReferences').map((owner) => ({
      uid: textAt(owner, 'uid') ?? '',
      isController: at(owner, 'controller') === true,
    })),
    object: { metadata: slim(at(object, 'metadata')) },
    ...(kind === 'Endpoints' && isFed(object) ? { isFed: true } : {}),
  };
}

// Controllers own the addresses, or all that there is without addresses. Who has annotated the Endpoints does not count.
function isFed(endpoints: JsonObject): boolean {
  if (whyIncomparable(endpoints) !== undefined) return false;
  const all = managersOf(endpoints);
  const writers = all.filter(({ fields }) => fields.has(addresses));
  const isOf = (manager: Manager): boolean => writesAsController('/Endpoints', manager);
  return writers.length > 0 ? writers.every(isOf) : all.some(isOf);
}

/** One list, which whoever writes it owns as a whole. */
export const addresses: string = pathText([field('subsets')]);

/** What may have made objects: the object to delete, or what was made of it. */
export type Maker = Pick<Dependent, 'uid' | 'createdAt'>;

function madeOf(object: JsonObject): Maker {
  return { uid: textAt(object, 'metadata', 'uid') ?? '', createdAt: parseTime(textAt(object, 'metadata', 'creationTimestamp')) };
}

const readLabels = ['endpointslice.kubernetes.io/managed-by', 'kubernetes.io/service-name'];
const readAnnotations = ['kubernetes.io/service-account.name', 'kubernetes.io/service-account.uid'];

// An object that has labels or annotations differs from one that has none, whichever they are: so both stay, with few keys.
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

/**
 * The objects that are lost together with the object to delete. `isMade` selects the objects that are not lost, because Kubernetes
 * makes them again, or because they belong to no user. Their own dependents count instead.
 */
export function cascade(
  deletion: DeletionTarget,
  candidates: Candidates,
  isMade: (dependent: Dependent, by: Maker) => boolean,
): readonly Dependent[] {
  const maker = madeOf(deletion.object);
  const ownedBy = dependentsOf(candidates.owned);
  const seen = new Set([maker.uid]);
  const found: Dependent[] = [];
  // Those that were made; the others are lost.
  const take = (dependents: readonly Dependent[], by: Maker): readonly Dependent[] => {
    const fresh = dependents.filter((dependent) => !seen.has(dependent.uid) && !isLeaving(dependent));
    for (const dependent of fresh) seen.add(dependent.uid);
    const made = new Set(fresh.filter((dependent) => isMade(dependent, by)));
    for (const dependent of fresh) if (!made.has(dependent)) found.push(dependent);
    return [...made];
  };
  // Others decide how long a chain of owners is: those that wait for their turn are in a list, not on the stack.
  const waiting = take([...ownedBy(maker.uid), ...withoutReference(deletion, candidates)], maker).toReversed();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    for (const made of take(ownedBy(next.uid), next).toReversed()) waiting.push(made);
  return found;
}

function dependentsOf(owned: readonly Dependent[]): (uid: string) => readonly Dependent[] {
  const byOwner = new Map<string, Dependent[]>();
  for (const dependent of owned)
    for (const uid of new Set(dependent.owners.map((owner) => owner.uid))) {
      const others = byOwner.get(uid) ?? [];
      others.push(dependent);
      byOwner.set(uid, others);
    }
  return (uid) => byOwner.get(uid) ?? [];
}

/** Whether the resource is the Event of Kubernetes, which expires by itself. Other groups have kinds of that name too. */
export function areEvents({ group, plural }: Pick<Resource, 'group' | 'plural'>): boolean {
  return plural === 'events' && ['', 'events.k8s.io'].includes(group);
}

/** Whether the object is already being deleted: then our Delete does not cause its loss. */
export function isLeaving({ object }: Dependent): boolean {
  return isTerminating(object);
}

/**
 * Whether the controller of `by` made it. Others made an object that is older than `by`, and the controller adopted it: a
 * Deployment adopts ReplicaSets.
 */
export function isMadeBy({ owners, createdAt }: Dependent, by: Maker): boolean {
  const isAdopted = createdAt !== undefined && by.createdAt !== undefined && by.createdAt - createdAt >= serverTimeResolution;
  return !isAdopted && owners.some((owner) => owner.uid === by.uid && owner.isController);
}

function withoutReference(deletion: DeletionTarget, { endpoints, bySign }: Candidates): readonly Dependent[] {
  const { target } = deletion;
  switch (kindOf(deletion.resource)) {
    case '/Service':
      return isFedByKubernetes(deletion.object) ? [] : endpoints.filter(({ reference }) => hasNameOfService(target, reference));
    case '/ServiceAccount':
      return bySign.filter((token) => isTokenOf(token, deletion));
    case '/Node':
      return bySign;
    default:
      return [];
  }
}

/**
 * Whether the API server deletes the object by its name when the Service is deleted. Source: pkg/registry/core/service/storage/storage.go,
 * afterDelete.
 */
export function isDeletedAlong(deleted: Reference, { apiVersion, kind, ...other }: Reference): boolean {
  return (
    kindOfReference(deleted) === '/Service' && `${apiVersion} ${kind}` === 'v1 Endpoints' && hasNameOfService(deleted, other)
  );
}

function hasNameOfService(service: Reference, { namespace, name }: Pick<Reference, 'namespace' | 'name'>): boolean {
  return namespace === service.namespace && name === service.name;
}

/** Whether controllers of Kubernetes write the Endpoints and EndpointSlices of a Service, and overwrite what others write there. */
export function isFedByKubernetes(service: JsonObject): boolean {
  return isObject(at(service, 'spec', 'selector')) && textAt(service, 'spec', 'type') !== 'ExternalName';
}

function isTokenOf({ reference, object }: Dependent, { target, object: account }: DeletionTarget): boolean {
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
 * Whether Kubernetes makes an object again as soon as the deleted object is back. Anybody can write labels, so a label proves
 * nothing by itself. These labels count because the controller that they name treats the object as its own: it overwrites or
 * deletes it at will.
 */
export function isDerived({ reference, object }: Dependent, { resource, target, object: deletion }: DeletionTarget): boolean {
  const label = (name: string): string => textAt(object, 'metadata', 'labels', name) ?? '';
  if (kindOfReference(reference) !== slices) return false;
  const feeder = label('endpointslice.kubernetes.io/managed-by');
  if (label('kubernetes.io/service-name') !== target.name || feeders[kindOf(resource)]?.includes(feeder) !== true) return false;
  return feeder !== 'endpointslice-controller.k8s.io' || isFedByKubernetes(deletion);
}

/** Whether the garbage collector handles the kind: it has the verbs list, watch and delete, and no Events are of it. */
// Source: k8s.io/kubernetes pkg/controller/garbagecollector, GetDeletableResources and DefaultIgnoredResources.
export function isCollected(resource: Resource): boolean {
  return !areEvents(resource) && ['list', 'watch', 'delete'].every((verb) => resource.verbs.includes(verb));
}
