// A package transaction (`transactions.pkg.crossplane.io`, short name ptx): spec, status, and the rule that keeps a late or duplicate
// status from undoing progress, as for a Transaction (schemas/transaction.ts).
import type { Rule, Schema } from '../schema.ts';
import { string } from '../transaction-item.ts';
import { packageStatus as status } from './package-status.ts';

export const packagesGroup = 'pkg.crossplane.io';
const packageVersion = 'v1alpha1';
const packageChanges = ['Install', 'Delete', 'Replace'] as const;
export const packageKinds = ['Provider', 'Configuration', 'Function'] as const;

const snapshot: Schema = {
  type: 'object',
  description: 'The package object to install.',
  required: ['apiVersion', 'kind', 'metadata', 'spec'],
  properties: {
    apiVersion: { type: 'string', description: 'Always pkg.crossplane.io/v1.', enum: [`${packagesGroup}/v1`] },
    kind: { type: 'string', description: 'Provider, Configuration or Function.', enum: packageKinds },
    metadata: {
      type: 'object',
      description: 'Metadata of the package object.',
      required: ['name'],
      properties: {
        name: { ...string('Name of the package object.', 253), minLength: 1 },
        uid: string('If given, the live package object must have it.', 128),
        labels: { type: 'object', description: 'Labels to set.', additionalProperties: string('Value.', 63) },
      },
    },
    spec: {
      type: 'object',
      description: 'The whole spec of the package object, unchanged.',
      'x-kubernetes-preserve-unknown-fields': true,
    },
  },
};

const source = string('Registry and repository of the installed package, without tag or digest.', 512);

// Unknown fields are kept, so that the policy refuses them by name. Otherwise the API server would drop them without an error.
const spec: Schema = {
  type: 'object',
  description: 'The package to install, to delete or to replace. spec is immutable.',
  required: ['change'],
  'x-kubernetes-preserve-unknown-fields': true,
  'x-kubernetes-validations': [
    {
      rule: "has(self.install) == (self.change == 'Install') && has(self.delete) == (self.change == 'Delete') && has(self.replace) == (self.change == 'Replace')",
      message: 'expected the member that change names, install, delete or replace, and no other of them',
    },
  ],
  properties: {
    change: { type: 'string', description: 'The change of the installed packages.', enum: packageChanges },
    install: {
      type: 'object',
      description: 'Installs a package, or updates it if its source is installed already.',
      required: ['package'],
      properties: { package: snapshot },
    },
    delete: {
      type: 'object',
      description: 'Deletes a package and its objects, if nothing needs them.',
      required: ['source'],
      properties: { source },
    },
    replace: {
      type: 'object',
      description:
        'Installs a package with all dependencies in the place of an installed one and what only that one requires. All instances stay.',
      required: ['source', 'package'],
      properties: { source, package: snapshot },
    },
    dryRun: {
      type: 'boolean',
      description: 'Whether nothing is changed: status.plan says what would change, or a condition why it is refused.',
    },
    retryLimit: { type: 'integer', description: 'Number of attempts that may fail.', default: 5, minimum: 1, maximum: 1_000 },
  },
};

const isStored = 'has(oldSelf.status) && has(oldSelf.status.version)';
const isPresent = 'has(self.status) && has(self.status.version)';
const guarded = ['phase', 'failures', 'transactionNumber', 'made', 'committed', 'specDigest', 'lockDigest', 'completionTime'];

const rules: readonly Rule[] = [
  {
    rule: `!(${isStored}) || (${isPresent} && self.status.version >= oldSelf.status.version)`,
    message: 'status.version must not fall or vanish: this status is older than the stored one; read the object again',
  },
  {
    rule: `!(${isStored} && ${isPresent} && self.status.version == oldSelf.status.version) || (${guarded.map(isSame).join(' && ')})`,
    message: `a change of ${guarded.join(', ')} needs a higher status.version: read the object again`,
  },
];

function isSame(field: string): string {
  const [now, before] = [`self.status.${field}`, `oldSelf.status.${field}`];
  return `(has(${now}) ? has(${before}) && ${now} == ${before} : !has(${before}))`;
}

const packageTransaction: Schema = {
  type: 'object',
  description:
    'Installs a Crossplane package with all dependencies, or nothing, or deletes a package that nothing needs, or replaces one by another. The hook resolves and compares the packages before the first write, and makes the change as a chain of Transactions. One package transaction runs at a time.',
  required: ['apiVersion', 'kind', 'metadata', 'spec'],
  properties: {
    apiVersion: { type: 'string', description: `Always ${packagesGroup}/${packageVersion}.` },
    kind: { type: 'string', description: 'Always Transaction.' },
    metadata: { type: 'object' },
    spec,
    status,
  },
  'x-kubernetes-validations': rules,
};

const conditionColumn = (name: string, field: 'status' | 'reason' | 'message', priority = 0) => ({
  name: field === 'status' ? name : field.charAt(0).toUpperCase() + field.slice(1),
  type: 'string',
  description: `The ${field} of the condition ${name}.`,
  jsonPath: `.status.conditions[?(@.type=="${name}")].${field}`,
  priority,
});

export const packageTransactionDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `transactions.${packagesGroup}`, labels: { 'app.kubernetes.io/name': 'janus' } },
  spec: {
    group: packagesGroup,
    scope: 'Cluster',
    names: {
      kind: 'Transaction',
      listKind: 'TransactionList',
      plural: 'transactions',
      singular: 'transaction',
      shortNames: ['ptx'],
      categories: ['janus'],
    },
    versions: [
      {
        name: packageVersion,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: packageTransaction },
        subresources: { status: {} },
        additionalPrinterColumns: [
          {
            name: 'Number',
            type: 'integer',
            description: 'Number of the package transaction.',
            jsonPath: '.status.transactionNumber',
          },
          { name: 'Change', type: 'string', description: 'The kind of change.', jsonPath: '.spec.change' },
          { name: 'Package', type: 'string', description: 'The package.', jsonPath: '.spec.install.package.spec.package' },
          { name: 'Source', type: 'string', description: 'The package to delete.', jsonPath: '.spec.delete.source', priority: 1 },
          { name: 'Dry run', type: 'boolean', description: 'Whether nothing is changed.', jsonPath: '.spec.dryRun', priority: 1 },
          { name: 'Phase', type: 'string', description: 'The present phase.', jsonPath: '.status.phase' },
          { name: 'Done', type: 'string', description: 'Committed stages, and all stages.', jsonPath: '.status.progress' },
          conditionColumn('Ready', 'status'),
          conditionColumn('Ready', 'reason'),
          { name: 'Age', type: 'date', description: 'Time since creation.', jsonPath: '.metadata.creationTimestamp' },
          { name: 'Failures', type: 'integer', description: 'Failed attempts.', jsonPath: '.status.failures', priority: 1 },
          {
            name: 'Validated',
            type: 'string',
            description: 'Message of the condition Validated.',
            jsonPath: '.status.conditions[?(@.type=="Validated")].message',
            priority: 1,
          },
          {
            name: 'Installed',
            type: 'string',
            description: 'Message of the condition Installed.',
            jsonPath: '.status.conditions[?(@.type=="Installed")].message',
            priority: 1,
          },
        ],
      },
    ],
  },
};
