// The permissions of a plan as Roles, a ClusterRole, and their bindings. Pure.
import { isDeepStrictEqual } from 'node:util';
import type { Plan } from '../../hooks/inspection.ts';
import type { JsonObject } from '../../hooks/model/json.ts';

type Question = Plan['needs'][number];

/** A namespace that the Transaction creates cannot hold a Role before: what is needed there is needed in the whole cluster. */
export function rolesOf(plan: Plan): readonly JsonObject[] {
  const made = plan.changes.flatMap(({ target, operation }) =>
    target.kind === 'Namespace' && operation === 'create' ? [target.name] : [],
  );
  const placeOf = ({ namespace }: Question): string => (namespace === undefined || made.includes(namespace) ? '' : namespace);
  const places = Map.groupBy(plan.needs, placeOf);
  return [...places]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([place, questions]) => roleAndBinding(plan, place, questions));
}

const apiVersion = 'rbac.authorization.k8s.io/v1';

function roleAndBinding(
  { namespace, serviceAccountName }: Plan,
  place: string,
  questions: readonly Question[],
): readonly JsonObject[] {
  const isWide = place === '';
  const name = isWide ? `janus:${namespace}:${serviceAccountName}` : `janus-${serviceAccountName}`;
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
