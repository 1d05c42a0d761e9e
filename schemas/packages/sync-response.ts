// What the hook answers to Metacontroller about package transactions.
import type { Schema } from '../schema.ts';
import { closed } from '../sync-response.ts';
import { packageStatus } from './package-status.ts';

export const packageSyncResponse: Schema = {
  type: 'object',
  description: 'The answer about a package transaction.',
  required: ['status', 'children'],
  additionalProperties: false,
  properties: {
    status: { type: 'object', description: 'The whole status; what is left out is lost.' },
    children: { type: 'array', description: 'None: stages are no children.', maxItems: 0, items: { type: 'object' } },
    resyncAfterSeconds: { type: 'number', description: 'When to call again; 0 only when something changes.', minimum: 0 },
    finalized: { type: 'boolean', description: 'Nothing is left to do: the finalizer may go.' },
  },
};

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
