// The schemas of a rollback: the spec that a user writes, and the set of Transactions and objects that the engine stores.
import type { Schema } from './schema.ts';

/** As hooks/transactions/model/rollback.ts has it. */
const mostUndone = 256;

function names(description: string): Schema {
  return {
    type: 'array',
    description: `${description} KIND[.GROUP]/[NAMESPACE/]NAME.`,
    maxItems: 500,
    items: { type: 'string', description: 'An object.', minLength: 1, maxLength: 640 },
    'x-kubernetes-list-type': 'atomic',
  };
}

export const rollback: Schema = {
  type: 'object',
  description:
    'In place of changes: brings all objects back to the state after an earlier Transaction with this fieldManager. What others wrote since stays. The undo of the rollback brings back the state before it.',
  required: ['to'],
  properties: {
    to: {
      type: 'string',
      description: 'Name of the Transaction that stays. Empty for the state before the first one.',
      maxLength: 253,
    },
    keep: names('Objects that the rollback leaves as they are.'),
    overwrite: names('Objects in which the rollback overwrites what others wrote since.'),
    partial: { type: 'boolean', description: 'Whether the rollback leaves the objects that it cannot restore.' },
    digest: {
      type: 'string',
      description: 'Digest of the plan that was agreed to. If the plan is another one, nothing is written.',
      minLength: 64,
      maxLength: 64,
    },
  },
};

function text(description: string, maxLength: number): Schema {
  return { type: 'string', description, maxLength };
}

export const rollbackSet: Schema = {
  type: 'object',
  description: 'Of a rollback: what the engine has found before its checks.',
  required: ['undone', 'objects'],
  properties: {
    undone: {
      type: 'array',
      description: 'The Transactions that it undoes, the newest first.',
      maxItems: mostUndone,
      items: {
        type: 'object',
        description: 'A Transaction of this namespace.',
        required: ['name', 'uid'],
        properties: { name: text('Its name.', 253), uid: text('Its uid.', 128) },
      },
      'x-kubernetes-list-type': 'atomic',
    },
    objects: {
      type: 'array',
      description: 'The objects that it restores, in the order of its changes.',
      maxItems: 500,
      items: {
        type: 'object',
        description: 'An object.',
        required: ['apiVersion', 'kind', 'name', 'way'],
        properties: {
          apiVersion: text('Its version.', 317),
          kind: text('Its kind.', 63),
          name: text('Its name.', 253),
          namespace: text('Its namespace.', 253),
          way: { type: 'string', description: 'Create (it comes back), Update or Delete.', enum: ['Create', 'Update', 'Delete'] },
          sealed: { type: 'boolean', description: 'Whether its states are encrypted.' },
        },
      },
      'x-kubernetes-list-type': 'atomic',
    },
  },
};
