// Turns a Write of the port into one HTTP request. Pure.
//
// 1. Every write carries its precondition, and a lifetime after which it has no effect.
// 2. Like kubectl, it sends `fieldValidation=Strict`: the API server refuses an unknown field, and names it. By default the API server
//    would drop the field, and only add a warning header. Then an undo that lost a field would count as exact.
// 3. A delete has all its options in the body. If there is a body, the API server ignores options in the query.
import type { Location, LogQuery, Precondition, Write } from '../../hooks/objects/cluster.ts';
import { type JsonObject, withPath } from '../../hooks/objects/json.ts';
import { collectionPath, objectPath } from './paths.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface ApiRequest {
  readonly method: Method;
  /** Undefined if a name in it is impossible in a path. */
  readonly path: string | undefined;
  readonly query?: Readonly<Record<string, string>>;
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: JsonObject;
  /** The API server gives up on the request after this time, in ms. Then it has no effect. */
  readonly lifetime?: number;
  /** A larger answer is cut off, in bytes. */
  readonly mostBytes?: number;
  /** The answer is no JSON: the body has it as `text`. */
  readonly isText?: true;
}

/** Reviews the rights of the client that sends it. */
export function accessReview(resourceAttributes: JsonObject): ApiRequest {
  return {
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    contentType: 'application/json',
    body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } },
  };
}

/** The API server cuts off the end, not the beginning, of more than `limitBytes`. */
const mostLogBytes = 64 * 1024;
const podResource = {
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
  verbs: [],
  statusSubresource: true,
};

export function logRequest({ namespace, pod, container, previous }: LogQuery): ApiRequest {
  return {
    method: 'GET',
    path: objectPath({ resource: podResource, namespace, name: pod }, 'log'),
    query: { container, previous: String(previous), tailLines: '20', limitBytes: String(mostLogBytes) },
    accept: 'application/json, */*',
    mostBytes: 2 * mostLogBytes,
    isText: true,
  };
}

interface WriteOptions {
  /** The `lifetime` of the request. */
  readonly timeout: number;
  readonly dryRun: boolean;
}

export const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
export const metadataListOnly = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

const json = 'application/json';

export function requestOfWrite(write: Write, options: WriteOptions): ApiRequest {
  return { ...intentOf(write, options.dryRun), lifetime: options.timeout };
}

function intentOf(write: Write, dryRun: boolean): ApiRequest {
  switch (write.verb) {
    case 'create':
      return createRequest(write.location, named(write.object, write.location), queryOf(write.fieldManager, dryRun));
    case 'update':
      return {
        method: 'PUT',
        path: objectPath(write.location, write.subresource),
        query: queryOf(write.fieldManager, dryRun),
        contentType: json,
        body: conditional(write.object, write.precondition),
      };
    case 'apply':
      return {
        method: 'PATCH',
        path: objectPath(write.location),
        query: { ...queryOf(write.fieldManager, dryRun), force: String(write.failOnConflict !== true) },
        contentType: 'application/apply-patch+yaml',
        body: conditional(named(write.object, write.location), write.precondition),
      };
    case 'delete':
      return deleteRequest(write.location, write.precondition, dryRun);
    default:
      return write satisfies never;
  }
}

function createRequest(location: Location, body: JsonObject, query: Readonly<Record<string, string>>): ApiRequest {
  return { method: 'POST', path: creationPath(location), query, contentType: json, body };
}

// The body of a create holds the name of the new object. Later requests must be able to address that name.
function creationPath(location: Location): string | undefined {
  return objectPath(location) === undefined ? undefined : collectionPath(location.resource, location.namespace);
}

function deleteRequest(location: Location, precondition: Precondition, dryRun: boolean): ApiRequest {
  return {
    method: 'DELETE',
    path: objectPath(location),
    // The API server uses the body. If it refuses a request before it reads the body, an audit log has only the query.
    ...(dryRun ? { query: { dryRun: 'All' } } : {}),
    contentType: json,
    body: {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: precondition.uid, resourceVersion: precondition.resourceVersion },
      propagationPolicy: 'Background',
      ...(dryRun ? { dryRun: ['All'] } : {}),
    },
  };
}

function queryOf(fieldManager: string, dryRun: boolean): Readonly<Record<string, string>> {
  return { fieldManager, fieldValidation: 'Strict', ...(dryRun ? { dryRun: 'All' } : {}) };
}

// The location names the object, whatever the content names, because the engine has checked and locked the location.
function named(object: JsonObject, location: Location): JsonObject {
  return withPath(object, ['metadata', 'name'], location.name);
}

// No object has version 1. With it an apply creates an absent object, and the API server answers 409 if the object exists. (This is
// undocumented; test/scenarios/changes/create-only.test.ts checks it. 0 would be no precondition.)
const noVersion = '1';

function conditional(object: JsonObject, precondition: Precondition | 'absent'): JsonObject {
  if (precondition === 'absent') return withPath(object, ['metadata', 'resourceVersion'], noVersion);
  const withUid = withPath(object, ['metadata', 'uid'], precondition.uid);
  return withPath(withUid, ['metadata', 'resourceVersion'], precondition.resourceVersion);
}
