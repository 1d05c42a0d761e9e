// The OpenAPI document of the hook's interface. It uses the constants that validate requests.
import {
  ownCustomizeRequest,
  ownRequest,
  ownResponse,
  packageCustomizeRequest,
  packageStatusRequest,
  packageStatusResponse,
} from '../schemas/packages/status-request.ts';
import { packageSyncRequest } from '../schemas/packages/sync-request.ts';
import { customizeResponse, packageSyncResponse, reportedPackageStatus } from '../schemas/packages/sync-response.ts';
import type { Schema } from '../schemas/schema.ts';
import { syncRequest } from '../schemas/sync-request.ts';
import { reportedStatus, syncResponse } from '../schemas/sync-response.ts';
import { version } from '../schemas/transaction.ts';

const json = (schema: Schema) => ({ 'application/json': { schema } });
const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` }) as Schema;

const error: Schema = {
  type: 'object',
  required: ['error'],
  additionalProperties: false,
  properties: {
    error: { type: 'string' },
    faults: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'rule'],
        additionalProperties: false,
        properties: { path: { type: 'string' }, rule: { type: 'string' } },
      },
    },
  },
};

const probe: Schema = {
  type: 'object',
  required: ['ok'],
  additionalProperties: false,
  properties: { ok: { type: 'boolean' }, reason: { type: 'string' } },
};

// If a Transaction is deleted before its first call, it has an empty status.
const response: Schema = { ...syncResponse, properties: { ...syncResponse.properties, status: reference('Status') } };
const status: Schema = { anyOf: [reportedStatus, { type: 'object', maxProperties: 0 }] };

const refusal = (description: string) => ({ description, content: json(reference('Error')) });

/** The schemas of requests and replies. */
interface Exchange {
  readonly request: string;
  readonly response: string;
}

const ofTransactions: Exchange = { request: 'SyncRequest', response: 'SyncResponse' };
const ofPackages: Exchange = { request: 'PackageSyncRequest', response: 'PackageSyncResponse' };

function call(operationId: string, summary: string, exchange = ofTransactions, more: object = {}) {
  return {
    operationId,
    summary,
    security: [{ token: [] }],
    requestBody: { required: true, content: json(reference(exchange.request)) },
    responses: {
      ...more,
      200: { description: 'The answer, whose status Metacontroller stores.', content: json(reference(exchange.response)) },
      400: refusal('Not a valid request of Metacontroller for this kind.'),
      401: refusal('No valid token or certificate.'),
      413: refusal('Too large.'),
      415: refusal('Not JSON.'),
      429: {
        ...refusal('Nothing to store; retry later.'),
        headers: { 'Retry-After': { schema: { type: 'integer', minimum: 1 } } },
      },
      500: refusal('Internal error.'),
    },
  };
}

/** Served if JANUS_PACKAGES is true. */
function packageCall(operationId: string, summary: string, response = 'PackageSyncResponse') {
  const off = { 404: refusal('Package transactions are not served here.') };
  return { post: call(operationId, summary, { ...ofPackages, response }, off) };
}

function statusCall(operationId: string, summary: string, request: string, response: string) {
  const off = { 404: refusal('Package transactions are not served here.') };
  return { post: call(operationId, summary, { request, response }, off) };
}

function probed(operationId: string, summary: string, more: object = {}) {
  const responses = { 200: { description: 'Yes.', content: json(probe) }, ...more };
  return { operationId, summary, responses };
}

function text(operationId: string, summary: string, type: string) {
  return {
    operationId,
    summary,
    responses: { 200: { description: summary, content: { [type]: { schema: { type: 'string' } } } } },
  };
}

const packagePaths = {
  '/packages/sync': packageCall('packagesSync', 'Take the next step of a package transaction.'),
  '/packages/finalize': packageCall('packagesFinalize', 'Take the next step of a package transaction that is being deleted.'),
  '/packages/customize': packageCall('packagesCustomize', 'What wakes a package transaction.', 'CustomizeResponse'),
  '/packages/status/sync': statusCall(
    'packageStatus',
    'The status of a Package.',
    'PackageStatusRequest',
    'PackageStatusResponse',
  ),
  '/packages/status/customize': statusCall(
    'packageStatusCustomize',
    'What wakes the status of a Package.',
    'PackageCustomizeRequest',
    'CustomizeResponse',
  ),
  '/packages/own/sync': statusCall('own', 'Make the package transaction of a Package.', 'OwnRequest', 'OwnResponse'),
  '/packages/own/finalize': statusCall(
    'ownFinalize',
    'Delete a package whose Package is being deleted, or let the Package go.',
    'OwnRequest',
    'OwnResponse',
  ),
  '/packages/own/customize': statusCall(
    'ownCustomize',
    'What wakes a Package that makes its own package transactions.',
    'OwnCustomizeRequest',
    'CustomizeResponse',
  ),
};

const packageSchemas = {
  PackageSyncRequest: packageSyncRequest,
  PackageSyncResponse: {
    ...packageSyncResponse,
    properties: { ...packageSyncResponse.properties, status: reference('PackageStatus') },
  },
  PackageStatus: reportedPackageStatus,
  CustomizeResponse: customizeResponse,
  PackageStatusRequest: packageStatusRequest,
  PackageStatusResponse: packageStatusResponse,
  PackageCustomizeRequest: packageCustomizeRequest,
  OwnRequest: ownRequest,
  OwnResponse: ownResponse,
  OwnCustomizeRequest: ownCustomizeRequest,
};

/** OpenAPI 3.1: its schemas are JSON Schema, so the constants are used unchanged. */
export function openApiDocument() {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Janus on Metacontroller',
      version,
      description: 'The webhook that Metacontroller calls for each Transaction.',
    },
    paths: {
      '/sync': { post: call('sync', 'Take the next steps of a Transaction.') },
      '/finalize': { post: call('finalize', 'Take the next steps of a Transaction that is being deleted.') },
      ...packagePaths,
      '/healthz': { get: probed('healthz', 'Whether the process answers.') },
      '/readyz': {
        get: probed('readyz', 'Whether the hook can serve calls.', {
          503: { description: 'No, and why.', content: json(probe) },
        }),
      },
      '/metrics': { get: text('metrics', 'Metrics for Prometheus.', 'text/plain') },
      '/openapi.json': {
        get: {
          operationId: 'openapi',
          summary: 'This document.',
          responses: { 200: { description: 'This document.', content: json({ type: 'object' }) } },
        },
      },
    },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: {
        SyncRequest: syncRequest,
        SyncResponse: response,
        Status: status,
        ...packageSchemas,
        Error: error,
      },
    },
  };
}
