// The gate of a change: the engine waits until its object is ready.
import { durationOf } from './fields.ts';
import type { Schema } from './schema.ts';
import { failFastDurations, gateDurations } from './spec-values.ts';

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

/** The fields that `spec.gate` has too. */
export const commonGate = {
  timeout: durationOf(gateDurations.timeout, 'How long to wait. After this time the engine undoes all changes.'),
  stableFor: durationOf(gateDurations.stableFor, 'How long the object must be ready without interruption; less than timeout.'),
  failFast: {
    type: 'object',
    description: 'When the gate fails before its timeout, because a container of a new Pod does not start.',
    properties: {
      enabled: { type: 'boolean', description: 'If false, the gate does not fail because of a Pod.', default: true },
      imageAfter: durationOf(
        failFastDurations.imageAfter,
        'How long a container may wait for an image that cannot be pulled (ErrImagePull, ImagePullBackOff, ErrImageNeverPull, InvalidImageName).',
      ),
      containerAfter: durationOf(
        failFastDurations.containerAfter,
        'How long a container may wait because it cannot be created or run, or ended after at least 3 restarts (CreateContainerConfigError, CreateContainerError, RunContainerError, CrashLoopBackOff).',
      ),
    },
  },
  keepLogs: {
    type: 'boolean',
    description:
      'If the gate fails because of a container, its last 20 lines go into the status, where everybody who may read the Transaction may read them. The ServiceAccount needs the right to get pods/log.',
  },
} as const satisfies Readonly<Record<string, Schema>>;

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
    ...commonGate,
  },
};
