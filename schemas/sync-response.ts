// The answers of the hook to Metacontroller. Metacontroller decodes them strictly: it refuses an answer with an unknown field.
import type { Schema } from './schema.ts';
import { transactionStatus } from './transaction-status.ts';

export const syncResponse: Schema = answer('The answer of the hook.', {
  type: 'array',
  description: 'Observed children, unchanged.',
  items: { type: 'object' },
});

/** The answer to a sync or finalize call, with these children. */
export function answer(description: string, children: Schema): Schema {
  return {
    type: 'object',
    description,
    required: ['status', 'children'],
    additionalProperties: false,
    properties: {
      status: { type: 'object', description: 'The whole status. Metacontroller removes fields that are left out.' },
      children,
      resyncAfterSeconds: {
        type: 'number',
        description: 'Seconds until the next call; 0: call only when an object changes.',
        minimum: 0,
      },
      finalized: { type: 'boolean', description: 'No work is left, so Metacontroller may remove the finalizer.' },
    },
  };
}

/**
 * The exact status of an answer. The API server prunes fields that the CRD does not name. With such a field, the answer and the stored
 * status would always differ, and every call would write.
 */
export const reportedStatus: Schema = closed(transactionStatus);

/** The schema, with `additionalProperties: false` at each object with named fields. */
export function closed(schema: Schema): Schema {
  const { properties, items } = schema;
  return {
    ...schema,
    ...(items && { items: closed(items) }),
    ...(properties && {
      additionalProperties: false,
      properties: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, closed(property)])),
    }),
  };
}
