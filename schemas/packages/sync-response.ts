// The answers of the hook to Metacontroller about package transactions.
import type { Schema } from '../schema.ts';
import { answer, closed } from '../sync-response.ts';
import { packageStatus } from './package-status.ts';

export const packageSyncResponse: Schema = answer('The answer about a package transaction.', {
  type: 'array',
  description: 'Always empty, because stages are not children.',
  maxItems: 0,
  items: { type: 'object' },
});

/** The exact status of an answer, without observedGeneration, which Metacontroller adds. */
export const reportedPackageStatus: Schema = closed(packageStatus);

export const customizeResponse: Schema = {
  type: 'object',
  description: 'The objects whose changes cause a call: the Lock, and the stages of the package transaction.',
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
