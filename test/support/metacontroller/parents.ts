// The parents in the API server: their paths, and the read-modify-write of every write of the loop.
import { setTimeout as delay } from 'node:timers/promises';
import { at, equalJson, isList, type Json, type JsonObject, textAt, withKey, withPath } from '../../../hooks/objects/json.ts';
import { type Api, ApiError, hasCode } from './connection.ts';

/** Namespaced or cluster-scoped, with a status subresource: Metacontroller ignores parents without one. */
export interface ParentResource {
  /** `group/version` */
  readonly apiVersion: string;
  /** The plural name. */
  readonly resource: string;
}

export function keyOf(object: JsonObject): string {
  const [namespace, name] = [textAt(object, 'metadata', 'namespace'), textAt(object, 'metadata', 'name')];
  return namespace === undefined ? `${name}` : `${namespace}/${name}`;
}

export function listPath({ apiVersion, resource }: ParentResource): string {
  return `/apis/${apiVersion}/${resource}`;
}

export function objectPath({ apiVersion, resource }: ParentResource, object: JsonObject): string {
  const namespace = textAt(object, 'metadata', 'namespace');
  const name = encodeURIComponent(textAt(object, 'metadata', 'name') ?? '');
  const place = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `/apis/${apiVersion}${place}/${resource}/${name}`;
}

export function finalizersOf(object: JsonObject): readonly Json[] {
  const found = at(object, 'metadata', 'finalizers');
  return isList(found) ? found : [];
}

export interface Parents {
  /** Each returns the object after the write. They throw ApiError: 404 also if another object has the name now. */
  addFinalizer(parent: JsonObject, name: string): Promise<JsonObject>;
  removeFinalizer(parent: JsonObject, name: string): Promise<JsonObject>;
  /** Replaces the whole status; writes nothing if it is equal. */
  storeStatus(parent: JsonObject, status: JsonObject): Promise<JsonObject>;
  /** Replaces the whole status of this very version; writes nothing if it is equal. */
  replaceStatus(parent: JsonObject, status: JsonObject): Promise<JsonObject>;
}

export function parentsOf(api: Api, resource: ParentResource, signal: AbortSignal): Parents {
  const change = (parent: JsonObject, subresource: string, edit: Edit): Promise<JsonObject> => {
    const path = objectPath(resource, parent);
    return retryOnConflict(signal, async () => {
      const current = await api.call('GET', path);
      if (textAt(current, 'metadata', 'uid') !== textAt(parent, 'metadata', 'uid'))
        throw new ApiError(404, `${resource.resource} "${textAt(parent, 'metadata', 'name')}" not found`);
      const edited = edit(current);
      return edited === current ? current : api.call('PUT', path + subresource, edited);
    });
  };
  return {
    addFinalizer: (parent, name) =>
      change(parent, '', (object) => withFinalizers(object, (names) => (names.includes(name) ? names : [...names, name]))),
    removeFinalizer: (parent, name) =>
      change(parent, '', (object) =>
        withFinalizers(object, (names) => (names.includes(name) ? names.filter((other) => other !== name) : names)),
      ),
    storeStatus: (parent, status) =>
      change(parent, '/status', (object) =>
        equalJson(at(object, 'status'), status) ? object : withKey(object, 'status', status),
      ),
    replaceStatus: async (parent, status) =>
      equalJson(at(parent, 'status'), status)
        ? parent
        : api.call('PUT', `${objectPath(resource, parent)}/status`, withKey(parent, 'status', status)),
  };
}

/** Returns its argument if there is nothing to write. */
type Edit = (object: JsonObject) => JsonObject;

function withFinalizers(object: JsonObject, edit: (names: readonly Json[]) => readonly Json[]): JsonObject {
  const names = finalizersOf(object);
  const edited = edit(names);
  return edited === names ? object : withPath(object, ['metadata', 'finalizers'], edited);
}

const waitsOnConflict = [10, 50, 250];

async function retryOnConflict<T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  for (const milliseconds of waitsOnConflict) {
    try {
      return await attempt();
    } catch (error) {
      if (!hasCode(error, 409)) throw error;
      await delay(milliseconds, undefined, { signal });
    }
  }
  return attempt();
}
