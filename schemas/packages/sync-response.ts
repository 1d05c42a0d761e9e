// What the hook answers to Metacontroller about package transactions.
import type { Schema } from '../schema.ts';
import { answer, closed } from '../sync-response.ts';
import { packageStatus } from './package-status.ts';

export const packageSyncResponse: Schema = answer('The answer about a package transaction.', {
  type: 'array',
  description: 'None: stages are no children.',
  maxItems: 0,
  items: { type: 'object' },
});

/** The status of an answer, exactly, but for observedGeneration, which Metacontroller adds. */
export const reportedPackageStatus: Schema = closed(packageStatus);

export const customizeResponse: Schema = {
  type: 'object',
  description: 'What wakes a package transaction: the Lock, and its own stages.',
  required: ['relatedResources'],
  additionalProperties: false,
  properties: {
    relatedResources: {
      type: 'array',
      items: {
        type: 'object',
        required: ['apiVersion', 'resource'],
        additionalProperties: false,
        properties: {
          apiVersion: { type: 'string' },
          resource: { type: 'string' },
          namespace: { type: 'string' },
          names: { type: 'array', items: { type: 'string' } },
          labelSelector: { type: 'object' },
        },
      },
    },
  },
};
