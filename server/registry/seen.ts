// Remembers tags and manifests of repositories.

import type { PackageReference } from '../../hooks/crossplane/model/reference.ts';
import { createLruCache, type LruCache } from '../../hooks/objects/lru-cache.ts';
import type { Manifest } from './manifest.ts';

/** Results of earlier calls, for later calls. An entry may be dropped at any time. */
export interface Seen {
  /** The last digest of a tag, or a digest itself: `SOURCE VERSION`. */
  readonly digests: LruCache<string>;
  /** `SOURCE DIGEST`. */
  readonly manifests: LruCache<Manifest>;
  keep(reference: PackageReference, digest: string, manifest: Manifest): void;
}

/** Digests, and manifests with the layers in them. */
const most = 20_000;

export function remembering(): Seen {
  const digests = createLruCache<string>({ most });
  const weigh = (manifest: Manifest) => (manifest.kind === 'image' ? manifest.layers.length + 1 : 1);
  const manifests = createLruCache<Manifest>({ most, weigh });
  return {
    ...{ digests, manifests },
    keep({ source, version }, digest, manifest) {
      digests.set(`${source} ${version}`, digest);
      manifests.set(`${source} ${digest}`, manifest);
    },
  };
}
