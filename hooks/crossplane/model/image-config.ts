// ImageConfigs of Crossplane: what an administrator says about the images whose names begin with a prefix. An ImageConfig says one thing
// or several. For each thing the ImageConfig with the longest prefix counts, as in Crossplane.
import { at, type JsonObject, objectAt, objectsAt, textAt } from '../../objects/json.ts';
import { quoted } from './package.ts';
import { isDigest, readReference } from './reference.ts';

/** What an ImageConfig was applied for, in Crossplane's words. */
type ImageConfigReason = 'RewriteImage' | 'SetImagePullSecret' | 'VerifyImage';

/** An entry of `appliedImageConfigRefs`. */
interface AppliedImageConfig {
  readonly name: string;
  readonly reason: ImageConfigReason;
}

/** The ImageConfigs that were applied to an image, and its name after them. */
export interface AppliedImageConfigs {
  readonly refs: readonly AppliedImageConfig[];
  readonly resolved: string;
}

export interface ImageConfig {
  readonly name: string;
  readonly prefixes: readonly string[];
  readonly rewrite: string | undefined;
  readonly pullSecret: string | undefined;
  readonly verification: JsonObject | undefined;
}

/** A repository; with a version, an image in it. */
export interface ImageName {
  readonly source: string;
  /** A tag, or a digest. */
  readonly version?: string | undefined;
  /** The tag beside a digest. */
  readonly tag?: string | undefined;
}

/** Where an image is, and what ImageConfigs say about it. */
export interface ImagePlace {
  readonly source: string;
  readonly version: string | undefined;
  readonly pullSecret: { readonly config: string; readonly name: string } | undefined;
  readonly verification: { readonly config: string; readonly spec: JsonObject } | undefined;
  readonly applied: readonly AppliedImageConfig[];
  /** An ImageConfig names its registry: the administrator wants the hook to reach it. */
  readonly isNamed: boolean;
}

export function readImageConfig(object: JsonObject): ImageConfig {
  const secret = textAt(object, 'spec', 'registry', 'authentication', 'pullSecretRef', 'name') ?? '';
  const isVerified = at(object, 'spec', 'verification') !== undefined;
  const isRewritten = at(object, 'spec', 'rewriteImage') !== undefined;
  return {
    name: textAt(object, 'metadata', 'name') ?? '',
    prefixes: objectsAt(object, 'spec', 'matchImages').flatMap((match) => textAt(match, 'prefix') ?? []),
    rewrite: isRewritten ? (textAt(object, 'spec', 'rewriteImage', 'prefix') ?? '') : undefined,
    pullSecret: secret === '' ? undefined : secret,
    verification: isVerified ? objectAt(object, 'spec', 'verification') : undefined,
  };
}

/**
 * The place of an image, or the fault of an ImageConfig in words. The image is rewritten once. Pull secret and verification are those of
 * the rewritten image.
 */
export function placeOf(image: ImageName, configs: readonly ImageConfig[]): ImagePlace | string {
  const rewriting = chosen(textOf(image), configs, 'rewrite');
  if (typeof rewriting === 'string') return rewriting;
  const found = rewriting === undefined ? image : rewritten(image, rewriting);
  return typeof found === 'string' ? found : placeOfRewritten(found, rewriting, configs);
}

function placeOfRewritten(image: ImageName, rewriting: Match | undefined, configs: readonly ImageConfig[]): ImagePlace | string {
  const text = textOf(image);
  const [pulling, verifying] = [chosen(text, configs, 'pullSecret'), chosen(text, configs, 'verification')];
  if (typeof pulling === 'string') return pulling;
  if (typeof verifying === 'string') return verifying;
  return {
    source: image.source,
    version: image.version,
    pullSecret: pulling && { config: pulling.config.name, name: pulling.config.pullSecret ?? '' },
    verification: verifying && { config: verifying.config.name, spec: verifying.config.verification ?? {} },
    applied: [
      ...appliedAs('RewriteImage', rewriting),
      ...appliedAs('SetImagePullSecret', pulling),
      ...appliedAs('VerifyImage', verifying),
    ],
    isNamed: [rewriting?.config.rewrite, pulling?.prefix].some((name) => namesHostOf(image, name)),
  };
}

/** Whether the text names the whole host of the image: the author of a package chose no part of it. */
function namesHostOf({ source }: ImageName, text: string | undefined): boolean {
  const host = source.split('/', 1)[0];
  return text === host || text?.startsWith(`${host}/`) === true;
}

function textOf({ source, version, tag }: ImageName): string {
  if (version === undefined) return source;
  if (!isDigest(version)) return `${source}:${version}`;
  return tag === undefined ? `${source}@${version}` : `${source}:${tag}@${version}`;
}

interface Match {
  readonly config: ImageConfig;
  readonly prefix: string;
}

type Setting = 'rewrite' | 'pullSecret' | 'verification';

/** The match with the longest prefix among the ImageConfigs that have the setting, or why there is no single one, in words. */
function chosen(image: string, configs: readonly ImageConfig[], setting: Setting): Match | string | undefined {
  const matches = configs
    .filter((config) => config[setting] !== undefined)
    .flatMap((config) => config.prefixes.map((prefix) => ({ config, prefix })))
    .filter(({ prefix }) => prefix !== '' && image.startsWith(prefix));
  const longest = Math.max(...matches.map(({ prefix }) => prefix.length));
  const [first, second] = matches.filter(({ prefix }) => prefix.length === longest);
  if (first === undefined || second === undefined) return first;
  const [one, other] = [first.config, second.config].map(({ name }) => quoted(name)).toSorted();
  const who = one === other ? `ImageConfig ${one} has the prefix` : `ImageConfigs ${one} and ${other} have the prefix`;
  return `${image}: ${who} ${quoted(first.prefix)} ${one === other ? 'twice' : `for ${words[setting]}`}, expected one; remove the other`;
}

const words = { rewrite: 'rewriteImage', pullSecret: 'a pull secret', verification: 'verification' } as const;

function rewritten(image: ImageName, { config, prefix }: Match): ImageName | string {
  const written = textOf(image);
  const text = `${config.rewrite}${written.slice(prefix.length)}`;
  const who = `${written}: ImageConfig ${quoted(config.name)}`;
  if (text === written) return `${who} rewrites the image onto itself: change its rewriteImage.prefix`;
  const read = image.version === undefined ? repositoryIn(text) : imageIn(text);
  if (isDigest(image.version ?? '') && read !== undefined && read.version !== image.version)
    return `${who} rewrites the image to another digest: change its rewriteImage.prefix`;
  if (config.rewrite !== '' && read !== undefined) return read;
  return `${who} rewrites the image to ${quoted(text)}, expected registry and repository; change its rewriteImage.prefix`;
}

function repositoryIn(text: string): ImageName | undefined {
  const source = readReference(text)?.source;
  return source === undefined ? undefined : { source };
}

/** Without tag and digest, a reference means the tag `latest`. A rewritten image must name its version. */
function imageIn(text: string): ImageName | undefined {
  return /[:@][^/]*$/.test(text) ? readReference(text) : undefined;
}

function appliedAs(reason: ImageConfigReason, match: Match | undefined): readonly AppliedImageConfig[] {
  return match === undefined ? [] : [{ name: match.config.name, reason }];
}
