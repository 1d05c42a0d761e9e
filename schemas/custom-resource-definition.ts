// The CRD as it is generated from the schema of a Transaction; `scripts/generate.ts` writes it to manifests/crds.
import type { Schema } from './schema.ts';
import { group } from './spec-values.ts';
import { kind, transaction, version } from './transaction.ts';
import { transactionSpec } from './transaction-spec.ts';

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
  {
    name: 'Reason',
    type: 'string',
    description: 'Of the condition Succeeded: the phase, or why it will not succeed.',
    jsonPath: '.status.conditions[?(@.type=="Succeeded")].reason',
  },
  { name: 'Age', type: 'date', description: 'Time since creation.', jsonPath: '.metadata.creationTimestamp' },
  {
    name: 'Current',
    type: 'string',
    description: 'The change that is being applied, waited for or undone.',
    jsonPath: '.status.current',
    priority: 1,
  },
  {
    name: 'Waiting',
    type: 'string',
    description: 'What an open gate waits for.',
    jsonPath: '.status.conditions[?(@.reason=="WaitingForGate")].message',
    priority: 1,
  },
  {
    // The inventory (server/telemetry) reads it, as it reads UID, Since and Left.
    name: 'Until',
    type: 'string',
    description: 'Until when open gates are waited for at the latest.',
    jsonPath: '.status.waitingUntil',
    priority: 1,
  },
  {
    name: 'Undo',
    type: 'string',
    description: 'What the engine answered to the last request for an undo, or for a plan of one.',
    jsonPath: '.status.undo.reason',
    priority: 1,
  },
  {
    name: 'Duration',
    type: 'string',
    description: 'How long it took, from beginning to end.',
    jsonPath: '.status.duration',
    priority: 1,
  },
  {
    name: 'ServiceAccount',
    type: 'string',
    description: 'The ServiceAccount that it acts as.',
    jsonPath: '.spec.serviceAccountName',
    priority: 1,
  },
  {
    name: 'Since',
    type: 'string',
    description: 'Since when it has been under way, or has ended.',
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
  { name: 'UID', type: 'string', description: 'What its Leases name as their holder.', jsonPath: '.metadata.uid', priority: 1 },
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
  return {
    ...schema,
    properties: { ...schema.properties, metadata: { type: 'object' }, spec: withoutPatterns(transactionSpec) },
  };
}

/** What the patterns of `spec` say, the policy of its creation says in words (see creation-rules.ts), and once. */
function withoutPatterns({ pattern: _, properties, items, ...rest }: Schema): Schema {
  return {
    ...rest,
    ...(properties && { properties: mapValues(properties, withoutPatterns) }),
    ...(items && { items: withoutPatterns(items) }),
  };
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
