// The Transaction as a whole: identity, spec, status, and the rule that keeps a late or duplicate status from undoing
// progress. Metacontroller overwrites status with whatever our answer says, so only the API server can hold that line.
import type { Rule, Schema } from './schema.ts';
import { group } from './spec-values.ts';
import { item } from './transaction-item.ts';
import { transactionSpec } from './transaction-spec.ts';
import { transactionStatus } from './transaction-status.ts';

export const version = 'v1alpha1';
export const kind = 'Transaction';

/** What may change only together with a higher version; of `items` what `guardedInItems` names. */
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
  'handledAnnotations',
] as const;

/** Derived from the spec and the rest of the status: they may change without a higher version. */
const derivedInItems: readonly string[] = ['target', 'state'];

/** What may change in an item only together with a higher version. */
export const guardedInItems = Object.keys(item.properties ?? {}).filter((name) => !derivedInItems.includes(name));

const stored = 'has(oldSelf.status) && has(oldSelf.status.version)';
const present = 'has(self.status) && has(self.status.version)';
// Not by optionals (`self.status.?items`): the API server reckons their comparison as unbounded and refuses the CRD.
const unchanged = guardedFields.map(same).join(' && ');

function same(field: string): string {
  const [now, before] = [`self.status.${field}`, `oldSelf.status.${field}`];
  // All of the items is compared first: it costs less, and mostly they are equal.
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
    'An ordered list of changes to Kubernetes objects: either all are applied, or those applied are undone in reverse. A saga: locks are advisory, each object is written by a call of its own, and others see the steps between.',
  required: ['apiVersion', 'kind', 'metadata', 'spec'],
  properties: {
    apiVersion: { type: 'string', description: `Always ${group}/${version}.` },
    kind: { type: 'string', description: `Always ${kind}.` },
    metadata: {
      type: 'object',
      description:
        'Standard metadata. Annotations that ask for something: tx.janus.io/request-rollback, tx.janus.io/retry-rollback, tx.janus.io/plan-undo, tx.janus.io/automatic-rollback, tx.janus.io/allow-irreversible.',
    },
    spec: transactionSpec,
    status: transactionStatus,
  },
  'x-kubernetes-validations': statusRules,
};
