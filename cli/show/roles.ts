// The permissions of a plan as Roles, a ClusterRole, and their bindings. Pure.
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../hooks/objects/json.ts';
import type { Plan } from '../../hooks/transactions/inspection.ts';

type Question = Plan['needs'][number];

/**
 * A namespace that the Transaction creates does not exist yet, and can hold no Role. So a ClusterRole grants the rights that are
 * needed in it. All objects have the given name.
 */
export function rolesOf(plan: Plan, name: string): readonly JsonObject[] {
  const made = madeIn(plan);
  const placeOf = ({ namespace }: Question): string => (namespace === undefined || made.includes(namespace) ? '' : namespace);
  const places = Map.groupBy(plan.needs, placeOf);
  return [...places]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([place, questions]) => roleAndBinding(plan, { place, name }, questions));
}

/** Namespaces that the plan creates. */
function madeIn({ changes }: Plan): readonly string[] {
  return changes.flatMap(({ target, operation }) => (target.kind === 'Namespace' && operation === 'create' ? [target.name] : []));
}

/** One sentence for each namespace whose rights the ClusterRole grants in all namespaces. */
export function warningsOf(plan: Plan): readonly string[] {
  const wide = Map.groupBy(plan.needs, ({ namespace }) => namespace ?? '');
  return madeIn(plan).flatMap((name) => {
    const rights = (wide.get(name) ?? []).map(({ verb, resource, group }) => `${verb} ${resource}${group && `.${group}`}`);
    if (rights.length === 0) return [];
    return `Warning: Namespace ${name} does not exist yet and can hold no Role, so the ClusterRole grants in every namespace: ${rights.join(', ')}. To grant them in this Namespace only, create it first.`;
  });
}

const apiVersion = 'rbac.authorization.k8s.io/v1';

interface RolePlace {
  /** A namespace; empty for the cluster. */
  readonly place: string;
  readonly name: string;
}

function roleAndBinding(
  { namespace, serviceAccountName }: Plan,
  { place, name }: RolePlace,
  questions: readonly Question[],
): readonly JsonObject[] {
  const isWide = place === '';
  const metadata = isWide ? { name } : { name, namespace: place };
  const kind = isWide ? 'ClusterRole' : 'Role';
  return [
    { apiVersion, kind, metadata, rules: rulesOf(questions) },
    {
      ...{ apiVersion, kind: `${kind}Binding`, metadata },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
      subjects: [{ kind: 'ServiceAccount', name: serviceAccountName, namespace }],
    },
  ];
}

/** One rule for each resource and name. A right to all objects of a kind includes the right to one of these objects. */
function rulesOf(all: readonly Question[]): readonly JsonObject[] {
  const isOfAll = ({ name: _any, ...wanted }: Question): boolean => all.some((one) => isDeepStrictEqual(one, wanted));
  const questions = all.filter((one) => one.name === undefined || !isOfAll(one));
  const keyOf = ({ group, resource, subresource, name }: Question): string =>
    JSON.stringify([group, resource, subresource, name]);
  return [...Map.groupBy(questions, keyOf).values()].flatMap((some) => {
    const [first] = some;
    if (first === undefined) return [];
    const { group, resource, subresource, name } = first;
    return [
      {
        apiGroups: [group],
        resources: [subresource === undefined ? resource : `${resource}/${subresource}`],
        ...(name === undefined ? {} : { resourceNames: [name] }),
        verbs: [...new Set(some.map(({ verb }) => verb))],
      },
    ];
  });
}
