// What Metacontroller posts to /packages/sync, /packages/finalize and /packages/customize, as far as the hook relies on it.
import type { Schema } from '../schema.ts';
import { packagesGroup } from './package-transaction.ts';

export const packageSyncRequest: Schema = {
  type: 'object',
  description: 'A call of Metacontroller: look after this package transaction.',
  required: ['parent'],
  properties: {
    parent: {
      type: 'object',
      description: 'The package transaction as Metacontroller knows it, perhaps outdated: only its identity is relied upon.',
      required: ['apiVersion', 'kind', 'metadata'],
      properties: {
        apiVersion: { type: 'string', pattern: `^${packagesGroup.replaceAll('.', '\\.')}/[a-z0-9]{1,63}$` },
        kind: { type: 'string', enum: ['Transaction'] },
        metadata: {
          type: 'object',
          required: ['name', 'uid'],
          properties: {
            name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$' },
            uid: { type: 'string', maxLength: 128, pattern: '^[-A-Za-z0-9]+$' },
          },
        },
        status: { type: 'object', description: 'Given back unchanged when the object is gone or at rest.' },
      },
    },
    finalizing: { type: 'boolean', description: 'Metacontroller believes that it is being deleted.' },
  },
};
