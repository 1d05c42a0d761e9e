// What the hook answers to Metacontroller, which decodes it strictly: one more field and it refuses the whole answer.
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
      status: { type: 'object', description: 'The whole status; what is left out is lost.' },
      children,
      resyncAfterSeconds: { type: 'number', description: 'When to call again; 0 only when something changes.', minimum: 0 },
      finalized: { type: 'boolean', description: 'Nothing is left to do: the finalizer may go.' },
    },
  };
}

/**
 * The status of an answer, exactly: the API server prunes fields that the CRD does not name, so that what is answered and
 * what is stored would differ for ever, and every call would write.
 */
export const reportedStatus: Schema = closed(transactionStatus);

/** The schema without fields that it does not name. */
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
