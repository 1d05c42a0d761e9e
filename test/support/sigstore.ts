// A Sigstore of its own for tests: an authority that certifies identities, a log of certificates, a transparency log, and the trusted root
// that names the three. It signs images as cosign does.
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { canonicalJson, type JsonObject } from '../../hooks/objects/json.ts';
import { der, ecdsaWithSha256, pem, sequence, time } from './der.ts';

interface Identity {
  /** A URI. */
  readonly subject: string;
  readonly issuer: string;
}

interface KeylessOptions extends Identity {
  /** The certificate proves that the log of certificates has it. */
  readonly isLogged?: boolean;
  /** The time of the entry in the transparency log, in s since the epoch. */
  readonly at?: number;
}

interface Sigstore {
  readonly trustedRoot: string;
  /** Signs by a key that lives as long as its certificate. */
  signer(options: KeylessOptions): Signer;
}

interface Made {
  /** Base64. */
  readonly signature: string;
  readonly certificate?: string;
  /** The bundle that cosign writes beside a signature: the entry in the log. */
  entry?(body: object): JsonObject;
  /** The entry with its proof, as a bundle of Sigstore has it. */
  proven?(body: object): JsonObject;
}

interface Signer {
  sign(content: Buffer): Made;
}

interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export function keyPair(): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

export function pemOf(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

export function keySigner({ privateKey }: KeyPair, hash = 'sha256'): Signer {
  return { sign: (content) => ({ signature: sign(hash, content, privateKey).toString('base64') }) };
}

const day = 86_400_000;
const logName = 'log.example.org';

export function createSigstore(): Sigstore {
  const [authority, certificates, log] = [keyPair(), keyPair(), keyPair()];
  const root = certificateOf(
    { subject: authorityName, key: authority.publicKey, extensions: [isAuthority] },
    authority.privateKey,
  );
  return {
    trustedRoot: trustedRootOf(root, certificates.publicKey, log.publicKey),
    signer({ subject, issuer, isLogged = true, at = Math.floor(Date.now() / 1000) }) {
      const own = keyPair();
      const extensions = [uriName(subject), extension(issuerType, der(0x0c, Buffer.from(issuer)))];
      const asked = { subject: sequence(), key: own.publicKey, extensions };
      const proof = isLogged ? [logged(asked, authority.publicKey, certificates)] : [];
      const leaf = certificateOf({ ...asked, extensions: [...extensions, ...proof] }, authority.privateKey);
      return {
        sign: (content) => ({
          ...keySigner(own).sign(content),
          certificate: pem(leaf),
          entry: (body) => entryOf(body, at, log),
          proven: (body) => provenEntry(body, at, log),
        }),
      };
    },
  };
}

const name = (text: string): Buffer => sequence(der(0x31, sequence(objectId(2, 5, 4, 3), der(0x0c, Buffer.from(text)))));
const authorityName = name('authority');

/** An object identifier: its numbers in base 128. */
function objectId(first: number, second: number, ...rest: readonly number[]): Buffer {
  const bytes = rest.flatMap((number) => {
    const digits = [number & 127];
    for (let left = number >> 7; left > 0; left >>= 7) digits.unshift((left & 127) | 128);
    return digits;
  });
  return der(0x06, [first * 40 + second, ...bytes]);
}

const issuerType = objectId(1, 3, 6, 1, 4, 1, 57264, 1, 8);
const timestampsType = objectId(1, 3, 6, 1, 4, 1, 11129, 2, 4, 2);

function extension(type: Buffer, value: Buffer): Buffer {
  return sequence(type, der(0x04, value));
}

const isAuthority = extension(objectId(2, 5, 29, 19), sequence(der(0x01, [0xff])));

function uriName(uri: string): Buffer {
  return extension(objectId(2, 5, 29, 17), sequence(der(0x86, Buffer.from(uri))));
}

interface Asked {
  readonly subject: Buffer;
  readonly key: KeyObject;
  readonly extensions: readonly Buffer[];
}

const spki = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });
const sha256 = (content: Buffer): Buffer => createHash('sha256').update(content).digest();

function contentsOf({ subject, key, extensions }: Asked): Buffer {
  return sequence(
    der(0xa0, der(0x02, [2])), // version 3
    der(0x02, [1]), // serial number
    ecdsaWithSha256,
    authorityName,
    sequence(time(Date.now() - day), time(Date.now() + day)),
    subject,
    spki(key),
    der(0xa3, sequence(...extensions)),
  );
}

function certificateOf(asked: Asked, by: KeyObject): Buffer {
  const contents = contentsOf(asked);
  return sequence(contents, ecdsaWithSha256, der(0x03, [0], sign('sha256', contents, by)));
}

function bytes(number: number | bigint, length: number): Buffer {
  return Buffer.from(
    BigInt(number)
      .toString(16)
      .padStart(length * 2, '0'),
    'hex',
  );
}

/** The extension that proves that the log has the certificate without this extension (RFC 6962). */
function logged(asked: Asked, authority: KeyObject, { privateKey, publicKey }: KeyPair): Buffer {
  const contents = contentsOf(asked);
  const now = bytes(Date.now(), 8);
  const entry = [sha256(spki(authority)), bytes(contents.length, 3), contents];
  const signed = Buffer.concat([bytes(0, 2), now, bytes(1, 2), ...entry, bytes(0, 2)]);
  const signature = sign('sha256', signed, privateKey);
  const ecdsa = Buffer.from([4, 3]);
  const timestamp = Buffer.concat([
    bytes(0, 1),
    sha256(spki(publicKey)),
    now,
    bytes(0, 2),
    ecdsa,
    bytes(signature.length, 2),
    signature,
  ]);
  const list = Buffer.concat([bytes(timestamp.length + 2, 2), bytes(timestamp.length, 2), timestamp]);
  return extension(timestampsType, der(0x04, list));
}

function promised(body: object, at: number, { privateKey, publicKey }: KeyPair) {
  const payload = {
    body: Buffer.from(JSON.stringify(body)).toString('base64'),
    integratedTime: at,
    logIndex: 0,
    logID: sha256(spki(publicKey)).toString('hex'),
  };
  return { payload, promise: sign('sha256', Buffer.from(canonicalJson(payload)), privateKey).toString('base64') };
}

function entryOf(body: object, at: number, log: KeyPair): JsonObject {
  const { payload, promise } = promised(body, at, log);
  return { SignedEntryTimestamp: promise, Payload: payload };
}

/** The only entry of a log. */
function provenEntry(body: object, at: number, log: KeyPair): JsonObject {
  const { payload, promise } = promised(body, at, log);
  const leaf = sha256(Buffer.concat([Buffer.from([0]), Buffer.from(payload.body, 'base64')])).toString('base64');
  const note = `${logName}\n1\n${leaf}\n`;
  const id = sha256(spki(log.publicKey));
  const signature = Buffer.concat([id.subarray(0, 4), sign('sha256', Buffer.from(note), log.privateKey)]).toString('base64');
  const { kind, apiVersion } = body as { readonly kind: string; readonly apiVersion: string };
  return {
    logIndex: '0',
    logId: { keyId: id.toString('base64') },
    kindVersion: { kind, version: apiVersion },
    integratedTime: String(at),
    inclusionPromise: { signedEntryTimestamp: promise },
    inclusionProof: {
      ...{ logIndex: '0', rootHash: leaf, treeSize: '1', hashes: [] },
      checkpoint: { envelope: `${note}\n\u2014 ${logName} ${signature}\n` },
    },
    canonicalizedBody: payload.body,
  };
}

function trustedRootOf(root: Buffer, certificates: KeyObject, log: KeyObject): string {
  const validFor = { start: '2020-01-01T00:00:00Z' };
  const logOf = (key: KeyObject): object => ({
    baseUrl: `https://${logName}`,
    hashAlgorithm: 'SHA2_256',
    publicKey: { rawBytes: spki(key).toString('base64'), keyDetails: 'PKIX_ECDSA_P256_SHA_256', validFor },
    logId: { keyId: sha256(spki(key)).toString('base64') },
  });
  const certChain = { certificates: [{ rawBytes: root.toString('base64') }] };
  return JSON.stringify({
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: [logOf(log)],
    certificateAuthorities: [{ subject: { commonName: 'authority' }, uri: '', certChain, validFor }],
    ctlogs: [logOf(certificates)],
    timestampAuthorities: [],
  });
}

/** A signature beside the text that names the digest. */
export interface SignedText {
  readonly content: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The text that cosign signs by default. */
export function signText(digest: string, signer: Signer, more: object = {}): SignedText {
  const image = { 'docker-manifest-digest': digest };
  const critical = { identity: { 'docker-reference': '' }, image, type: 'cosign container image signature', ...more };
  const content = JSON.stringify({ critical, optional: null });
  const { signature, certificate, entry } = signer.sign(Buffer.from(content));
  const hash = { algorithm: 'sha256', value: sha256(Buffer.from(content)).toString('hex') };
  const body = { apiVersion: '0.0.1', kind: 'hashedrekord', spec: { data: { hash }, signature: { content: signature } } };
  return { content, annotations: annotationsOf(signature, certificate, entry?.(body)) };
}

function annotationsOf(signature: string, certificate?: string, entry?: JsonObject): Readonly<Record<string, string>> {
  return {
    'dev.cosignproject.cosign/signature': signature,
    ...(certificate === undefined ? {} : { 'dev.sigstore.cosign/certificate': certificate }),
    ...(entry === undefined ? {} : { 'dev.sigstore.cosign/bundle': JSON.stringify(entry) }),
  };
}

export const imageSigned = 'https://sigstore.dev/cosign/sign/v1';
const payloadType = 'application/vnd.in-toto+json';

function envelopeOf(digest: string, predicateType: string, signer: Signer) {
  const subject = [{ name: '', digest: { sha256: digest.replace('sha256:', '') } }];
  const payload = Buffer.from(
    JSON.stringify({ _type: 'https://in-toto.io/Statement/v1', subject, predicateType, predicate: {} }),
  );
  const encoded = Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `), payload]);
  const made = signer.sign(encoded);
  const envelope = { payload: payload.toString('base64'), payloadType, signatures: [{ sig: made.signature, keyid: '' }] };
  const payloadHash = { algorithm: 'sha256', value: sha256(payload).toString('hex') };
  const body = { apiVersion: '0.0.1', kind: 'dsse', spec: { payloadHash, signatures: [{ signature: made.signature }] } };
  return { envelope, made, body };
}

/** An attestation beside its certificate and entry. */
export function attest(digest: string, predicateType: string, signer: Signer): SignedText {
  const { envelope, made, body } = envelopeOf(digest, predicateType, signer);
  return { content: JSON.stringify(envelope), annotations: annotationsOf('', made.certificate, made.entry?.(body)) };
}

/** A bundle of Sigstore, as newer versions of cosign push it. */
export function bundleOf(digest: string, predicateType: string, signer: Signer): string {
  const { envelope, made, body } = envelopeOf(digest, predicateType, signer);
  const rawBytes = made.certificate?.replaceAll(/-----[^-]+-----|\n/g, '');
  const content = rawBytes === undefined ? { publicKey: { hint: 'any' } } : { certificate: { rawBytes } };
  const entries = made.proven === undefined ? [] : [made.proven(body)];
  return JSON.stringify({
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: { ...content, tlogEntries: entries },
    dsseEnvelope: envelope,
  });
}
