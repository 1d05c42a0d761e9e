// The CRD as it is generated from the schema of a Transaction; `scripts/generate-crd.ts` writes it to manifests/crds.
import type { Rule, Schema } from './schema.ts';
import { group, kind, transaction, version } from './transaction.ts';

interface Column {
  readonly name: string;
  readonly type: 'string' | 'date';
  readonly description: string;
  readonly jsonPath: string;
  readonly priority?: number;
}

const columns: readonly Column[] = [
  { name: 'Phase', type: 'string', description: 'Where the Transaction is.', jsonPath: '.status.phase' },
  { name: 'Done', type: 'string', description: 'Changes done of all.', jsonPath: '.status.progress' },
  { name: 'Age', type: 'date', description: 'Time since creation.', jsonPath: '.metadata.creationTimestamp' },
  {
    name: 'ServiceAccount',
    type: 'string',
    description: 'The ServiceAccount that it acts as.',
    jsonPath: '.spec.serviceAccountName',
    priority: 1,
  },
  {
    name: 'Succeeded',
    type: 'string',
    description: 'Whether all changes are applied.',
    jsonPath: '.status.conditions[?(@.type=="Succeeded")].status',
    priority: 1,
  },
  {
    name: 'Since',
    type: 'string',
    description: 'Since when it has been under way, or at rest.',
    jsonPath: '.status.conditions[?(@.type=="Reconciling")].lastTransitionTime',
    priority: 1,
  },
  {
    name: 'Left',
    type: 'string',
    description: 'Why the first of the changes that the undo left could not be undone.',
    jsonPath: '.status.items[?(@.left)].error.reason',
    priority: 1,
  },
  { name: 'Message', type: 'string', description: 'What is going on.', jsonPath: '.status.message', priority: 1 },
];

export const customResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `transactions.${group}`, labels: { 'app.kubernetes.io/name': 'janus' } },
  spec: {
    group,
    scope: 'Namespaced',
    names: {
      kind,
      listKind: `${kind}List`,
      plural: 'transactions',
      singular: 'transaction',
      shortNames: ['tx', 'jtx'],
      categories: ['janus'],
    },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: root(transaction) },
        subresources: { status: {} },
        additionalPrinterColumns: columns,
      },
    ],
  },
} as const;

/** Metadata belongs to the API server: a CRD may not even describe it. */
function root(schema: Schema): Schema {
  return structural({ ...schema, properties: { ...schema.properties, metadata: { type: 'object' } } });
}

/**
 * The schema as a CRD holds it: without a `pattern` that a rule of the same field states too, since the rule has the better
 * message.
 */
function structural(schema: Schema): Schema {
  const { pattern, properties, items, additionalProperties, ...rest } = schema;
  return {
    ...rest,
    ...(pattern !== undefined && !statedInCel(pattern, schema['x-kubernetes-validations']) && { pattern }),
    ...(properties && { properties: mapValues(properties, structural) }),
    ...(items && { items: structural(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: typeof additionalProperties === 'boolean' ? additionalProperties : structural(additionalProperties),
    }),
  };
}

function statedInCel(pattern: string, rules: readonly Rule[] = []): boolean {
  return rules.some(({ rule }) => rule.includes(pattern));
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
