// Manifests and indexes of Docker and of OCI.

import { isDigest } from '../../hooks/crossplane/model/reference.ts';
import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { limits } from './limits.ts';
import { invalid } from './trouble.ts';

/** Every request lists all of these types: if a registry has another type, it answers 404. */
export const accepted = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
].join(', ');

export interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

export type Manifest =
  /** The layers that may hold package.yaml, the lowest first. */
  | { readonly kind: 'image'; readonly layers: readonly Descriptor[] }
  /** The image for linux/amd64. */
  | { readonly kind: 'index'; readonly image: Descriptor };

const annotation = 'io.crossplane.xpkg';

/** Throws a Trouble if the text is neither. The content decides, because a registry may announce another type. */
export function readManifest(text: string): Manifest {
  const value = parsed(text);
  if (at(value, 'schemaVersion') !== 2) throw invalid('the manifest has not the schemaVersion 2');
  const [manifests, layers] = [at(value, 'manifests'), at(value, 'layers')];
  if (isList(manifests) === isList(layers)) throw invalid('the manifest has neither layers nor manifests, or both');
  return isList(manifests) ? { kind: 'index', image: imageOf(manifests) } : { kind: 'image', layers: layersOf(layers) };
}

function parsed(text: string): JsonObject {
  try {
    // Sizes have few digits. A parser that keeps all digits of numbers costs ten times as much.
    const value = JSON.parse(text) as Json;
    if (isObject(value)) return value;
  } catch {
    // The error is thrown below, because the parser's message would quote the text.
  }
  throw invalid('the manifest is no JSON object');
}

function imageOf(manifests: readonly Json[]): Descriptor {
  const [only, ...others] = manifests;
  const isOurs = (one: Json): boolean =>
    textAt(one, 'platform', 'os') === 'linux' && textAt(one, 'platform', 'architecture') === 'amd64';
  const chosen = others.length === 0 ? only : manifests.find(isOurs);
  if (chosen === undefined) throw invalid(`the index holds ${manifests.length} images, none for linux/amd64`);
  return descriptorOf(chosen, limits.manifestBytes);
}

function layersOf(layers: Json | undefined): readonly Descriptor[] {
  const all = isList(layers) ? layers : [];
  if (all.length > limits.layers) throw invalid(`the image has ${all.length} layers, at most ${limits.layers} are read`);
  const base = all.filter((layer) => textAt(layer, 'annotations', annotation) === 'base');
  if (base.length > 1) throw invalid(`the image has ${base.length} layers with the annotation ${annotation}: base, expected one`);
  return (base.length === 1 ? base : all).map((layer) => descriptorOf(layer, limits.layerBytes));
}

function descriptorOf(value: Json, most: number): Descriptor {
  const [digest, size] = [textAt(value, 'digest') ?? '', at(value, 'size')];
  if (!isDigest(digest)) throw invalid('the manifest names content by something else than a digest sha256:…');
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) throw invalid(`${digest} has no size`);
  if (size > most) throw invalid(`${digest} has ${size} bytes, at most ${most} are read`);
  return { digest, size };
}
