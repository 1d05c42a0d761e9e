// Which writes an object of the cluster admits or refuses, as far as its own content shows: webhook configurations, admission policies
// with their bindings, and the labels of a Namespace. What the content does not show counts as a match: the labels of other Namespaces,
// selectors of objects, and conditions in CEL.
//
// Sources: k8s.io/api admissionregistration/v1 (RuleWithOperations, MatchResources); apiserver pkg/admission/plugin/webhook/predicates.

import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../objects/json.ts';
import type { Reference } from '../../objects/reference.ts';
import { type ChangeType, type Verb, verbOf, waysOf } from '../model/change.ts';
import type { StoredResource } from '../model/entry.ts';

/** A write that admission reviews. */
interface Reviewed {
  readonly type: ChangeType;
  readonly target: Reference;
  readonly resource: Pick<StoredResource, 'group' | 'plural'>;
}

/** Whether one of the webhooks of the configuration may review that write. True if the configuration is unknown. */
export function hasWebhookFor(configuration: Json | undefined, write: Reviewed): boolean {
  const webhooks = at(configuration, 'webhooks');
  if (!isList(webhooks)) return configuration === undefined;
  return webhooks.some((webhook) => isAmong(at(webhook, 'rules'), write) && selects(at(webhook, 'namespaceSelector'), write));
}

/** Whether the policy may review that write. True if the policy is unknown. */
export function isPolicyFor(policy: Json | undefined, write: Reviewed): boolean {
  return policy === undefined || isMatched(at(policy, 'spec', 'matchConstraints'), write);
}

/** Whether the binding may have its policy review that write. True if the binding is unknown. */
export function isBindingFor(binding: Json | undefined, write: Reviewed): boolean {
  return binding === undefined || isMatched(at(binding, 'spec', 'matchResources'), write);
}

function isMatched(resources: Json | undefined, write: Reviewed): boolean {
  const rules = at(resources, 'resourceRules');
  return (rules === undefined || isAmong(rules, write)) && selects(at(resources, 'namespaceSelector'), write);
}

const operations: Readonly<Record<Verb, string>> = {
  create: 'CREATE',
  update: 'UPDATE',
  patch: 'UPDATE',
  delete: 'DELETE',
};

function isAmong(rules: Json | undefined, { type, resource: { group, plural } }: Reviewed): boolean {
  if (!isList(rules)) return false;
  return rules.some(
    (rule) =>
      hasOne(rule, 'apiGroups', [group, '*']) &&
      hasOne(rule, 'resources', [plural, '*', '*/*']) &&
      hasOne(rule, 'operations', [...waysOf(type).map((way) => operations[verbOf(way)]), '*']),
  );
}

function hasOne(rule: Json, field: string, wanted: readonly string[]): boolean {
  const values = at(rule, field);
  return isList(values) && values.some((value) => typeof value === 'string' && wanted.includes(value));
}

/** The label that each Namespace has, with its name. */
const nameLabel = 'kubernetes.io/metadata.name';

// Of the labels of a Namespace only this one is known without a read. No selector excludes objects of the cluster.
function selects(selector: Json | undefined, { target: { namespace } }: Reviewed): boolean {
  if (namespace === undefined) return true;
  const name = textAt(at(selector, 'matchLabels'), nameLabel);
  const requirements = at(selector, 'matchExpressions');
  const isMet = (requirement: Json): boolean => {
    const values = at(requirement, 'values');
    if (textAt(requirement, 'key') !== nameLabel || !isList(values)) return true;
    return values.includes(namespace) === (textAt(requirement, 'operator') === 'In');
  };
  return (name ?? namespace) === namespace && (!isList(requirements) || requirements.every(isMet));
}

/** Whether labels or annotations of a Namespace differ: its Pod security, what selects it, and what policies read of it. */
export function isMarkedOtherwise(before: Json | undefined, after: Json | undefined, isWhole: boolean): boolean {
  return ['labels', 'annotations'].some((field) => {
    const [from, to] = [marksOf(before, field), marksOf(after, field)];
    const keys = isWhole ? [...Object.keys(from), ...Object.keys(to)] : Object.keys(to);
    return keys.some((key) => key !== nameLabel && (from[key] ?? null) !== (to[key] ?? null));
  });
}

function marksOf(namespace: Json | undefined, field: string): JsonObject {
  const marks = at(namespace, 'metadata', field);
  return isObject(marks) ? marks : {};
}
