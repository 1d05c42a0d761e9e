// Releases of the corpus (test/corpus): their manifests, and the changes from one version to the next.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { identityOf, type Reference } from '../../hooks/objects/reference.ts';

const folder = join(import.meta.dirname, '../corpus');

/** The names of the releases: those of their folders. */
export function releases(): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

/** The objects of a version (`v1`, `v2`), in the order of the file, for a namespace. */
export function manifestsOf(release: string, version: string, namespace: string): readonly JsonObject[] {
  const text = readFileSync(join(folder, release, `${version}.yaml`), 'utf8').replaceAll('release-namespace', namespace);
  return parseAllDocuments(text).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS() as JsonObject;
  });
}

export function referenceOf(object: JsonObject): Reference {
  const [apiVersion = '', kind = ''] = ['apiVersion', 'kind'].map((key) => textAt(object, key));
  const namespace = textAt(object, 'metadata', 'namespace');
  const target = { apiVersion, kind, name: textAt(object, 'metadata', 'name') ?? '' };
  return namespace === undefined ? target : { ...target, namespace };
}

export function isNamespaced(object: JsonObject): boolean {
  return at(object, 'metadata', 'namespace') !== undefined;
}

/** Create for new objects, Update for objects in both versions, Delete for dropped ones, the last one first. */
export function changesBetween(before: readonly JsonObject[], after: readonly JsonObject[]): readonly JsonObject[] {
  const [old, young] = [before, after].map((objects) => new Set(objects.map((object) => identityOf(referenceOf(object)))));
  const sent = after.map((object): JsonObject => {
    const target = referenceOf(object);
    const type = old?.has(identityOf(target)) === true ? 'Update' : 'Create';
    return { type, target: { ...target }, content: contentOf(object) };
  });
  const dropped = before.map(referenceOf).filter((target) => young?.has(identityOf(target)) !== true);
  return [...sent, ...dropped.reverse().map((target): JsonObject => ({ type: 'Delete', target: { ...target } }))];
}

/** Each object as a plain Apply, of the file as it is; Delete for dropped ones, the last one first. */
export function appliesBetween(before: readonly JsonObject[], after: readonly JsonObject[]): readonly JsonObject[] {
  const young = new Set(after.map((object) => identityOf(referenceOf(object))));
  const dropped = before.map(referenceOf).filter((target) => !young.has(identityOf(target)));
  const applied = after.map((content): JsonObject => ({ type: 'Apply', content }));
  return [...applied, ...dropped.reverse().map((target): JsonObject => ({ type: 'Delete', target: { ...target } }))];
}

// The target has the name and the type.
function contentOf({ apiVersion: _version, kind: _kind, metadata, ...content }: JsonObject): JsonObject {
  const rest = Object.entries(metadata as JsonObject).filter(([key]) => !['name', 'namespace'].includes(key));
  return rest.length === 0 ? content : { ...content, metadata: Object.fromEntries(rest) };
}
