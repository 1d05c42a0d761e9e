// The requests of Metacontroller about a Package to /packages/status/… and /packages/own/…, as far as the hook uses them, and its
// answers. A DecoratorController names the Package `object` in one request, and `parent` in the other.
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

const attachments: Schema = { type: 'array', description: 'Always empty.', maxItems: 0, items: { type: 'object' } };

const uid: Schema = { type: 'string', maxLength: 128, pattern: '^[-A-Za-z0-9]+$' };

/** A Package that makes its own package transactions. */
const own: Schema = {
  ...pkg,
  description: 'The Package in the cache of Metacontroller, which may be outdated. The hook uses only its kind, name and uid.',
  properties: {
    ...pkg.properties,
    metadata: {
      type: 'object',
      required: ['name', 'uid'],
      properties: { name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$' }, uid },
    },
  },
};

export const ownRequest: Schema = {
  type: 'object',
  description: 'A call of Metacontroller about one Package that makes its own package transactions.',
  required: ['object'],
  properties: { object: own },
};

export const ownCustomizeRequest: Schema = {
  type: 'object',
  description: 'A call of Metacontroller, which requests the objects that wake one Package.',
  required: ['parent'],
  properties: { parent: own },
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
    attachments,
  },
};

export const ownResponse: Schema = {
  type: 'object',
  description: 'The answer about a Package that makes its own package transactions.',
  required: ['resyncAfterSeconds', 'attachments'],
  additionalProperties: false,
  properties: {
    status: {
      type: 'object',
      description: 'The whole status. Conditions of other writers are unchanged. If it is absent, the status stays as it is.',
    },
    resyncAfterSeconds: { type: 'number', description: 'Seconds until the next call; 0 requests none.', minimum: 0 },
    finalized: { type: 'boolean', description: 'Whether Metacontroller removes its finalizer. Only of finalize.' },
    attachments,
  },
};
