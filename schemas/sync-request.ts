// What Metacontroller posts to /sync and /finalize, as far as the hook relies on it. Fields that are not named here are
// tolerated: other versions of Metacontroller send others.
import type { Schema } from './schema.ts';
import { group } from './spec-values.ts';
import { kind } from './transaction.ts';

const objects: Schema = {
  type: 'object',
  additionalProperties: { type: 'object', additionalProperties: { type: 'object' } },
};

export const syncRequest: Schema = {
  type: 'object',
  description: 'A call of Metacontroller: look after this Transaction.',
  required: ['parent'],
  properties: {
    parent: {
      type: 'object',
      description: 'The Transaction as Metacontroller knows it, perhaps outdated: only its identity is relied upon.',
      required: ['apiVersion', 'kind', 'metadata'],
      properties: {
        apiVersion: { type: 'string', pattern: `^${group.replaceAll('.', '\\.')}/[a-z0-9]{1,63}$` },
        kind: { type: 'string', enum: [kind] },
        metadata: {
          type: 'object',
          required: ['name', 'namespace', 'uid'],
          properties: {
            name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$' },
            namespace: { type: 'string', maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' },
            uid: { type: 'string', maxLength: 128, pattern: '^[-A-Za-z0-9]+$' },
          },
        },
        status: { type: 'object', description: 'Given back unchanged when the Transaction is gone.' },
      },
    },
    children: { ...objects, description: 'Observed children by kind and name; none unless someone configured any.' },
    finalizing: { type: 'boolean', description: 'Metacontroller believes that the Transaction is being deleted.' },
  },
};
