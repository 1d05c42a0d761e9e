// The kinds of pkg.crossplane.io, for clusters without Crossplane: providers, configurations, functions, their revisions, the Lock, and
// ImageConfigs.
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

const secretKey: Schema = {
  type: 'object',
  description: 'A key of a Secret in the namespace of packages.',
  required: ['name', 'key'],
  properties: { name: text('Name of the Secret.'), key: text('Key in its data.') },
};

const identity: Schema = {
  type: 'object',
  description: 'Issuer and subject that the certificate of a signer names. A regular expression takes precedence over the text.',
  properties: {
    issuer: text('The issuer.'),
    issuerRegExp: text('A regular expression (RE2) for the issuer.'),
    subject: text('The subject.'),
    subjectRegExp: text('A regular expression (RE2) for the subject.'),
  },
};

const authority: Schema = {
  type: 'object',
  description: 'A key, or identities, one of which must have signed the image.',
  required: ['name'],
  properties: {
    name: text('Its name, for messages.'),
    key: {
      type: 'object',
      description: 'A public key.',
      required: ['secretRef', 'hashAlgorithm'],
      properties: { secretRef: secretKey, hashAlgorithm: { ...text('sha256, sha384 or sha512.'), default: 'sha256' } },
    },
    keyless: {
      type: 'object',
      description: 'Identities, which Sigstore certifies.',
      required: ['identities'],
      properties: {
        identities: { type: 'array', description: 'One of them must have signed.', items: identity },
        insecureIgnoreSCT: { type: 'boolean', description: 'The certificate needs no proof that a log has it.' },
      },
    },
    attestations: {
      type: 'array',
      description: 'Attestations that it must have signed, in place of the image.',
      items: {
        type: 'object',
        required: ['name', 'predicateType'],
        properties: { name: text('Its name.'), predicateType: text('The type of its predicate.') },
      },
    },
  },
};

const imageConfig: Kind = {
  kind: 'ImageConfig',
  version: 'v1beta1',
  hasStatus: false,
  columns: [age],
  properties: {
    spec: {
      type: 'object',
      description: 'Settings for the images that it matches.',
      required: ['matchImages'],
      'x-kubernetes-preserve-unknown-fields': true,
      properties: {
        matchImages: {
          type: 'array',
          description: 'The images. The longest prefix counts.',
          minItems: 1,
          items: {
            type: 'object',
            required: ['prefix'],
            properties: {
              type: { type: 'string', description: 'How it matches.', enum: ['Prefix'], default: 'Prefix' },
              prefix: text('What the name of an image begins with.'),
            },
          },
        },
        registry: {
          type: 'object',
          description: 'Settings of the registry.',
          properties: {
            authentication: {
              type: 'object',
              required: ['pullSecretRef'],
              properties: {
                pullSecretRef: {
                  type: 'object',
                  description: 'A pull secret in the namespace of packages.',
                  properties: { name: { ...text('Name of the Secret.'), default: '' } },
                },
              },
            },
          },
        },
        rewriteImage: {
          type: 'object',
          description: 'Where the images are instead.',
          required: ['prefix'],
          properties: { prefix: text('It replaces the longest prefix that matches.') },
        },
        verification: {
          type: 'object',
          description: 'Who must have signed the images.',
          required: ['provider'],
          properties: {
            provider: { type: 'string', description: 'What verifies the signatures.', enum: ['Cosign'] },
            cosign: {
              type: 'object',
              required: ['authorities'],
              properties: {
                authorities: { type: 'array', description: 'One of them must have signed.', items: authority },
              },
            },
          },
        },
      },
    },
  },
};

export const kindDefinitions = Object.fromEntries(
  [...families, lock, imageConfig].map((one) => [`${pluralOf(one)}.${packagesGroup}`, definitionOf(one)]),
);

function pluralOf({ kind }: Kind): string {
  return `${kind.toLowerCase()}s`;
}

function definitionOf(one: Kind): object {
  const { kind, version, properties, columns, hasStatus = true } = one;
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
          subresources: hasStatus ? { status: {} } : {},
          additionalPrinterColumns: columns,
        },
      ],
    },
  };
}
