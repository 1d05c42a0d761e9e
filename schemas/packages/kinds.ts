// The kinds of pkg.crossplane.io, for clusters without Crossplane: providers, configurations, functions, their revisions, and the Lock.
// They accept all objects that Crossplane's own definitions accept. Fields that only its controllers use are kept, but not read.
import type { Schema } from '../schema.ts';
import { lockPackage } from './lock-package.ts';
import { packagesGroup } from './package-transaction.ts';

const text = (description: string): Schema => ({ type: 'string', description });
const flag = (description: string): Schema => ({ type: 'boolean', description, default: false });
const texts = (description: string): Schema => ({ type: 'object', description, additionalProperties: text('Value.') });

const common: Readonly<Record<string, Schema>> = {
  packagePullPolicy: { ...text('When to pull the image.'), default: 'IfNotPresent' },
  packagePullSecrets: {
    type: 'array',
    description: 'Secrets for the registry.',
    items: { type: 'object', properties: { name: text('Name of the Secret.') }, 'x-kubernetes-preserve-unknown-fields': true },
  },
  ignoreCrossplaneConstraints: flag('Do not check the version of Crossplane.'),
  skipDependencyResolution: flag('Record dependencies, but do not resolve them.'),
  commonLabels: texts('Labels for the objects of the package.'),
  commonAnnotations: texts('Annotations for the objects of the package.'),
  runtimeConfigRef: {
    type: 'object',
    description: 'The configuration of its runtime.',
    properties: { name: text('Name of the configuration.') },
    'x-kubernetes-preserve-unknown-fields': true,
  },
};

const packageSpec: Schema = {
  type: 'object',
  description: 'The package to install.',
  required: ['package'],
  'x-kubernetes-preserve-unknown-fields': true,
  properties: {
    package: {
      ...text('Registry, repository, and a tag or digest.'),
      'x-kubernetes-validations': [
        {
          rule: "self.matches('^[^/]*[.][^/]*/')",
          message: 'expected a registry with a dot before the first slash, such as registry.example.org/acme/name:v1.0.0',
        },
      ],
    },
    revisionActivationPolicy: { ...text('Automatic or Manual.'), default: 'Automatic' },
    revisionHistoryLimit: { type: 'integer', description: 'Inactive revisions to keep.', default: 1, minimum: 0 },
    ...common,
  },
};

const revisionSpec: Schema = {
  type: 'object',
  description: 'One version of a package.',
  required: ['desiredState', 'image', 'revision'],
  'x-kubernetes-preserve-unknown-fields': true,
  properties: {
    desiredState: { type: 'string', description: 'Active or Inactive.', enum: ['Active', 'Inactive'] },
    image: text('The image, by digest.'),
    revision: { type: 'integer', description: 'Grows with each revision of the package.' },
    tlsServerSecretName: text('Secret for the server of webhooks.'),
    tlsClientSecretName: text('Secret for the clients of webhooks.'),
    ...common,
  },
};

const status: Schema = { type: 'object', description: 'Written by controllers.', 'x-kubernetes-preserve-unknown-fields': true };

interface Kind {
  readonly kind: string;
  readonly version: string;
  readonly properties: Readonly<Record<string, Schema>>;
  readonly columns: readonly object[];
  readonly hasStatus?: boolean;
}

const age = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
const column = (name: string, jsonPath: string, type = 'string') => ({ name, type, jsonPath });
const conditionPath = (type: string, field: string): string => `.status.conditions[?(@.type=="${type}")].${field}`;

const families = ['Provider', 'Configuration', 'Function'].flatMap((kind): readonly Kind[] => [
  {
    kind,
    version: 'v1',
    properties: { spec: packageSpec, status },
    columns: [
      column('Installed', conditionPath('Installed', 'status')),
      column('Healthy', conditionPath('Healthy', 'status')),
      column('Package', '.spec.package'),
      column('Reason', conditionPath('Installed', 'reason')),
      age,
      { ...column('Message', conditionPath('Installed', 'message')), priority: 1 },
    ],
  },
  {
    kind: `${kind}Revision`,
    version: 'v1',
    properties: { spec: revisionSpec, status },
    columns: [
      column('Image', '.spec.image'),
      column('State', '.spec.desiredState'),
      column('Revision', '.spec.revision', 'integer'),
      age,
    ],
  },
]);

const lock: Kind = {
  kind: 'Lock',
  version: 'v1beta1',
  properties: { packages: { type: 'array', description: 'The installed packages.', items: lockPackage }, status },
  columns: [age],
};

export const kindDefinitions = Object.fromEntries(
  [...families, lock].map((one) => [`${pluralOf(one)}.${packagesGroup}`, definitionOf(one)]),
);

function pluralOf({ kind }: Kind): string {
  return `${kind.toLowerCase()}s`;
}

function definitionOf(one: Kind): object {
  const { kind, version, properties, columns } = one;
  const plural = pluralOf(one);
  const schema: Schema = {
    type: 'object',
    properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' }, ...properties },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${packagesGroup}`, labels: { 'app.kubernetes.io/name': 'janus' } },
    spec: {
      group: packagesGroup,
      scope: 'Cluster',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), categories: ['crossplane'] },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {} },
          additionalPrinterColumns: columns,
        },
      ],
    },
  };
}
