// Makes the CRD from the schema of a Transaction; `scripts/generate.ts` writes it to manifests/crds.
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
  { name: 'App', type: 'string', description: 'The app, by its field manager.', jsonPath: '.spec.fieldManager' },
  { name: 'Phase', type: 'string', description: 'Phase of the Transaction.', jsonPath: '.status.phase' },
  { name: 'Done', type: 'string', description: 'Changes that are done, and all changes.', jsonPath: '.status.progress' },
  {
    name: 'Reason',
    type: 'string',
    description: 'Reason of the condition Succeeded: the phase, or why the Transaction cannot succeed.',
    jsonPath: '.status.conditions[?(@.type=="Succeeded")].reason',
  },
  {
    name: 'Undo',
    type: 'string',
    description: 'Why the engine has refused the last undo.',
    jsonPath: '.status.conditions[?(@.type=="UndoRefused")].reason',
  },
  { name: 'Age', type: 'date', description: 'Time since creation.', jsonPath: '.metadata.creationTimestamp' },
  {
    name: 'Current',
    type: 'string',
    description: 'The change that the engine applies, waits for or undoes.',
    jsonPath: '.status.current',
    priority: 1,
  },
  {
    name: 'Waiting',
    type: 'string',
    description: 'The condition that an open gate waits for.',
    jsonPath: '.status.conditions[?(@.reason=="WaitingForGate")].message',
    priority: 1,
  },
  {
    // The inventory (server/telemetry) reads it, as it reads UID, Since and Left.
    name: 'Until',
    type: 'string',
    description: 'The time at which the last open gate times out.',
    jsonPath: '.status.waitingUntil',
    priority: 1,
  },
  {
    name: 'Duration',
    type: 'string',
    description: 'Time from the start to the end.',
    jsonPath: '.status.duration',
    priority: 1,
  },
  {
    name: 'ServiceAccount',
    type: 'string',
    description: 'The ServiceAccount that makes the changes.',
    jsonPath: '.spec.serviceAccountName',
    priority: 1,
  },
  {
    name: 'Since',
    type: 'string',
    description: 'The time at which the Transaction began to run, or ended.',
    jsonPath: '.status.conditions[?(@.type=="Reconciling")].lastTransitionTime',
    priority: 1,
  },
  {
    name: 'Left',
    type: 'string',
    description: 'Why the undo could not undo the first change that it left.',
    jsonPath: '.status.items[?(@.left)].error.reason',
    priority: 1,
  },
  {
    name: 'UID',
    type: 'string',
    description: 'UID that its Leases name as their holder.',
    jsonPath: '.metadata.uid',
    priority: 1,
  },
  { name: 'Message', type: 'string', description: 'The present step, or the result.', jsonPath: '.status.message', priority: 1 },
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

/** Metadata belongs to the API server. A CRD may not describe it. */
function root(schema: Schema): Schema {
  return {
    ...schema,
    properties: { ...schema.properties, metadata: { type: 'object' }, spec: withoutPatterns(transactionSpec) },
  };
}

/** Removes the patterns of `spec`, because the policy checks them with a readable message (see creation-rules.ts). */
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
