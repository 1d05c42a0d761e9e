// Whether a Transaction takes rights from its own ServiceAccount that its undo needs. The undo goes backward, so an RBAC object that it
// restores early gives rights to what follows. Source of the rules: k8s.io/kubernetes plugin/pkg/auth/authorizer/rbac, and
// pkg/registry/rbac for what a writer of Roles and bindings must hold itself. Pure.
import type { AccessQuestion } from '../../objects/cluster.ts';
import { type Json, type JsonObject, listAt, objectsAt, textAt } from '../../objects/json.ts';
import { describe, type Reference } from '../../objects/reference.ts';

export const rbacGroup = 'rbac.authorization.k8s.io';

/** A Role or a binding of either kind, in the state that the Transaction found or made; undefined if it does not exist then. */
export interface RoleChange {
  readonly index: number;
  readonly target: Reference;
  readonly prior: JsonObject | undefined;
  readonly expected: JsonObject | undefined;
}

/** What the undo of a change needs. */
interface UndoNeed {
  readonly index: number;
  readonly questions: readonly AccessQuestion[];
}

/** The bindings and Roles of the cluster, as they are before the Transaction. */
export interface RoleState {
  readonly bindings: readonly JsonObject[];
  /** By `keyOf`. */
  readonly roles: ReadonlyMap<string, JsonObject>;
}

export interface Account {
  readonly namespace: string;
  readonly name: string;
}

export interface ReleasedRule {
  /** The change that takes the right. */
  readonly index: number;
  readonly question: AccessQuestion;
  /** The change whose undo needs the right. */
  readonly neededBy: number;
}

/** `Role|namespace|name`; the namespace is empty for a ClusterRole. */
function keyOf(kind: string, namespace: string, name: string): string {
  return [kind, namespace, name].join('|');
}

/** The Role that a binding gives; undefined if the binding does not bind the ServiceAccount. */
export function boundRole(binding: JsonObject, account: Account): string | undefined {
  if (!objectsAt(binding, 'subjects').some((subject) => isSubject(subject, account))) return undefined;
  const [kind = '', name = ''] = [textAt(binding, 'roleRef', 'kind'), textAt(binding, 'roleRef', 'name')];
  return keyOf(kind, kind === 'Role' ? (textAt(binding, 'metadata', 'namespace') ?? '') : '', name);
}

function isSubject(subject: JsonObject, { namespace, name }: Account): boolean {
  const of = textAt(subject, 'name');
  switch (textAt(subject, 'kind')) {
    case 'ServiceAccount':
      return of === name && textAt(subject, 'namespace') === namespace;
    case 'User':
      return of === `system:serviceaccount:${namespace}:${name}`;
    case 'Group':
      return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'].includes(of ?? '');
    default:
      return false;
  }
}

/** The first right that the changes take, and that the undo then lacks; undefined if there is none. */
export function takenRight(
  account: Account,
  before: RoleState,
  changes: readonly RoleChange[],
  needs: readonly UndoNeed[],
): ReleasedRule | undefined {
  const held = (made: readonly RoleChange[]): readonly Grant[] => grantsIn(withChanges(before, made), account);
  const first = held([]);
  let made = changes;
  for (const { index, questions } of needs.toSorted((one, other) => other.index - one.index)) {
    const own = changes.find((change) => change.index === index);
    const now = held(made);
    const wanted = [...questions, ...(own === undefined ? [] : questionsOfWriter(own, before, changes, now))];
    const lost = wanted.find((question) => isAllowed(first, question) && !isAllowed(now, question));
    if (lost !== undefined) return { index: takerOf(lost, made, held), question: lost, neededBy: index };
    made = made.filter((change) => change.index !== index);
  }
  return undefined;
}

// The change without which the right would still be there; the first one if several take it together.
function takerOf(
  question: AccessQuestion,
  made: readonly RoleChange[],
  held: (made: readonly RoleChange[]) => readonly Grant[],
): number {
  const alone = made.find((change) => isAllowed(held(made.filter((other) => other !== change)), question));
  return (alone ?? made[0])?.index ?? 0;
}

function withChanges({ bindings, roles }: RoleState, made: readonly RoleChange[]): RoleState {
  const changed = new Map(made.map((change) => [keyOfReference(change.target), change.expected]));
  const keyOfBinding = (binding: JsonObject): string => {
    const namespace = textAt(binding, 'metadata', 'namespace') ?? '';
    return keyOf(namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding', namespace, textAt(binding, 'metadata', 'name') ?? '');
  };
  const kept = bindings.filter((binding) => !changed.has(keyOfBinding(binding)));
  const added = made.flatMap(({ target, expected }) => (isBinding(target) && expected ? [expected] : []));
  const next = new Map(roles);
  for (const [key, role] of changed) {
    if (role === undefined) next.delete(key);
    else next.set(key, role);
  }
  return { bindings: [...kept, ...added], roles: next };
}

function keyOfReference({ kind, namespace = '', name }: Reference): string {
  return keyOf(kind, namespace, name);
}

/** The rules of a Role, within a namespace; in the whole cluster if it is empty. */
interface Grant {
  readonly namespace: string;
  readonly rules: readonly JsonObject[];
}

function grantsIn({ bindings, roles }: RoleState, account: Account): readonly Grant[] {
  return bindings.flatMap((binding): readonly Grant[] => {
    const role = roles.get(boundRole(binding, account) ?? '');
    return role === undefined
      ? []
      : [{ namespace: textAt(binding, 'metadata', 'namespace') ?? '', rules: objectsAt(role, 'rules') }];
  });
}

function isAllowed(grants: readonly Grant[], question: AccessQuestion): boolean {
  return grants.some(
    ({ namespace, rules }) =>
      (namespace === '' || namespace === question.namespace) && rules.some((rule) => matches(rule, question)),
  );
}

function matches(rule: JsonObject, { verb, group, resource, name }: AccessQuestion): boolean {
  const has = (key: string, value: string): boolean => [value, '*'].some((one) => listAt(rule, key).includes(one));
  const names: readonly Json[] = listAt(rule, 'resourceNames');
  return has('verbs', verb) && has('apiGroups', group) && has('resources', resource) && (names.length === 0 || isIn(names, name));
}

function isIn(names: readonly Json[], name: string | undefined): boolean {
  return name !== undefined && names.includes(name);
}

// Who restores a Role, or a binding, must hold its rules, unless `escalate` or `bind` allows more.
function questionsOfWriter(
  { target, prior }: RoleChange,
  { roles }: RoleState,
  changes: readonly RoleChange[],
  now: readonly Grant[],
): readonly AccessQuestion[] {
  if (prior === undefined) return [];
  const place = target.namespace === undefined ? {} : { namespace: target.namespace };
  const role = roleOf(target, prior);
  const verb = isBinding(target) ? 'bind' : 'escalate';
  const more = { verb, group: rbacGroup, resource: `${role.kind.toLowerCase()}s`, ...place, name: role.name };
  if (isAllowed(now, more)) return [];
  const found = changes.find((change) => keyOfReference(change.target) === role.key)?.prior ?? roles.get(role.key);
  return objectsAt(found, 'rules').flatMap((rule) => questionsOfRule(rule, place));
}

function isBinding({ kind }: Reference): boolean {
  return kind.endsWith('Binding');
}

/** The Role that a binding gives, or the Role itself. */
function roleOf(target: Reference, prior: JsonObject) {
  const bound = { kind: textAt(prior, 'roleRef', 'kind') ?? '', name: textAt(prior, 'roleRef', 'name') ?? '' };
  const { kind, name } = isBinding(target) ? bound : target;
  return { kind, name, key: keyOf(kind, kind === 'Role' ? (target.namespace ?? '') : '', name) };
}

function questionsOfRule(rule: JsonObject, place: { readonly namespace?: string }): readonly AccessQuestion[] {
  const texts = (key: string): readonly string[] => listAt(rule, key).filter((one) => typeof one === 'string');
  const names = texts('resourceNames').length === 0 ? [undefined] : texts('resourceNames');
  return texts('verbs').flatMap((verb) =>
    texts('apiGroups').flatMap((group) =>
      texts('resources').flatMap((resource) =>
        names.map((name) => ({ verb, group, resource, ...place, ...(name === undefined ? {} : { name }) })),
      ),
    ),
  );
}

/** Why the change that takes the right is one way. `neededBy`: the object whose undo needs the right. */
export function whyTaken(right: string, taker: RoleChange, neededBy: Reference, account: Account): string {
  const whose = `ServiceAccount ${account.namespace}/${account.name}`;
  return `${describe(taker.target)} gives ${whose} the right to ${right}, which the undo of ${describe(neededBy)} needs; give the right by a Role that this Transaction does not change`;
}
