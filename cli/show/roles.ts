// The rights of an app as Roles, a ClusterRole, and their bindings. Pure.
import { isDeepStrictEqual } from 'node:util';
import type { AccessQuestion } from '../../hooks/objects/cluster.ts';
import type { JsonObject } from '../../hooks/objects/json.ts';

export interface RoleSet {
  /** Of all Roles and bindings. */
  readonly name: string;
  /** Of the Transactions and their ServiceAccounts. */
  readonly namespace: string;
  readonly accounts: readonly string[];
  readonly questions: readonly AccessQuestion[];
  /** Namespaces that a Transaction of the app creates. */
  readonly created: readonly string[];
}

/**
 * A Namespace that the app creates can hold no Role: it does not exist before, and its undo would find the Role in it. So a
 * ClusterRole grants the rights in it.
 */
export function rolesOf(rights: RoleSet): readonly JsonObject[] {
  const placeOf = ({ namespace }: AccessQuestion): string =>
    namespace === undefined || rights.created.includes(namespace) ? '' : namespace;
  const places = Map.groupBy(rights.questions, placeOf);
  return [...places].toSorted(([left], [right]) => compared(left, right)).flatMap((place) => roleAndBinding(rights, place));
}

/** One sentence for each namespace whose rights the ClusterRole grants in all namespaces. */
export function warningsOf({ created, questions }: RoleSet): readonly string[] {
  const places = Map.groupBy(questions, ({ namespace }) => namespace ?? '');
  return created.flatMap((name) => {
    const rights = (places.get(name) ?? []).map(({ verb, resource, group }) => `${verb} ${resource}${group && `.${group}`}`);
    if (rights.length === 0) return [];
    return `Warning: the app creates Namespace ${name}, which can hold no Role before, so the ClusterRole grants in every namespace: ${rights.join(', ')}. To grant them in this Namespace only, create it first, and leave it out of the manifests.`;
  });
}

function compared(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}

const group = 'rbac.authorization.k8s.io';

/** `place`: a namespace; empty for the cluster. */
function roleAndBinding(
  { namespace, accounts, name }: RoleSet,
  [place, questions]: readonly [string, readonly AccessQuestion[]],
): readonly JsonObject[] {
  const apiVersion = `${group}/v1`;
  const kind = place === '' ? 'ClusterRole' : 'Role';
  const metadata = place === '' ? { name } : { name, namespace: place };
  const subjects = accounts.map((account) => ({ kind: 'ServiceAccount', name: account, namespace }));
  return [
    { apiVersion, kind, metadata, rules: rulesOf(questions) },
    { apiVersion, kind: `${kind}Binding`, metadata, roleRef: { apiGroup: group, kind, name }, subjects },
  ];
}

interface Grant extends AccessQuestion {
  readonly verbs: readonly string[];
}

/** One rule for all resources of a group with the same verbs. A right to all objects of a kind includes the right to one of them. */
function rulesOf(all: readonly AccessQuestion[]): readonly JsonObject[] {
  const isOfAll = ({ name: _any, ...wanted }: AccessQuestion): boolean => all.some((one) => isDeepStrictEqual(one, wanted));
  const questions = all.filter((one) => one.name === undefined || !isOfAll(one));
  const grants = grouped(questions, (one) => [one.group, resourceOf(one), one.name ?? '']).map(
    (same): Grant => ({ ...same[0], verbs: [...new Set(same.map(({ verb }) => verb))].toSorted(byOrder) }),
  );
  const rules = grouped(grants, (one) => [one.group, one.name === undefined ? '' : resourceOf(one), one.verbs.join()]);
  return rules.map(([first, ...more]) => {
    const names = [first, ...more].flatMap(({ name }) => name ?? []).toSorted(compared);
    return {
      apiGroups: [first.group],
      resources: [...new Set([first, ...more].map(resourceOf))].toSorted(compared),
      ...(names.length === 0 ? {} : { resourceNames: names }),
      verbs: first.verbs,
    };
  });
}

function resourceOf({ resource, subresource }: AccessQuestion): string {
  return subresource === undefined ? resource : `${resource}/${subresource}`;
}

/** The groups in the order of their keys, so that the same rights give the same Role. */
function grouped<T>(all: readonly T[], keyOf: (one: T) => readonly string[]): readonly (readonly [T, ...T[]])[] {
  const groups = Map.groupBy(all, (one) => JSON.stringify(keyOf(one)));
  return [...groups]
    .toSorted(([left], [right]) => compared(left, right))
    .flatMap(([, [first, ...more]]) => (first === undefined ? [] : [[first, ...more] as const]));
}

const order = ['get', 'list', 'create', 'update', 'patch', 'delete'];

function byOrder(left: string, right: string): number {
  return order.indexOf(left) - order.indexOf(right);
}
