// The requests of Metacontroller about a Package to /packages/status/sync and /packages/status/customize, as far as the hook uses
// them, and its answers. A DecoratorController names the Package `object` in one request, and `parent` in the other.
import type { Schema } from '../schema.ts';
import { packagesGroup } from './package-transaction.ts';

const pkg: Schema = {
  type: 'object',
  description:
    'The Package in the cache of Metacontroller. Metacontroller stores the status only if the Package is still at that version.',
  required: ['apiVersion', 'kind', 'metadata'],
  properties: {
    apiVersion: { type: 'string', pattern: `^${packagesGroup.replaceAll('.', '\\.')}/[a-z0-9]{1,63}$` },
    kind: { type: 'string', enum: ['Provider', 'Configuration', 'Function'] },
    metadata: { type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 1, maxLength: 253 } } },
  },
};

export const packageStatusRequest: Schema = {
  type: 'object',
  description: 'A call of Metacontroller about one Package, with its revisions.',
  required: ['object'],
  properties: {
    object: pkg,
    related: { type: 'object', description: 'The revisions, by kind and name.', additionalProperties: { type: 'object' } },
  },
};

export const packageCustomizeRequest: Schema = {
  type: 'object',
  description: 'A call of Metacontroller, which requests the revisions of one Package.',
  required: ['parent'],
  properties: { parent: pkg },
};

export const packageStatusResponse: Schema = {
  type: 'object',
  description: 'The answer about a Package.',
  required: ['status', 'attachments'],
  additionalProperties: false,
  properties: {
    status: { type: 'object', description: 'The whole status. Conditions of other writers are unchanged.' },
    attachments: { type: 'array', description: 'Always empty.', maxItems: 0, items: { type: 'object' } },
  },
};
