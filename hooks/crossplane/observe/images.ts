// The registries of one call, as ImageConfigs say: where an image is, with which pull secret it is read, and who must have signed it.
// ImageConfigs are read in each call. Their settings come before those of the package, and those of the package count for itself only.
import type { JsonObject } from '../../objects/json.ts';
import type { Opening } from '../call.ts';
import { type PackageFault, packageFault } from '../model/fault.ts';
import {
  type AppliedImageConfigs,
  type ImageConfig,
  type ImageName,
  type ImagePlace,
  placeOf,
  readImageConfig,
} from '../model/image-config.ts';
import { type KeySelector, writeKeySelector } from '../model/key-selector.ts';
import { quoted } from '../model/package.ts';
import { isDigest, writeReference } from '../model/reference.ts';
import type { Registry, RegistryFailed, VerifyingRegistry } from '../registry.ts';
import { imageConfigs } from '../writes/resources.ts';
import { authoritiesOf } from './authorities.ts';
import { dockerConfigIn, materialIn } from './materials.ts';
import { list, type PackageReader } from './read.ts';

export interface Images extends Registry {
  /** The tag of a digest that will be read: a prefix of an ImageConfig may have a tag. */
  remember(image: Required<ImageName>): void;
  /** What ImageConfigs were applied to the image, and its name after them. */
  applied(image: ImageName): AppliedImageConfigs;
  /** The fault if the image must be signed, and no authority that its ImageConfig names has signed it. */
  unsigned(image: Required<ImageName>): Promise<PackageFault | RegistryFailed | undefined>;
}

interface ImagesOpening {
  readonly reader: PackageReader;
  readonly open: (opening: Opening) => VerifyingRegistry;
  /** The source of the package that the user named, and its pull secrets. */
  readonly root: string;
  readonly pullSecrets: readonly string[];
  readonly authority: KeySelector | undefined;
  readonly trustedRoot: KeySelector | undefined;
  /** ms that are left of the call. */
  readonly left: () => number;
}

/** A fault if the authority of registries cannot be read. */
export async function openImages(opening: ImagesOpening): Promise<Images | PackageFault> {
  const { reader, authority } = opening;
  const certificates = authority === undefined ? undefined : await materialIn(reader, authority);
  if (authority !== undefined && certificates === undefined)
    return packageFault('InvalidPackage', missing('JANUS_PACKAGES_AUTHORITY', authority, reader));
  const objects = await list(reader, imageConfigs, undefined, { whole: true });
  return imagesOf({ ...opening, certificates, configs: objects.map(readImageConfig), tags: new Map(), opened: new Map() });
}

interface Parts extends ImagesOpening {
  readonly certificates: string | undefined;
  readonly configs: readonly ImageConfig[];
  /** The tags of digests: \`SOURCE DIGEST\`. A prefix of an ImageConfig may have a tag. */
  readonly tags: Map<string, string>;
  readonly opened: Map<string, Promise<VerifyingRegistry | string>>;
}

function imagesOf(parts: Parts): Images {
  const at = (image: ImageName) => located(parts, image);
  return {
    tags: (source) => withPlace(at({ source }), ({ registry, place }) => registry.tags(place.source)),
    digest: (reference) =>
      withPlace(at(reference), async ({ registry, place }) => {
        const answer = await registry.digest({ source: place.source, version: place.version ?? reference.version });
        if (answer.kind === 'ok') rememberTag(parts, reference, answer.digest);
        return answer;
      }),
    read: (source, digest, take) =>
      withPlace(at(namedAs(parts, source, digest)), ({ registry, place }) => registry.read(place.source, digest, take)),
    remember: (image) => rememberTag(parts, image, image.version ?? ''),
    applied: (image) => appliedTo(parts, image),
    unsigned: (image) => unsignedImage(parts, image),
  };
}

function rememberTag({ tags }: Parts, { source, version, tag }: ImageName, digest: string): void {
  const known = tag ?? (isDigest(version ?? '') ? undefined : version);
  if (known !== undefined) tags.set(`${source} ${digest}`, known);
}

function namedAs({ tags }: Parts, source: string, digest: string): ImageName {
  return { source, version: digest, tag: tags.get(`${source} ${digest}`) };
}

interface Located {
  readonly place: ImagePlace;
  readonly registry: VerifyingRegistry;
}

/** A fault is in words. */
async function located(parts: Parts, image: ImageName): Promise<Located | string> {
  const place = placeOf(image, parts.configs);
  if (typeof place === 'string') return place;
  const isRoot = image.source === parts.root;
  const key = JSON.stringify([place.pullSecret?.name, isRoot, place.isNamed]);
  const opened = parts.opened.get(key) ?? opening(parts, place, isRoot);
  parts.opened.set(key, opened);
  const registry = await opened;
  return typeof registry === 'string' ? `${nameOf(image)}: ${registry}` : { place, registry };
}

async function opening(parts: Parts, { pullSecret, isNamed }: ImagePlace, isRoot: boolean): Promise<VerifyingRegistry | string> {
  const { reader, open, root, pullSecrets, certificates: authority, left } = parts;
  const configured = pullSecret === undefined ? undefined : await dockerConfigIn(reader, pullSecret.name);
  if (typeof configured === 'object') return `ImageConfig ${quoted(pullSecret?.config)}: ${configured.fault}`;
  const secrets = isRoot ? pullSecrets : [];
  return open({ configured, pullSecrets: secrets, authority, isNamed, root, deadline: Math.max(1, Math.ceil(left())) });
}

/** For people: by its tag, if that is known. */
function nameOf({ source, version, tag }: ImageName): string {
  return version === undefined ? source : writeReference({ source, version: tag ?? version });
}

/** Every client that reads the image gets the fault of an ImageConfig. */
async function withPlace<Answer>(
  found: Promise<Located | string>,
  ask: (located: Located) => Promise<Answer>,
): Promise<Answer | RegistryFailed> {
  const one = await found;
  return typeof one === 'string' ? { kind: 'failed', failure: { kind: 'invalid', message: one } } : ask(one);
}

/** The images were read before: their ImageConfigs have no fault, unless they changed meanwhile. */
function appliedTo({ configs }: Parts, image: ImageName): AppliedImageConfigs {
  const place = placeOf(image, configs);
  if (typeof place === 'string') return { refs: [], resolved: nameOf(image) };
  return { refs: place.applied, resolved: nameOf({ source: place.source, version: place.version }) };
}

async function unsignedImage(parts: Parts, image: Required<ImageName>): Promise<PackageFault | RegistryFailed | undefined> {
  const found = await located(parts, image);
  if (typeof found === 'string') return packageFault('InvalidPackage', found);
  const { registry, place } = found;
  if (place.verification === undefined) return undefined;
  const who = `${nameOf(image)}: ImageConfig ${quoted(place.verification.config)}`;
  const asked = await askedOf(parts, place.verification.spec);
  if (typeof asked === 'string') return packageFault('InvalidPackage', `${who}: ${asked}`);
  const answer = await registry.signed({ source: place.source, digest: image.version ?? '', ...asked });
  if (answer.kind === 'ok') return undefined;
  if (answer.kind === 'failed' && answer.failure.kind !== 'invalid') return answer;
  const why = answer.kind === 'failed' ? answer.failure.message : answer.why.join('; ');
  return packageFault('InvalidPackage', `${who} requires a signature of ${place.source}: ${why}`);
}

async function askedOf({ reader, trustedRoot: material }: Parts, verification: JsonObject) {
  const authorities = await authoritiesOf(reader, verification);
  if (typeof authorities === 'string') return authorities;
  const isNeeded = material !== undefined && authorities.some(({ kind }) => kind === 'keyless');
  const trustedRoot = isNeeded ? await materialIn(reader, material) : undefined;
  if (isNeeded && trustedRoot === undefined) return missing('JANUS_PACKAGES_TRUSTED_ROOT', material, reader);
  return { authorities, trustedRoot };
}

function missing(setting: string, material: KeySelector, { namespace }: PackageReader): string {
  return `${setting}: expected ${writeKeySelector(material)} (kind, name and key) in namespace ${namespace}, found none`;
}
