// The gate of a change: the engine waits until its object is ready.
import { durationOf } from './fields.ts';
import type { Schema } from './schema.ts';
import { gateDurations } from './spec-values.ts';

/** The check of a gate. The hook requires exactly one of the three. */
function check(description: string): Schema {
  return {
    type: 'object',
    description: `${description} One of condition, field and expression.`,
    properties: {
      condition: {
        type: 'object',
        description: 'A condition in status.conditions of the object.',
        required: ['type'],
        properties: {
          type: { type: 'string', description: 'Type of the condition, such as Available.', minLength: 1, maxLength: 316 },
          status: {
            type: 'string',
            description: 'Required status of the condition.',
            enum: ['True', 'False', 'Unknown'],
            default: 'True',
          },
        },
      },
      field: {
        type: 'object',
        description: 'A field of the object.',
        required: ['path'],
        properties: {
          path: {
            type: 'string',
            description: 'Path of the field, such as .status.loadBalancer.ingress[0].ip.',
            minLength: 1,
            maxLength: 512,
          },
          value: {
            description: 'Required value of the field. If it is left out, the field must not be empty.',
            'x-kubernetes-preserve-unknown-fields': true,
          },
        },
      },
      expression: {
        type: 'string',
        description: 'An expression in CEL over the variable object, such as object.status.readyReplicas >= 2.',
        minLength: 1,
        maxLength: 1024,
      },
    },
  };
}

export const gateTimes = {
  timeout: durationOf(gateDurations.timeout, 'How long to wait. After this time the engine undoes all changes.'),
  stableFor: durationOf(gateDurations.stableFor, 'How long the object must be ready without interruption; less than timeout.'),
} as const;

export const gate: Schema = {
  type: 'object',
  description:
    'The engine waits until the object is ready. If the object fails or takes too long, the engine undoes all changes. Without ready, a rule for the kind decides. The gate of a Delete waits until the object is deleted.',
  properties: {
    at: {
      type: 'string',
      description:
        'AfterChange waits before the next change, AtEnd waits after all changes are applied, Never does not wait even if spec.gate is set.',
      enum: ['AfterChange', 'AtEnd', 'Never'],
      default: 'AfterChange',
    },
    ready: check('The check that the object must pass.'),
    failed: check('If the object passes this check, the engine stops waiting and undoes all changes.'),
    ...gateTimes,
  },
};
