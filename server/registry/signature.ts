// Signatures as registries hold them, read as bundles of Sigstore.
//
// cosign stores a signature in one of three forms: a text that names the digest, and beside it the signature of the text; an envelope
// (DSSE) with a statement about the digest; a whole bundle, which holds such an envelope.
import { createHash, X509Certificate } from 'node:crypto';
import { type Bundle, bundleFromJSON } from '@sigstore/bundle';
import type { DigestName } from '../../hooks/crossplane/model/signing-authority.ts';
import { at, isObject, type Json, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';

/** What stands beside a text or an envelope. */
interface Evidence {
  /** Base64. */
  readonly signature: string;
  /** PEM, if a certificate names the signer. */
  readonly certificate: string | undefined;
  /** The entry in a transparency log, as JSON. */
  readonly entry: string | undefined;
}

export type Signature =
  | ({ readonly kind: 'text' | 'envelope'; readonly content: string } & Evidence)
  | { readonly kind: 'bundle'; readonly content: string };

/** What a signature says, once it is verified. */
export interface Claim {
  readonly digests: readonly string[];
  /** The type of the statement; undefined for a text. */
  readonly predicateType: string | undefined;
}

export interface Readable {
  readonly bundle: Bundle;
  /** What was signed, if the bundle does not hold it. */
  readonly artifact: Buffer | undefined;
  readonly claim: Claim;
}

/** Throws if the signature cannot be read: its writer is a stranger. `keyHash`: it is to be verified by a key, with this hash. */
export function readSignature(signature: Signature, keyHash: DigestName | undefined): Readable {
  if (signature.kind === 'text') return readText(signature, signature.content, keyHash);
  const whole = signature.kind === 'bundle' ? bundleFromJSON(JSON.parse(signature.content)) : envelopeBundle(signature, keyHash);
  const bundle = keyHash === undefined ? whole : byKey(whole);
  return { bundle, artifact: undefined, claim: claimIn(bundle) };
}

const mediaType = 'application/vnd.dev.sigstore.bundle+json;version=0.1';
const algorithms = { sha256: 'SHA2_256', sha384: 'SHA2_384', sha512: 'SHA2_512' } as const satisfies Record<DigestName, string>;

function readText(evidence: Evidence, content: string, keyHash: DigestName | undefined): Readable {
  const artifact = Buffer.from(content);
  const hash = keyHash ?? 'sha256';
  const digest = createHash(hash).update(artifact).digest('base64');
  const messageSignature = { messageDigest: { algorithm: algorithms[hash], digest }, signature: evidence.signature };
  const bundle = bundleFromJSON({ mediaType, verificationMaterial: materialOf(evidence, keyHash), messageSignature });
  return { bundle, artifact, claim: claimOfText(JSON.parse(content) as Json) };
}

const textType = 'cosign container image signature';

function claimOfText(text: Json): Claim {
  const digest = textAt(text, 'critical', 'image', 'docker-manifest-digest');
  if (textAt(text, 'critical', 'type') !== textType || digest === undefined) throw new Error('not about an image');
  return { digests: [digest], predicateType: undefined };
}

function envelopeBundle(signature: Extract<Signature, { kind: 'text' | 'envelope' }>, keyHash: DigestName | undefined): Bundle {
  const dsseEnvelope = JSON.parse(signature.content) as Json;
  return bundleFromJSON({ mediaType, verificationMaterial: materialOf(signature, keyHash), dsseEnvelope });
}

/** A key verifies without certificate, log and time. */
const byHint = { publicKey: { hint: 'key' } };

function materialOf({ certificate, entry }: Evidence, keyHash: DigestName | undefined): JsonObject {
  if (keyHash !== undefined) return { ...byHint, tlogEntries: [] };
  const rawBytes = new X509Certificate(certificate ?? '').raw.toString('base64');
  const tlogEntries = entry === undefined ? [] : [entryOf(JSON.parse(entry) as Json)];
  return { x509CertificateChain: { certificates: [{ rawBytes }] }, tlogEntries };
}

/** The entry as cosign writes it, in the words of a bundle. */
function entryOf(entry: Json): JsonObject {
  const payload = at(entry, 'Payload');
  const canonicalizedBody = textAt(payload, 'body') ?? '';
  const body = JSON.parse(Buffer.from(canonicalizedBody, 'base64').toString()) as Json;
  return {
    logIndex: String(at(payload, 'logIndex')),
    integratedTime: String(at(payload, 'integratedTime')),
    logId: { keyId: Buffer.from(textAt(payload, 'logID') ?? '', 'hex').toString('base64') },
    kindVersion: { kind: textAt(body, 'kind') ?? '', version: textAt(body, 'apiVersion') ?? '' },
    inclusionPromise: { signedEntryTimestamp: textAt(entry, 'SignedEntryTimestamp') ?? '' },
    canonicalizedBody,
  };
}

function byKey(bundle: Bundle): Bundle {
  const content = { $case: 'publicKey', publicKey: byHint.publicKey } as const;
  return { ...bundle, verificationMaterial: { content, tlogEntries: [], timestampVerificationData: undefined } };
}

const statementPayload = 'application/vnd.in-toto+json';
const statementTypes = 'https://in-toto.io/Statement/';

function claimIn({ content }: Bundle): Claim {
  if (content.$case !== 'dsseEnvelope' || content.dsseEnvelope.payloadType !== statementPayload)
    throw new Error('not a statement');
  const statement = JSON.parse(content.dsseEnvelope.payload.toString()) as Json;
  if (!isObject(statement) || !textAt(statement, '_type')?.startsWith(statementTypes)) throw new Error('not a statement');
  const digests = listAt(statement, 'subject').flatMap((one) => textAt(one, 'digest', 'sha256') ?? []);
  return { digests: digests.map((hex) => `sha256:${hex}`), predicateType: textAt(statement, 'predicateType') ?? '' };
}
