// The requests of Metacontroller to /sync and /finalize, as far as the hook uses them. The hook accepts other fields, because other
// versions of Metacontroller send other fields.
import type { Schema } from './schema.ts';
import { group } from './spec-values.ts';
import { kind } from './transaction.ts';

const objects: Schema = {
  type: 'object',
  additionalProperties: { type: 'object', additionalProperties: { type: 'object' } },
};

export const syncRequest: Schema = {
  type: 'object',
  description: 'A call of Metacontroller about one Transaction.',
  required: ['parent'],
  properties: {
    parent: {
      type: 'object',
      description: 'The Transaction in the cache of Metacontroller, which may be outdated. The hook uses only its identity.',
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
        status: { type: 'object', description: 'The hook returns it unchanged if the Transaction no longer exists.' },
      },
    },
    children: {
      ...objects,
      description: 'Observed children by kind and name. There are none unless the configuration of Metacontroller has children.',
    },
    finalizing: { type: 'boolean', description: 'Whether Metacontroller considers the Transaction to be in deletion.' },
  },
};
