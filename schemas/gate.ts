// What is waited for after a change.
import { durationOf } from './fields.ts';
import type { Schema } from './schema.ts';
import { gateDurations } from './spec-values.ts';

/** What a gate checks: exactly one of the three, which the hook says. */
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
          status: { type: 'string', description: 'What it must be.', enum: ['True', 'False', 'Unknown'], default: 'True' },
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
            description: 'What it must be. Left out, the field must not be empty.',
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
  timeout: durationOf(gateDurations.timeout, 'How long to wait; then all is undone.'),
  stableFor: durationOf(gateDurations.stableFor, 'For how long it must be ready without a break; less than timeout.'),
} as const;

export const gate: Schema = {
  type: 'object',
  description:
    'Wait until the object is ready, and undo all if it fails or takes too long. Without ready, the rule of the kind says what ready is; on a Delete, that the object is gone.',
  properties: {
    at: {
      type: 'string',
      description:
        'AfterChange waits before the next change is made, AtEnd once all changes are applied, Never not at all, although spec.gate is set.',
      enum: ['AfterChange', 'AtEnd', 'Never'],
      default: 'AfterChange',
    },
    ready: check('What must hold.'),
    failed: check('What ends the wait: all is undone.'),
    ...gateTimes,
  },
};
