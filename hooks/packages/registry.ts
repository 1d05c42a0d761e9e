// The port: what packages need of registries. Expected failures are values; a rejected promise is a bug.
import type { JsonObject } from '../model/json.ts';
import type { PackageReference } from './model/reference.ts';

/**
 * - `denied`: 401, 403; no right, or no pull secret for that registry.
 * - `absent`: 404; there is no such repository, tag or digest.
 * - `invalid`: what was sent is not what was announced, or no package: it is the same for whoever fetches it.
 * - `unavailable`: anything else; try again later.
 */
type RegistryFailureKind = 'denied' | 'absent' | 'invalid' | 'unavailable';

export interface RegistryFailure {
  readonly kind: RegistryFailureKind;
  /** For people: what, where, and what was found. Holds nothing that a registry said, and no secret. */
  readonly message: string;
  /** The registry's wish, in seconds. */
  readonly retryAfterSeconds?: number;
}

export interface RegistryFailed {
  readonly kind: 'failed';
  readonly failure: RegistryFailure;
}

type TagsAnswer = { readonly kind: 'ok'; readonly tags: readonly string[] } | RegistryFailed;

type DigestAnswer = { readonly kind: 'ok'; readonly digest: string } | RegistryFailed;

type ReadAnswer = { readonly kind: 'ok' } | RegistryFailed;

/** Registries, with the pull secrets of one root and until one deadline. */
export interface Registry {
  /** All tags of a source. */
  tags(source: string): Promise<TagsAnswer>;
  /** What a tag is now; of a digest, itself where it is there. */
  digest(reference: PackageReference): Promise<DigestAnswer>;
  /**
   * Reads a package, one object after the other, so that no package is in memory as a whole. What `take` was given counts only
   * where the answer is ok.
   */
  read(source: string, digest: string, take: (object: JsonObject) => void): Promise<ReadAnswer>;
}
