// The permissions of a plan as Roles, a ClusterRole, and their bindings. Pure.
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../hooks/objects/json.ts';
import type { Plan } from '../../hooks/transactions/inspection.ts';

type Question = Plan['needs'][number];

/**
 * A namespace that the Transaction creates cannot hold a Role before: what is needed there is needed in the whole cluster. They
 * all have that name.
 */
export function rolesOf(plan: Plan, name: string): readonly JsonObject[] {
  const made = madeIn(plan);
  const placeOf = ({ namespace }: Question): string => (namespace === undefined || made.includes(namespace) ? '' : namespace);
  const places = Map.groupBy(plan.needs, placeOf);
  return [...places]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([place, questions]) => roleAndBinding(plan, { place, name }, questions));
}

/** Namespaces that it creates. */
function madeIn({ changes }: Plan): readonly string[] {
  return changes.flatMap(({ target, operation }) => (target.kind === 'Namespace' && operation === 'create' ? [target.name] : []));
}

/** One sentence for each namespace whose rights the ClusterRole grants in all of them. */
export function warningsOf(plan: Plan): readonly string[] {
  const wide = Map.groupBy(plan.needs, ({ namespace }) => namespace ?? '');
  return madeIn(plan).flatMap((name) => {
    const rights = (wide.get(name) ?? []).map(({ verb, resource, group }) => `${verb} ${resource}${group && `.${group}`}`);
    if (rights.length === 0) return [];
    return `Warning: Namespace ${name} does not exist yet and can hold no Role, so the ClusterRole grants in every namespace: ${rights.join(', ')}. Create the Namespace first to grant them in it alone.`;
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

/** One rule for each resource and name. What is needed of all objects need not be granted for one of them. */
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
