// Whether an image is signed by one of the authorities that its ImageConfig names. The library of Sigstore verifies signatures,
// certificates and log entries. This file decides what a signature must say, and who must have made it.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { RE2JS } from '@bufbuild/re2';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { type Signer, toSignedEntity, toTrustMaterial, VerificationError, Verifier } from '@sigstore/verify';
import type { Expected, SignerIdentity, SigningAuthority } from '../../hooks/crossplane/model/signing-authority.ts';
import { foreign } from '../../hooks/objects/words.ts';
import { type Claim, type Readable, readSignature, type Signature } from './signature.ts';
import { invalid } from './trouble.ts';

interface Signed {
  /** The digest that must be signed. */
  readonly digest: string;
  readonly signatures: readonly Signature[];
  /** The trusted root of Sigstore, as JSON. Without one, no certificate is trusted. */
  readonly trustedRoot: string | undefined;
}

/**
 * Why the authority has not signed the image, in words; undefined if it has. If it requires attestations, it must have signed each of
 * them. Throws a Trouble if the authority, or the trusted root, cannot be read.
 */
export function unsignedBy(authority: SigningAuthority, signed: Signed): string | undefined {
  const types = authority.attestations.length === 0 ? [undefined] : authority.attestations;
  const check = checkOf(authority, signed.trustedRoot);
  for (const type of types) {
    const faults = signed.signatures.map((signature) => faultOf(signature, { check, authority, type, digest: signed.digest }));
    if (faults.includes(undefined)) continue;
    const what = type === undefined ? 'signature' : `attestation "${foreign(type, longestWords)}"`;
    const why = [...new Set(faults)].filter((fault) => fault !== otherKind);
    return `authority "${foreign(authority.name, longestWords)}": no valid ${what}${why.length > 0 ? ` (${why.join('; ')})` : ''}`;
  }
  return undefined;
}

const longestWords = 200;
const otherKind = 'it says something else';

/** Throws unless the signature is valid. */
type Check = (readable: Readable) => Signer;

interface Asked {
  readonly check: Check;
  readonly authority: SigningAuthority;
  /** The type of the attestation; undefined for a signature of the image. */
  readonly type: string | undefined;
  readonly digest: string;
}

function faultOf(signature: Signature, { check, authority, type, digest }: Asked): string | undefined {
  try {
    const readable = readSignature(signature, authority.kind === 'key' ? authority.hashAlgorithm : undefined);
    if (!isOfType(readable.claim, type)) return otherKind;
    if (!readable.claim.digests.includes(digest)) return 'it is the signature of another image';
    const { identity } = check(readable);
    if (authority.kind === 'key' || authority.identities.some((one) => isIdentity(one, identity))) return undefined;
    const [subject = 'nobody', issuer = 'nobody'] = [identity?.subjectAlternativeName, identity?.extensions?.issuer];
    return `it is by ${foreign(subject, longestWords)}, whom ${foreign(issuer, longestWords)} has named`;
  } catch (error) {
    // A stranger has written it: whatever the library makes of it, it is not valid.
    return error instanceof VerificationError ? `it is not valid: ${error.code}` : 'it cannot be read';
  }
}

const signatureType = 'https://sigstore.dev/cosign/sign/v1';

/** The names that cosign has for types of predicates. */
const shortTypes: ReadonlyMap<string, string> = new Map([
  ['custom', 'https://cosign.sigstore.dev/attestation/v1'],
  ['slsaprovenance', 'https://slsa.dev/provenance/v0.2'],
  ['slsaprovenance02', 'https://slsa.dev/provenance/v0.2'],
  ['slsaprovenance1', 'https://slsa.dev/provenance/v1'],
  ['spdx', 'https://spdx.dev/Document'],
  ['spdxjson', 'https://spdx.dev/Document'],
  ['cyclonedx', 'https://cyclonedx.org/bom'],
  ['link', 'https://in-toto.io/Link/v1'],
  ['vuln', 'https://cosign.sigstore.dev/attestation/vuln/v1'],
  ['openvex', 'https://openvex.dev/ns'],
]);

function isOfType({ predicateType }: Claim, type: string | undefined): boolean {
  if (type === undefined) return predicateType === undefined || predicateType === signatureType;
  return predicateType === (shortTypes.get(type) ?? type);
}

function checkOf(authority: SigningAuthority, trustedRoot: string | undefined): Check {
  const verifier =
    authority.kind === 'key' ? verifierOfKey(authority.publicKey, authority.name) : verifierOf(authority, trustedRoot);
  return ({ bundle, artifact }) => verifier.verify(toSignedEntity(bundle, artifact));
}

/** A signature by a key needs no log: who has the key has signed. */
function verifierOfKey(pem: string, name: string): Verifier {
  const publicKey = publicKeyIn(pem);
  if (publicKey === undefined)
    throw invalid(`authority "${foreign(name, longestWords)}": its key is no public key in PEM, of the type EC or RSA`);
  const nothing = TrustedRoot.fromJSON({});
  const material = toTrustMaterial(nothing, () => ({ publicKey, validFor: () => true }));
  return new Verifier(material, { ctlogThreshold: 0, tlogThreshold: 0, timestampThreshold: 0 });
}

function publicKeyIn(pem: string): KeyObject | undefined {
  try {
    // Of a private key, Node would compute the public one.
    const key = pem.includes('PRIVATE KEY') ? undefined : createPublicKey(pem);
    return ['ec', 'rsa'].includes(key?.asymmetricKeyType ?? '') ? key : undefined;
  } catch {
    return undefined;
  }
}

type Keyless = Extract<SigningAuthority, { kind: 'keyless' }>;

function verifierOf({ identities, ignoresTransparency, name }: Keyless, trustedRoot: string | undefined): Verifier {
  const who = `authority "${foreign(name, longestWords)}"`;
  const odd = identities.flatMap(patternsIn).find((pattern) => expressionOf(pattern) === undefined);
  if (odd !== undefined)
    throw invalid(`${who}: keyless.identities: expected a regular expression (RE2), found "${foreign(odd, longestWords)}"`);
  if (trustedRoot === undefined)
    throw invalid(`${who}: keyless requires a trusted root, found none; set JANUS_PACKAGES_TRUSTED_ROOT`);
  const ctlogThreshold = ignoresTransparency ? 0 : 1;
  return new Verifier(materialIn(trustedRoot), { ctlogThreshold, tlogThreshold: 1, timestampThreshold: 1 });
}

function patternsIn({ issuer, subject }: SignerIdentity): readonly string[] {
  return [issuer?.pattern, subject?.pattern].filter((pattern) => pattern !== undefined);
}

function materialIn(trustedRoot: string) {
  try {
    return toTrustMaterial(TrustedRoot.fromJSON(JSON.parse(trustedRoot)));
  } catch {
    throw invalid(
      'JANUS_PACKAGES_TRUSTED_ROOT: expected a trusted root of Sigstore as JSON (trusted_root.json), found something else',
    );
  }
}

function isIdentity({ issuer, subject }: SignerIdentity, found: Signer['identity']): boolean {
  return isAs(issuer, found?.extensions?.issuer) && isAs(subject, found?.subjectAlternativeName);
}

function isAs(expected: Expected | undefined, found: string | undefined): boolean {
  if (expected === undefined) return true;
  if (found === undefined) return false;
  return expected.pattern === undefined ? expected.text === found : expressionOf(expected.pattern)?.test(found) === true;
}

/** Go's syntax, as in Crossplane, in linear time. Undefined if the text is no expression. */
function expressionOf(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern);
  } catch {
    return undefined;
  }
}
