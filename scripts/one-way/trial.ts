// Tries one mutation of an object as a real write, and its inverse as a dry run.
import { at, equalJson, isObject, type Json, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { type Answer, type Client, must, type Query, waitFor } from '../../test/support/client.ts';
import type { Mutation } from './mutations.ts';

interface Tried {
  readonly path: string;
  readonly change: Mutation['change'];
  /** Undecided: none of the tried values is admitted. */
  readonly verdict: 'both ways' | 'one way' | 'undecided';
  readonly why: string;
}

export interface Found extends Tried {
  readonly kind: string;
}

interface Trial {
  readonly collection: string;
  readonly whole: JsonObject;
  readonly mutation: Mutation;
}

const strict = { fieldValidation: 'Strict' };

export async function tryMutation(client: Client, { collection, whole, mutation }: Trial): Promise<Tried> {
  const path = `${collection}/${textAt(whole, 'metadata', 'name')}`;
  const base = { path: mutation.path.join('.').replaceAll('.[]', '[]'), change: mutation.change };
  const before = await present(client, { collection, path, whole });
  for (const candidate of mutation.candidates) {
    const written = await put(client, path, candidate);
    if (!isChanged(written, before)) continue;
    const why = await inverted(client, path, before);
    if (why !== '' || !(await isPutBack(client, path, before))) await remake(client, { collection, path, whole });
    return { ...base, verdict: why === '' ? 'both ways' : 'one way', why };
  }
  return { ...base, verdict: 'undecided', why: '' };
}

function isChanged({ code, body }: Answer, before: JsonObject): boolean {
  return code < 300 && !equalJson(contentOf(body), contentOf(before));
}

/** Why the API server refuses the inverse; empty if it accepts it. */
async function inverted(client: Client, path: string, before: JsonObject): Promise<string> {
  const inverse = await put(client, path, before, { dryRun: 'All' });
  if (inverse.code >= 300) return String(inverse.code);
  return equalJson(contentOf(inverse.body), contentOf(before)) ? '' : 'kept as it is';
}

async function isPutBack(client: Client, path: string, before: JsonObject): Promise<boolean> {
  return (await put(client, path, before)).code < 300;
}

/** Replaces an object. It retries, because controllers write the status meanwhile. */
async function put(client: Client, path: string, object: JsonObject, query: Query = {}): Promise<Answer> {
  for (;;) {
    const found = await client.get(path);
    if (found.code >= 300) return found;
    const answer = await client.update(path, moved(object, found.body), { ...strict, ...query });
    if (answer.code !== 409) return answer;
  }
}

interface Place {
  readonly collection: string;
  readonly path: string;
  readonly whole: JsonObject;
}

async function present(client: Client, place: Place): Promise<JsonObject> {
  const found = await client.get(place.path);
  return found.code < 300 && textAt(found.body, 'metadata', 'deletionTimestamp') === undefined
    ? found.body
    : remake(client, place);
}

async function remake(client: Client, { collection, path, whole }: Place): Promise<JsonObject> {
  const isGone = async (): Promise<boolean> => {
    await client.patch(path, { metadata: { finalizers: null } });
    await client.delete(path, { gracePeriodSeconds: 0 });
    return (await client.get(path)).code === 404;
  };
  await waitFor(isGone, `${path} to be gone`);
  return waitFor(async () => must(await client.create(collection, whole)), `${path} to be made again`);
}

function moved(object: JsonObject, over: JsonObject): JsonObject {
  const version = textAt(over, 'metadata', 'resourceVersion');
  const metadata = at(object, 'metadata');
  const { uid: _uid, managedFields: _managers, ...kept } = isObject(metadata) ? metadata : {};
  return withPath({ ...object, metadata: kept }, ['metadata', 'resourceVersion'], version);
}

function contentOf(object: JsonObject): Json {
  const { metadata: _meta, status: _status, ...content } = object;
  const data = at(content, 'data');
  return isObject(data) ? { ...content, data } : content;
}
