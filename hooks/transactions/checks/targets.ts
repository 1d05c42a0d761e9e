// Resolves the targets of a spec to objects that the API server knows, and refuses targets that are not allowed.
import type { Resource } from '../../objects/cluster.ts';
import { at } from '../../objects/json.ts';
import { describe, identityOf, type Reference } from '../../objects/reference.ts';
import { type Change, isDeletion, mayMake } from '../model/change.ts';
import { group, type Transaction } from '../model/transaction.ts';
import { type Fault, fault } from './fault.ts';
import { placesOf } from './target-places.ts';
import { waveOrderFaults } from './waves.ts';

/** A change whose target the API server serves now, or will serve after an earlier change. */
export interface Resolved {
  readonly index: number;
  readonly change: Change;
  readonly target: Reference;
  readonly resource: Resource;
  /** The earlier change that creates the Namespace or the CustomResourceDefinition of this target, or adds its version. */
  readonly dependsOn?: number;
}

/** What earlier changes delete, by identity: their own undo brings it back. */
export function deletedBefore(all: readonly Resolved[], index: number): ReadonlySet<string> {
  const earlier = all.filter((one) => one.index < index && isDeletion(one.change));
  return new Set(earlier.map(({ target }) => identityOf(target)));
}

/** The object that a change targets. Namespaced kinds default to the Transaction's namespace. */
export function targetOf(change: Change, resource: Resource, transaction: Transaction): Reference {
  const { apiVersion, kind, name } = change.target;
  return resource.namespaced
    ? { apiVersion, kind, name, namespace: change.target.namespace ?? transaction.namespace }
    : { apiVersion, kind, name };
}

/** The earlier change that creates the Namespace of a target. */
export function namespaceCreator(changes: readonly Change[], index: number, namespace: string | undefined): number | undefined {
  const by = changes
    .slice(0, index)
    .findIndex(
      ({ type, target }) =>
        mayMake(type) && target.kind === 'Namespace' && target.apiVersion === 'v1' && target.name === namespace,
    );
  return by < 0 ? undefined : by;
}

/** The faults of resolved targets: wrong scope, not allowed, named twice. */
export function targetFaults(resolved: readonly Resolved[], transaction: Transaction, engineNamespace: string): readonly Fault[] {
  return [
    ...resolved.flatMap((one) => [...scopeFaults(one), ...scaleFaults(one), ...refusals(one, transaction, engineNamespace)]),
    ...duplicateFaults(resolved),
    ...waveOrderFaults(resolved),
  ];
}

function scaleFaults({ index, change, resource, target }: Resolved): readonly Fault[] {
  if (change.replicas === undefined || resource.scale === true) return [];
  const message = `spec.changes[${index}]: ${describe(target)}: objects of this kind have no subresource scale: leave replicas out`;
  return [fault('Invalid', message, index)];
}

function scopeFaults({ index, change, resource, target }: Resolved): readonly Fault[] {
  const missing = ['get', 'create', 'delete'].filter((verb) => !resource.verbs.includes(verb));
  const faults: Fault[] = [];
  if (!resource.namespaced && change.target.namespace !== undefined) {
    faults.push(
      fault(
        'Invalid',
        `spec.changes[${index}]: ${describe(target)} is cluster-scoped: leave ${placesOf(change).namespace} out`,
        index,
      ),
    );
  }
  if (missing.length > 0) {
    faults.push(
      fault(
        'Refused',
        `spec.changes[${index}]: ${describe(target)}: objects of this kind cannot be changed and restored (no ${missing.join(', ')})`,
        index,
      ),
    );
  }
  const content = at(change.content, 'metadata', 'namespace');
  if (content !== undefined && change.type !== 'Delete' && change.isInferred !== true && content !== target.namespace) {
    faults.push(
      fault(
        'Invalid',
        `spec.changes[${index}]: content.metadata.namespace does not match the target, ${describe(target)}`,
        index,
      ),
    );
  }
  return faults;
}

function refusals({ index, target, resource }: Resolved, transaction: Transaction, engineNamespace: string): readonly Fault[] {
  const because = refusalReason(target, resource, transaction, engineNamespace);
  return because === undefined
    ? []
    : [fault('Refused', `spec.changes[${index}]: ${describe(target)} cannot be a target: ${because}`, index)];
}

function refusalReason(
  target: Reference,
  resource: Resource,
  transaction: Transaction,
  engineNamespace: string,
): string | undefined {
  if (target.namespace === engineNamespace) return `it is in ${engineNamespace}, the namespace of the engine`;
  if (resource.group === '' && target.kind === 'Namespace') return foundation(target, transaction, engineNamespace);
  if (resource.group === '' && isItsAccount(target, transaction)) return 'the Transaction uses it as its ServiceAccount';
  if (eventGroups.includes(resource.group) && target.kind === 'Event')
    return 'Events record what happened and expire by themselves';
  return ownParts(target, resource);
}

function foundation({ name }: Reference, transaction: Transaction, engineNamespace: string): string | undefined {
  if (name === engineNamespace) return 'it is the namespace of the engine';
  return name === transaction.namespace ? 'it contains the Transaction' : undefined;
}

function isItsAccount({ kind, namespace, name }: Reference, transaction: Transaction): boolean {
  return kind === 'ServiceAccount' && namespace === transaction.namespace && name === transaction.serviceAccountName;
}

const eventGroups: readonly string[] = ['', 'events.k8s.io'];

// Objects that the engine and Metacontroller need to run are named after their groups, or after the engine.
function ownParts({ name }: Reference, resource: Resource): string | undefined {
  if (resource.namespaced || !partGroups.includes(resource.group)) return undefined;
  if (name.endsWith(`.${group}`) || /^janus(-|$)/.test(name)) return 'it is a part of the engine';
  return name.endsWith('.metacontroller.k8s.io') ? 'it is a part of Metacontroller, which calls the engine' : undefined;
}

const partGroups: readonly string[] = [
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'rbac.authorization.k8s.io',
  'admissionregistration.k8s.io',
];

function duplicateFaults(resolved: readonly Resolved[]): readonly Fault[] {
  const first = new Map<string, number>();
  return resolved.flatMap(({ index, target }) => {
    const earlier = first.get(identityOf(target));
    first.set(identityOf(target), earlier ?? index);
    if (earlier === undefined) return [];
    return [
      fault(
        'DuplicateTarget',
        `${describe(target)} is the target of spec.changes[${earlier}] and of spec.changes[${index}]: combine them into one change`,
        index,
      ),
    ];
  });
}

/** The API server does not serve the kind of the change `index`. */
export function unknownKind({ changes }: Transaction, index: number): Fault {
  const change = changes[index];
  const [target, places] = [change?.target, placesOf(change ?? {})];
  return fault(
    'UnknownKind',
    `spec.changes[${index}]: the API server serves no kind ${target?.kind} in ${target?.apiVersion}: correct ${places.apiVersion} and ${places.kind}, or install the CRD that defines it`,
    index,
  );
}
