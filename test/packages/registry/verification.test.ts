// Who has signed an image: signatures in all forms that cosign pushes, by keys and by certificates, valid and not.
import t from 'tap';
import type { SigningAuthority } from '../../../hooks/crossplane/model/signing-authority.ts';
import type { Signature } from '../../../server/registry/signature.ts';
import { unsignedBy } from '../../../server/registry/verification.ts';
import {
  attest,
  bundleOf,
  createSigstore,
  imageSigned,
  keyPair,
  keySigner,
  pemOf,
  type SignedText,
  signText,
} from '../../support/sigstore.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const other = `sha256:${'b'.repeat(64)}`;
const [ours, theirs] = [keyPair(), keyPair()];
const [sigstore, foreignSigstore] = [createSigstore(), createSigstore()];
const [subject, issuer] = ['https://ci.example.org/acme/release', 'https://accounts.example.org'];
const person = { subject, issuer };

const annotation = 'dev.sigstore.cosign';
type Beside = Extract<Signature, { entry: unknown }>;
const asSignature = (kind: 'text' | 'envelope', { content, annotations }: SignedText): Beside => ({
  kind,
  content,
  signature: annotations['dev.cosignproject.cosign/signature'] ?? '',
  certificate: annotations[`${annotation}/certificate`],
  entry: annotations[`${annotation}/bundle`],
});
const text = (signed: SignedText): Beside => asSignature('text', signed);
const envelope = (signed: SignedText): Signature => asSignature('envelope', signed);
const bundle = (content: string): Signature => ({ kind: 'bundle', content });

type Key = Extract<SigningAuthority, { kind: 'key' }>;
type Keyless = Extract<SigningAuthority, { kind: 'keyless' }>;
const key = (more: Partial<Key> = {}): SigningAuthority => ({
  ...{ kind: 'key', name: 'ours', attestations: [], hashAlgorithm: 'sha256', publicKey: pemOf(ours.publicKey) },
  ...more,
});
const keyless = (more: Partial<Keyless> = {}): SigningAuthority => ({
  ...{ kind: 'keyless', name: 'ci', attestations: [], ignoresTransparency: false },
  ...{ identities: [{ subject: { text: subject }, issuer: { text: issuer } }] },
  ...more,
});
const sbom = 'https://spdx.dev/Document';
const [byUs, byThem] = [keySigner(ours), keySigner(theirs)];
const byCi = sigstore.signer(person);

type Row = readonly [what: string, authority: SigningAuthority, signatures: readonly Signature[]];

const valid: readonly Row[] = [
  ['a text by the key', key(), [text(signText(digest, byUs))]],
  ['one of several', key(), [text(signText(digest, byThem)), text(signText(other, byUs)), text(signText(digest, byUs))]],
  ['a text by the key, with SHA-512', key({ hashAlgorithm: 'sha512' }), [text(signText(digest, keySigner(ours, 'sha512')))]],
  ['a bundle by the key', key(), [bundle(bundleOf(digest, imageSigned, byUs))]],
  ['an attestation by the key', key({ attestations: [sbom] }), [envelope(attest(digest, sbom, byUs))]],
  ['an attestation by its short name', key({ attestations: ['spdxjson'] }), [envelope(attest(digest, sbom, byUs))]],
  ['an attestation in a bundle', key({ attestations: [sbom] }), [bundle(bundleOf(digest, sbom, byUs))]],
  ['a text by a certificate', keyless(), [text(signText(digest, byCi))]],
  ['a bundle by a certificate', keyless(), [bundle(bundleOf(digest, imageSigned, byCi))]],
  ['an attestation by a certificate', keyless({ attestations: [sbom] }), [envelope(attest(digest, sbom, byCi))]],
  [
    'an identity by patterns',
    keyless({ identities: [{ subject: { pattern: '/acme/.*' }, issuer: { pattern: '^https://accounts' } }] }),
    [text(signText(digest, byCi))],
  ],
  ['an identity by its issuer alone', keyless({ identities: [{ issuer: { text: issuer } }] }), [text(signText(digest, byCi))]],
  [
    'a certificate in no log, where none is required',
    keyless({ ignoresTransparency: true }),
    [text(signText(digest, sigstore.signer({ ...person, isLogged: false })))],
  ],
];

for (const [what, authority, signatures] of valid)
  t.test(`valid: ${what}`, async (t) => {
    t.equal(unsignedBy(authority, { digest, signatures, trustedRoot: sigstore.trustedRoot }), undefined);
    const wrong = { digest: other, signatures: signatures.slice(-1), trustedRoot: sigstore.trustedRoot };
    t.match(unsignedBy(authority, wrong), /it is the signature of another image/, 'not for another image');
  });

const year = 365 * 86_400;
const late = Math.floor(Date.now() / 1000) + year;
/** A signature with one part of another one. */
const mixed = (signature: Beside, part: Partial<Beside>): Beside => ({ ...signature, ...part });
const textByCi = text(signText(digest, byCi));
const again = text(signText(digest, sigstore.signer(person)));

const invalid: readonly (readonly [...Row, why: RegExp])[] = [
  ['no signature', key(), [], /^authority "ours": no valid signature$/],
  ['a text by another key', key(), [text(signText(digest, byThem))], /not valid: SIGNATURE_ERROR/],
  ['a bundle by another key', key(), [bundle(bundleOf(digest, imageSigned, byThem))], /not valid: SIGNATURE_ERROR/],
  ['a text with another hash', key({ hashAlgorithm: 'sha384' }), [text(signText(digest, byUs))], /SIGNATURE_ERROR/],
  [
    'a text that was changed',
    key(),
    [mixed(text(signText(other, byUs)), { content: signText(digest, byUs).content })],
    /SIGNATURE_ERROR/,
  ],
  ['a text of another type', key(), [text(signText(digest, byUs, { type: 'something' }))], /cannot be read/],
  [
    'no JSON',
    key(),
    [mixed(text(signText(digest, byUs)), { content: '}' }), bundle('}'), bundle('{}'), bundle('null')],
    /cannot be read/,
  ],
  ['an attestation in place of a signature', key(), [envelope(attest(digest, sbom, byUs))], /: no valid signature$/],
  [
    'a signature in place of an attestation',
    key({ attestations: [sbom] }),
    [text(signText(digest, byUs))],
    /no valid attestation "https:\/\/spdx/,
  ],
  [
    'one attestation of two',
    key({ attestations: [sbom, 'slsaprovenance'] }),
    [envelope(attest(digest, sbom, byUs))],
    /no valid attestation "slsaprovenance"$/,
  ],
  ['a signature by a key, where a certificate is required', keyless(), [text(signText(digest, byUs))], /cannot be read/],
  [
    'a bundle by a key, where a certificate is required',
    keyless(),
    [bundle(bundleOf(digest, imageSigned, byUs))],
    /PUBLIC_KEY_ERROR|TIMESTAMP_ERROR/,
  ],
  [
    'a certificate of another authority',
    keyless(),
    [text(signText(digest, foreignSigstore.signer(person)))],
    /CERTIFICATE_ERROR/,
  ],
  [
    'another subject',
    keyless(),
    [text(signText(digest, sigstore.signer({ ...person, subject: 'https://evil.example.org' })))],
    /it is by https:\/\/evil\.example\.org, whom https:\/\/accounts\.example\.org has named/,
  ],
  [
    'another issuer',
    keyless(),
    [text(signText(digest, sigstore.signer({ ...person, issuer: 'https://evil.example.org' })))],
    /whom https:\/\/evil/,
  ],
  [
    'a subject that begins as the expected one',
    keyless(),
    [text(signText(digest, sigstore.signer({ ...person, subject: `${subject}d` })))],
    /it is by/,
  ],
  [
    'a certificate in no log',
    keyless(),
    [text(signText(digest, sigstore.signer({ ...person, isLogged: false })))],
    /CERTIFICATE_ERROR/,
  ],
  [
    'a certificate that had expired when it signed',
    keyless(),
    [text(signText(digest, sigstore.signer({ ...person, at: late })))],
    /CERTIFICATE_ERROR/,
  ],
  ['no entry in the log', keyless(), [mixed(textByCi, { entry: undefined })], /TIMESTAMP_ERROR/],
  ['the entry of another signature', keyless(), [mixed(textByCi, { entry: again.entry })], /TLOG_BODY_ERROR/],
  ['an entry of another log', keyless(), [mixed(textByCi, { entry: textOfForeign() })], /TLOG/],
  ['the certificate of another signature', keyless(), [mixed(textByCi, { certificate: again.certificate })], /SIGNATURE_ERROR/],
  ['a certificate that is none', keyless(), [mixed(textByCi, { certificate: 'none' })], /cannot be read/],
];

/** An entry that says what ours says, signed by another log. */
function textOfForeign(): string | undefined {
  const { payload } = { payload: JSON.parse(textByCi.entry ?? '{}').Payload };
  const foreignEntry = JSON.parse(text(signText(digest, foreignSigstore.signer(person))).entry ?? '{}');
  return JSON.stringify({ ...foreignEntry, Payload: { ...payload, logID: foreignEntry.Payload.logID } });
}

for (const [what, authority, signatures, why] of invalid)
  t.test(`not valid: ${what}`, async (t) => {
    t.match(unsignedBy(authority, { digest, signatures, trustedRoot: sigstore.trustedRoot }), why);
  });

const canary = 'cAnaRy-4411';
const unreadable: readonly (readonly [
  what: string,
  authority: SigningAuthority,
  trustedRoot: string | undefined,
  why: RegExp,
])[] = [
  ['a key that is none', key({ publicKey: canary }), undefined, /^authority "ours": its key is no public key in PEM/],
  [
    'a private key',
    key({ publicKey: ours.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }),
    undefined,
    /its key is no public key in PEM/,
  ],
  ['no trusted root', keyless(), undefined, /^authority "ci": keyless requires a trusted root, found none/],
  ['a trusted root that is none', keyless(), canary, /^JANUS_PACKAGES_TRUSTED_ROOT: expected a trusted root/],
  [
    'a trusted root with a broken authority',
    keyless(),
    JSON.stringify({ certificateAuthorities: [{}] }),
    /expected a trusted root/,
  ],
  [
    'a pattern that is none',
    keyless({ identities: [{ subject: { pattern: '(' } }] }),
    sigstore.trustedRoot,
    /expected a regular expression \(RE2\), found "\("/,
  ],
];

for (const [what, authority, trustedRoot, why] of unreadable)
  t.test(`not readable: ${what}`, async (t) => {
    const signatures = [text(signText(digest, byUs))];
    for (const some of [signatures, []]) {
      const error = t.throws(() => unsignedBy(authority, { digest, signatures: some, trustedRoot }), { message: why });
      t.notMatch(String(error), canary, 'its content is in no message');
    }
  });

t.test('a regular expression takes linear time', async (t) => {
  const identities = [{ subject: { pattern: '^(a+)+$' } }];
  const signatures = [text(signText(digest, sigstore.signer({ subject: `${'a'.repeat(10_000)}!`, issuer })))];
  t.match(unsignedBy(keyless({ identities }), { digest, signatures, trustedRoot: sigstore.trustedRoot }), /it is by aaaa/);
});
