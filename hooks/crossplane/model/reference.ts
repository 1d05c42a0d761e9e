// The location of a package: registry, repository, and a tag or a digest.

/** A repository of packages, `registry.example.org/acme/provider-s3`, has no tag and no digest. */
export interface PackageReference {
  /** Registry and repository. */
  readonly source: string;
  /** A tag, or a digest `sha256:…`. */
  readonly version: string;
  /** The tag beside a digest (`SOURCE:TAG@DIGEST`). The digest decides what is read; the tag decides which ranges it satisfies. */
  readonly tag?: string;
}

const longestRepository = 255;
/** A name of DNS. */
const longestHost = 253;
const host =
  /^(?=[^/]*\.)(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*(?::[1-9][0-9]{0,4})?$/;
const segment = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const tag = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const digest = /^sha256:[0-9a-f]{64}$/;

export function isDigest(text: string): boolean {
  return digest.test(text);
}

export function isTag(text: string): boolean {
  return tag.test(text);
}

/**
 * Registry and repository of a source; undefined for an invalid source. The registry must contain a dot, as Crossplane's kinds
 * require.
 */
export function readSource(text: string): { readonly registry: string; readonly repository: string } | undefined {
  const slash = text.indexOf('/');
  const [registry, repository] = [text.slice(0, Math.max(0, slash)), text.slice(slash + 1)];
  const isRepository = repository.length <= longestRepository && repository.split('/').every((one) => segment.test(one));
  return host.test(registry) && isHost(registry) && isRepository ? { registry, repository } : undefined;
}

/**
 * Whether the text is a host and a port in the form of a URL. Other forms of addresses, and ports that do not exist, are refused.
 */
function isHost(registry: string): boolean {
  const url = `https://${registry.toLowerCase()}`;
  const [name = ''] = registry.toLowerCase().split(':');
  return name.length <= longestHost && URL.canParse(url) && new URL(url).hostname === name;
}

/** `SOURCE:TAG`, `SOURCE@DIGEST`, `SOURCE:TAG@DIGEST`, or `SOURCE`, which means its tag `latest`; undefined for any other text. */
export function readReference(text: string): PackageReference | undefined {
  const [named = '', digest, ...more] = text.split('@');
  const colon = named.indexOf(':', named.indexOf('/') + 1);
  const [source, tagged] = colon < 0 ? [named] : [named.slice(0, colon), named.slice(colon + 1)];
  if (more.length > 0 || readSource(source) === undefined || !isTag(tagged ?? latest)) return undefined;
  return digest === undefined ? { source, version: tagged ?? latest } : digested(source, tagged, digest);
}

const latest = 'latest';

function digested(source: string, tagged: string | undefined, version: string): PackageReference | undefined {
  if (!isDigest(version)) return undefined;
  return tagged === undefined ? { source, version } : { source, version, tag: tagged };
}

export function writeReference({ source, version }: PackageReference): string {
  return `${source}${isDigest(version) ? '@' : ':'}${version}`;
}

/** For people: the last part of a source. */
export function shortName(source: string): string {
  return source.slice(source.lastIndexOf('/') + 1);
}
