// The Transaction as a whole: identity, spec, status, and the rule that keeps a late or duplicate status from undoing progress.
// Metacontroller overwrites status with each answer of the hook, so only the API server can enforce this rule.
import type { Rule, Schema } from './schema.ts';
import { group } from './spec-values.ts';
import { item } from './transaction-item.ts';
import { transactionSpec } from './transaction-spec.ts';
import { transactionStatus } from './transaction-status.ts';

export const version = 'v1alpha1';
export const kind = 'Transaction';

/** Fields that may change only with a higher version. Of `items`, only the fields in `guardedInItems` count. */
export const guardedFields = [
  'phase',
  'items',
  'rollbackRef',
  'specDigest',
  'startTime',
  'rollbackStartedAt',
  'settledWriter',
  'unsettledAt',
  'rollbackObservedAt',
  'locksReturnedAt',
  'handledAnnotations',
] as const;

/** The engine derives these fields from the spec and the rest of the status. They may change without a higher version. */
const derivedInItems: readonly string[] = ['target', 'state'];

/** Fields of an item that may change only with a higher version. */
export const guardedInItems = Object.keys(item.properties ?? {}).filter((name) => !derivedInItems.includes(name));

const stored = 'has(oldSelf.status) && has(oldSelf.status.version)';
const present = 'has(self.status) && has(self.status.version)';
// Not with optionals (`self.status.?items`): the API server estimates their comparison as unbounded, and refuses the CRD.
const unchanged = guardedFields.map(same).join(' && ');

function same(field: string): string {
  const [now, before] = [`self.status.${field}`, `oldSelf.status.${field}`];
  // The rule compares whole items first. This costs less, and they are equal in most cases.
  const isSame =
    field === 'items' ? `(${now} == ${before} || ${guardedInItems.map(sameInItems).join(' && ')})` : `${now} == ${before}`;
  return `(has(${now}) ? has(${before}) && ${isSame} : !has(${before}))`;
}

function sameInItems(member: string): string {
  const [now, before] = ['self', 'oldSelf'].map((whose) => `${whose}.status.items.map(i, has(i.${member}) ? [i.${member}] : [])`);
  return `${now} == ${before}`;
}

const statusRules: readonly Rule[] = [
  {
    rule: `!(${stored}) || (${present} && self.status.version >= oldSelf.status.version)`,
    message: 'status.version must not fall or vanish: this status is older than the stored one; read the Transaction again',
  },
  {
    rule: `!(${stored} && ${present} && self.status.version == oldSelf.status.version) || (${unchanged})`,
    message: `a change of ${guardedFields.join(', ')} needs a higher status.version: read the Transaction again`,
  },
];

export const transaction: Schema = {
  type: 'object',
  description:
    'An ordered list of changes to Kubernetes objects. Either the engine applies all of them, or it undoes the applied ones in reverse order. It is a saga: locks are advisory, a separate request writes each object, and other clients see the steps between.',
  required: ['apiVersion', 'kind', 'metadata', 'spec'],
  properties: {
    apiVersion: { type: 'string', description: `Always ${group}/${version}.` },
    kind: { type: 'string', description: `Always ${kind}.` },
    metadata: {
      type: 'object',
      description:
        'Standard metadata. Request annotations: tx.janus.io/request-rollback, tx.janus.io/retry-rollback, tx.janus.io/plan-undo, tx.janus.io/automatic-rollback, tx.janus.io/allow-irreversible.',
    },
    spec: transactionSpec,
    status: transactionStatus,
  },
  'x-kubernetes-validations': statusRules,
};
