// What the client saw of repositories.
import type { PackageReference } from '../../hooks/packages/model/reference.ts';
import type { Manifest } from './manifest.ts';

/** What the client saw, for later calls; a part of it is forgotten at any time. */
export interface Seen {
  /** The last digest of a tag, or a digest itself: `SOURCE VERSION`. */
  readonly digests: Map<string, string>;
  /** `SOURCE DIGEST`. */
  readonly manifests: Map<string, Manifest>;
  keep(reference: PackageReference, digest: string, manifest: Manifest): void;
}

/** Manifests, and layers in them. */
const mostSeen = 20_000;

export function remembering(): Seen {
  const seen = { digests: new Map<string, string>(), manifests: new Map<string, Manifest>() };
  let count = 0;
  return {
    ...seen,
    keep({ source, version }, digest, manifest) {
      count += manifest.kind === 'image' ? manifest.layers.length + 1 : 1;
      if (count > mostSeen) {
        seen.digests.clear();
        seen.manifests.clear();
        count = 0;
      }
      seen.digests.set(`${source} ${version}`, digest);
      seen.manifests.set(`${source} ${digest}`, manifest);
    },
  };
}
