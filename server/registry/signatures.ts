// Reads the signatures of an image from its repository, where cosign pushes them: below a tag that its digest names, or as images that
// refer to it (OCI 1.1).
import { createHash } from 'node:crypto';
import { isDigest } from '../../hooks/crossplane/model/reference.ts';
import { at, type Json, listAt, textAt } from '../../hooks/objects/json.ts';
import { limits } from './limits.ts';
import { accepted } from './manifest.ts';
import type { Signature } from './signature.ts';
import { invalid } from './trouble.ts';

/** The text of a path below the repository; undefined if there is none. */
export type ReadContent = (path: string, accept: string, most: number) => Promise<string | undefined>;

export interface SignaturePlace {
  readonly source: string;
  readonly digest: string;
  /** The most bytes that signatures may still take. */
  room: number;
  readonly read: ReadContent;
}

const forms = {
  sig: { kind: 'text', mediaType: 'application/vnd.dev.cosign.simplesigning.v1+json' },
  att: { kind: 'envelope', mediaType: 'application/vnd.dsse.envelope.v1+json' },
} as const;

const cosign = { signature: 'dev.cosignproject.cosign/signature', certificate: 'dev.sigstore.cosign/certificate' } as const;
const entry = 'dev.sigstore.cosign/bundle';

/** Signatures of the image, or attestations, below their tag. */
export async function taggedSignatures(place: SignaturePlace, ending: 'sig' | 'att'): Promise<readonly Signature[]> {
  const { kind, mediaType } = forms[ending];
  const text = await place.read(`manifests/${tagOf(place)}.${ending}`, accepted, limits.manifestBytes);
  const layers = text === undefined ? [] : listAt(jsonOf(text, place), 'layers');
  const own = few(layers, place).filter((layer) => textAt(layer, 'mediaType') === mediaType);
  return inOrder(own, async (layer) => ({
    kind,
    content: await blobOf(layer, place),
    signature: textAt(layer, 'annotations', cosign.signature) ?? '',
    certificate: textAt(layer, 'annotations', cosign.certificate),
    entry: textAt(layer, 'annotations', entry),
  }));
}

const bundleType = 'application/vnd.dev.sigstore.bundle';
const indexType = 'application/vnd.oci.image.index.v1+json';

/** Bundles in images that refer to the image. A registry without that list has an index below a tag in its place. */
export async function referringBundles(place: SignaturePlace): Promise<readonly Signature[]> {
  const text =
    (await place.read(`referrers/${place.digest}`, indexType, limits.manifestBytes)) ??
    (await place.read(`manifests/${tagOf(place)}`, indexType, limits.manifestBytes));
  const listed = text === undefined ? [] : listAt(jsonOf(text, place), 'manifests');
  const bundles = listed.filter((one) => textAt(one, 'artifactType')?.startsWith(bundleType) === true);
  const layers = await inOrder(few(bundles, place), async (one) => {
    const manifest = await verified(`manifests/${digestIn(one, place)}`, digestIn(one, place), limits.manifestBytes, place);
    return few(listAt(jsonOf(manifest, place), 'layers'), place);
  });
  const own = few(layers.flat(), place).filter((layer) => textAt(layer, 'mediaType')?.startsWith(bundleType) === true);
  return inOrder(own, async (layer) => ({ kind: 'bundle', content: await blobOf(layer, place) }));
}

function tagOf({ digest }: SignaturePlace): string {
  return digest.replace(':', '-');
}

function jsonOf(text: string, place: SignaturePlace): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw invalid(`${nameOf(place)}: its list of signatures is no JSON`);
  }
}

function nameOf({ source, digest }: SignaturePlace): string {
  return `${source}@${digest}`;
}

function few(found: readonly Json[], place: SignaturePlace): readonly Json[] {
  if (found.length <= limits.signatures) return found;
  throw invalid(`${nameOf(place)} has ${found.length} signatures, at most ${limits.signatures} are read`);
}

function digestIn(descriptor: Json, place: SignaturePlace): string {
  const digest = textAt(descriptor, 'digest') ?? '';
  if (isDigest(digest)) return digest;
  throw invalid(`${nameOf(place)}: its list of signatures names content by something else than a digest sha256:…`);
}

async function blobOf(layer: Json, place: SignaturePlace): Promise<string> {
  const size = at(layer, 'size');
  place.room -= typeof size === 'number' && size >= 0 ? size : Number.POSITIVE_INFINITY;
  if (place.room < 0)
    throw invalid(`${nameOf(place)}: its signatures have more than ${limits.signatureBytes} bytes, or do not say how many`);
  const digest = digestIn(layer, place);
  return verified(`blobs/${digest}`, digest, Number(size), place);
}

async function verified(path: string, digest: string, most: number, place: SignaturePlace): Promise<string> {
  // Without these types, a registry answers 404 for a manifest.
  const text = await place.read(path, accepted, most);
  if (text === undefined) throw invalid(`${nameOf(place)}: its signature ${digest} does not exist`);
  const found = `sha256:${createHash('sha256').update(text).digest('hex')}`;
  if (found !== digest) throw invalid(`${nameOf(place)}: expected a signature of the digest ${digest}, found ${found}`);
  return text;
}

/** One after the other: each takes a turn of its own. */
async function inOrder<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}
