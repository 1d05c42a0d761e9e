// The port to registries. Expected failures are values; a rejected promise is a bug.
import type { JsonObject } from '../objects/json.ts';
import type { PackageReference } from './model/reference.ts';
import type { SigningAuthority } from './model/signing-authority.ts';

/**
 * - `denied`: 401, 403; no right, or no pull secret for that registry.
 * - `absent`: 404; no such repository, tag or digest.
 * - `invalid`: the content differs from the announced content, or is no package. Every client that downloads it gets this content.
 * - `unavailable`: anything else; try again later.
 */
type RegistryFailureKind = 'denied' | 'absent' | 'invalid' | 'unavailable';

export interface RegistryFailure {
  readonly kind: RegistryFailureKind;
  /** For people: the request, its place, and the value that was found. Contains no text of a registry, and no secret. */
  readonly message: string;
  /** Retry-After of the registry, in seconds. */
  readonly retryAfterSeconds?: number;
}

export interface RegistryFailed {
  readonly kind: 'failed';
  readonly failure: RegistryFailure;
}

type TagsAnswer = { readonly kind: 'ok'; readonly tags: readonly string[] } | RegistryFailed;

type DigestAnswer = { readonly kind: 'ok'; readonly digest: string } | RegistryFailed;

type ReadAnswer = { readonly kind: 'ok' } | RegistryFailed;

/** `unsigned`: why no authority has signed the image, in words. */
export type SignedAnswer =
  | { readonly kind: 'ok' }
  | { readonly kind: 'unsigned'; readonly why: readonly string[] }
  | RegistryFailed;

export interface SigningQuestion {
  readonly source: string;
  readonly digest: string;
  /** One of them must have signed the image. */
  readonly authorities: readonly SigningAuthority[];
  /** The trusted root of Sigstore, as JSON: certificates count only with it. */
  readonly trustedRoot: string | undefined;
}

/** Reads from registries, with the pull secrets of one root and until one deadline. */
export interface Registry {
  /** All tags of a source. */
  tags(source: string): Promise<TagsAnswer>;
  /** The current digest of a tag; for a digest, the digest itself if it exists. */
  digest(reference: PackageReference): Promise<DigestAnswer>;
  /**
   * Reads a package object by object, so that memory never holds a whole package. The objects that `take` gets count only if the
   * answer is ok.
   */
  read(source: string, digest: string, take: (object: JsonObject) => void): Promise<ReadAnswer>;
}

export interface VerifyingRegistry extends Registry {
  /** Whether one of the authorities has signed the image. */
  signed(question: SigningQuestion): Promise<SignedAnswer>;
}
