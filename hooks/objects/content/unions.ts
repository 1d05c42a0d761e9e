// Members of a union that the API server filled in, and that another discriminator forbids. An example is `rollingUpdate` beside
// `type: Recreate`. No manager owns such a member, so no server-side apply removes it, and the API server refuses the apply. If a
// manager owns the member, its next apply removes the member by leaving it out. So the engine owns the member first
// (writes/union.ts).
// Sources: k8s.io/kubernetes pkg/apis/apps/v1/defaults.go; pkg/apis/apps/validation/validation.go, ValidateDeploymentStrategy and
// ValidateStatefulSetSpec. A DaemonSet is not in the table: its validation allows the member beside OnDelete.
import { at, type Json, type JsonObject, textAt, withPath } from '../json.ts';
import { ownersAt } from './owners.ts';
import { field, type Path } from './path.ts';

/** A union of a kind: `value` of the discriminator forbids the member. */
export interface Union {
  readonly at: readonly string[];
  readonly discriminator: string;
  readonly value: string;
  readonly member: string;
}

/** By kind, as `kindOf` names it. */
const unions: Readonly<Record<string, Union>> = {
  'apps/Deployment': { at: ['spec', 'strategy'], discriminator: 'type', value: 'Recreate', member: 'rollingUpdate' },
  'apps/StatefulSet': { at: ['spec', 'updateStrategy'], discriminator: 'type', value: 'OnDelete', member: 'rollingUpdate' },
};

/** The union of the kind whose member the content forbids and the object still has; undefined if the object has no such member. */
export function forbiddenMember(content: Json | undefined, object: Json | undefined, kind: string): Union | undefined {
  const union = unions[kind];
  if (union === undefined || textAt(content, ...union.at, union.discriminator) !== union.value) return undefined;
  const isLeftOut = at(content, ...union.at, union.member) === undefined;
  return isLeftOut && at(object, ...union.at, union.member) !== undefined ? union : undefined;
}

/** The names of the managers that own the member. */
export function memberOwners(object: Json | undefined, union: Union): readonly string[] {
  return ownersAt(object, memberPath(union)).map(({ name }) => name);
}

/**
 * Whether the engine has made only the first of its two writes (writes/union.ts): the manager owns the member that the second write
 * removes.
 */
export function isHalfApplied(expected: Json | undefined, object: Json | undefined, kind: string, manager: string): boolean {
  const union = forbiddenMember(expected, object, kind);
  return union !== undefined && memberOwners(object, union).includes(manager);
}

function memberPath({ at: names, member }: Union): Path {
  return [...names, member].map(field);
}

/** Content that names the member as the object has it. */
export function withMember(content: JsonObject, object: Json | undefined, union: Union): JsonObject {
  const path = [...union.at, union.member];
  return withPath(content, path, at(object, ...path));
}

/** Content with the discriminator of the object: the API server accepts it beside the member. */
export function withFormerDiscriminator(content: JsonObject, object: Json | undefined, union: Union): JsonObject {
  const path = [...union.at, union.discriminator];
  return withPath(content, path, textAt(object, ...path));
}

/** The object as the apply leaves it if no manager owns the member any more. */
export function withoutMember(object: JsonObject, union: Union): JsonObject {
  return withPath(withPath(object, [...union.at, union.discriminator], union.value), [...union.at, union.member], undefined);
}
