// Who must have signed an image: the authorities of `spec.verification` of an ImageConfig.
import { at, isList, type Json, type JsonObject, listAt, objectAt, textAt } from '../../objects/json.ts';
import { allOrFault } from './fault.ts';
import { quoted } from './package.ts';

const hashAlgorithms = ['sha256', 'sha384', 'sha512'] as const;

export type DigestName = (typeof hashAlgorithms)[number];

/** A text that a value must equal, or a regular expression (RE2) that must match a part of it. */
export interface Expected {
  readonly text?: string;
  readonly pattern?: string;
}

/** Whom an OpenID provider knows under which name. A member that is missing admits every value. */
export interface SignerIdentity {
  readonly issuer?: Expected;
  readonly subject?: Expected;
}

interface Named {
  readonly name: string;
  /** Types of predicates that must be attested. If there are none, the image itself must be signed. */
  readonly attestations: readonly string[];
}

interface Keyless extends Named {
  readonly kind: 'keyless';
  readonly identities: readonly SignerIdentity[];
  /** The certificate needs no proof that a log of certificates has it. */
  readonly ignoresTransparency: boolean;
}

/** An authority as its ImageConfig describes it. */
export type DescribedAuthority =
  | Keyless
  | (Named & {
      readonly kind: 'key';
      readonly hashAlgorithm: DigestName;
      readonly secret: { readonly name: string; readonly key: string };
    });

/** An authority with its public key. */
export type SigningAuthority =
  | Keyless
  | (Named & { readonly kind: 'key'; readonly hashAlgorithm: DigestName; readonly publicKey: string });

/** The most authorities of one ImageConfig, identities of an authority, or attestations. */
const most = 32;

/** One of the authorities must have signed. A fault is in words. */
export function readAuthorities(verification: JsonObject): readonly DescribedAuthority[] | string {
  const provider = textAt(verification, 'provider');
  if (provider !== 'Cosign') return `verification.provider: expected Cosign, found ${quoted(provider)}`;
  const authorities = listOf(at(verification, 'cosign', 'authorities'), 'verification.cosign.authorities', 1);
  if (typeof authorities === 'string') return authorities;
  return allOrFault(authorities.map(readAuthority));
}

function listOf(value: Json | undefined, place: string, least: number): readonly Json[] | string {
  const found = isList(value) ? value.length : 0;
  if (found >= least && found <= most) return listAt(value);
  return `${place}: expected from ${least} to ${most} entries, found ${found}`;
}

function readAuthority(authority: Json): DescribedAuthority | string {
  const name = textAt(authority, 'name') ?? '';
  const who = `authority ${quoted(name)}`;
  const attestations = listOf(at(authority, 'attestations'), `${who}: attestations`, 0);
  if (typeof attestations === 'string') return attestations;
  const [key, keyless] = [at(authority, 'key'), at(authority, 'keyless')];
  if ((key === undefined) === (keyless === undefined)) return `${who}: expected key or keyless, and not both`;
  const named = { name, attestations: attestations.map((one) => textAt(one, 'predicateType') ?? '') };
  return keyless === undefined ? readKey(objectAt(key), named, who) : readKeyless(objectAt(keyless), named, who);
}

function readKey(key: JsonObject, named: Named, who: string): DescribedAuthority | string {
  const given = textAt(key, 'hashAlgorithm') ?? 'sha256';
  const hashAlgorithm = hashAlgorithms.find((one) => one === given.trim().toLowerCase());
  if (hashAlgorithm === undefined)
    return `${who}: key.hashAlgorithm: expected ${hashAlgorithms.join(', ')}, found ${quoted(given)}`;
  const secret = { name: textAt(key, 'secretRef', 'name') ?? '', key: textAt(key, 'secretRef', 'key') ?? '' };
  return { kind: 'key', ...named, hashAlgorithm, secret };
}

function readKeyless(keyless: JsonObject, named: Named, who: string): DescribedAuthority | string {
  const listed = listOf(at(keyless, 'identities'), `${who}: keyless.identities`, 1);
  if (typeof listed === 'string') return listed;
  const identities = allOrFault(listed.map((one) => readIdentity(one, who)));
  if (typeof identities === 'string') return identities;
  return { kind: 'keyless', ...named, identities, ignoresTransparency: at(keyless, 'insecureIgnoreSCT') === true };
}

/** The public Sigstore certifies everybody: an identity without issuer and subject would admit every signature. */
function readIdentity(identity: Json, who: string): SignerIdentity | string {
  const [issuer, subject] = [expectedAt(identity, 'issuer'), expectedAt(identity, 'subject')];
  if (issuer === undefined && subject === undefined)
    return `${who}: keyless.identities: expected issuer, issuerRegExp, subject or subjectRegExp in each`;
  return { ...(issuer === undefined ? {} : { issuer }), ...(subject === undefined ? {} : { subject }) };
}

function expectedAt(identity: Json, member: 'issuer' | 'subject'): Expected | undefined {
  const [text, pattern] = [textAt(identity, member) ?? '', textAt(identity, `${member}RegExp`) ?? ''];
  if (pattern !== '') return { pattern };
  return text === '' ? undefined : { text };
}
