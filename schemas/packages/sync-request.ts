// The requests of Metacontroller to /packages/sync, /packages/finalize and /packages/customize, as far as the hook uses them.
import type { Schema } from '../schema.ts';
import { packagesGroup } from './package-transaction.ts';

export const packageSyncRequest: Schema = {
  type: 'object',
  description: 'A call of Metacontroller about one package transaction.',
  required: ['parent'],
  properties: {
    parent: {
      type: 'object',
      description:
        'The package transaction in the cache of Metacontroller, which may be outdated. The hook uses only its identity.',
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
        status: {
          type: 'object',
          description: 'The hook returns it unchanged if the object no longer exists, or nothing is left to do.',
        },
      },
    },
    related: {
      type: 'object',
      description:
        'The Lock, and the stages, in the cache of Metacontroller. If a stage runs on, the hook answers without any read.',
    },
    finalizing: { type: 'boolean', description: 'Whether Metacontroller considers the object to be in deletion.' },
  },
};
