// What a user may write in `spec` of a Transaction. No rules in CEL here: the API server would evaluate them at every update of
// the status (creation-rules.ts has them). `content` is declared without a type, any JSON: what must hold inside depends on the
// change (name, kind, namespace agree with the target; a Create carries no uid, resourceVersion, managedFields), and the hook says it.
import type { Schema } from './schema.ts';
import { type Duration, durations, gateDurations, patterns } from './spec-values.ts';

export const mostChanges = 500;

interface Text {
  readonly description: string;
  readonly pattern: string;
  readonly maxLength: number;
}

function text({ description, pattern, maxLength }: Text): Schema {
  return { type: 'string', description, minLength: 1, maxLength, pattern };
}

function duration(name: keyof typeof durations, description: string): Schema {
  return durationOf(durations[name], description);
}

function durationOf({ default: usual, least, most }: Duration, description: string): Schema {
  const bounded = `${description} A duration from ${least} to ${most}.`;
  return { type: 'string', description: bounded, default: usual, minLength: 1, maxLength: 32, pattern: patterns.duration };
}

const target: Schema = {
  type: 'object',
  description: 'The object that this change is about. No object may be the target of two changes.',
  required: ['apiVersion', 'kind', 'name'],
  properties: {
    apiVersion: text({
      description: 'Group and version of the object, such as v1 or apps/v1.',
      pattern: patterns.apiVersion,
      maxLength: 317,
    }),
    kind: text({
      description: 'Kind of the object, such as ConfigMap: the kind itself, not the plural that kubectl takes.',
      pattern: patterns.kind,
      maxLength: 63,
    }),
    name: text({
      description: 'Name of the object.',
      pattern: patterns.name,
      maxLength: 253,
    }),
    namespace: text({
      description: "Namespace of the object. Left out, it is the Transaction's own; leave it out for cluster-scoped kinds.",
      pattern: patterns.namespace,
      maxLength: 63,
    }),
  },
};

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

const gateTimes = {
  timeout: durationOf(gateDurations.timeout, 'How long to wait; then all is undone.'),
  stableFor: durationOf(gateDurations.stableFor, 'For how long it must be ready without a break; less than timeout.'),
} as const;

const gate: Schema = {
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

const change: Schema = {
  type: 'object',
  description: 'One operation on one object.',
  required: ['target', 'type'],
  properties: {
    target,
    type: {
      type: 'string',
      description:
        'Create makes an object that must not exist. Update replaces an existing object by content; finalizers and owner references stay where content has no such list. Patch sets the fields that content names in an existing object, by server-side apply with force. Delete deletes an existing object.',
      enum: ['Create', 'Update', 'Patch', 'Delete'],
    },
    gate,
    content: {
      description:
        'The object (Create, Update) or the fields to set (Patch); required but for Delete, where it is ignored. apiVersion, kind, metadata.name and metadata.namespace may be left out and otherwise must agree with target. Values of Secrets that stand here can be read by whoever can read the Transaction.',
      'x-kubernetes-preserve-unknown-fields': true,
    },
  },
  // With `not` the API server names content as what is missing;
  // with Delete as the other choice it would propose to delete.
  anyOf: [{ required: ['content'] }, { not: { properties: { type: { enum: ['Create', 'Update', 'Patch'] } } } }],
};

export const transactionSpec: Schema = {
  type: 'object',
  description: 'What is to be done. Cannot be changed afterwards.',
  required: ['serviceAccountName', 'changes'],
  properties: {
    serviceAccountName: text({
      description:
        "Name of a ServiceAccount in the Transaction's namespace. Every read and write of a target is done as it, with its permissions.",
      pattern: patterns.serviceAccountName,
      maxLength: 253,
    }),
    changes: {
      type: 'array',
      description:
        'The changes, applied in this order, one by one. Should one fail, those before it are undone in reverse order. Others see the changes as they happen: there is no isolation.',
      minItems: 1,
      maxItems: mostChanges,
      items: change,
      'x-kubernetes-list-type': 'atomic',
    },
    gate: {
      type: 'object',
      description:
        'At the end all changed objects must be ready at once: a gate AtEnd for each change that has none, Deletes aside.',
      properties: gateTimes,
    },
    lockTimeout: duration(
      'lockTimeout',
      'How long a lock on a target lasts without being renewed; then another Transaction may take it.',
    ),
    lockWait: duration(
      'lockWait',
      'How long to wait for targets that other Transactions have locked; with 0s a held lock fails at once.',
    ),
    timeout: duration(
      'timeout',
      'How long the changes may take in all before they are undone, and how long the undo may take then.',
    ),
    ttlSecondsAfterFinished: {
      type: 'integer',
      description:
        'The Transaction deletes itself so many seconds after it has finished, and can no longer be undone then. While an undo has left something (Failed, an item with left: true), it stays: its snapshot may hold the only copy. Left out, it stays.',
      minimum: 0,
      maximum: 2147483647,
    },
  },
};
