// A self-signed certificate for a server on loopback, a new one for each test. Node can read certificates but not create them. The
// format is that of RFC 5280, in DER.
import { createSign, generateKeyPairSync } from 'node:crypto';

export interface Certificate {
  /** PEM; the certificate is its own authority. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
}

const day = 86_400_000;

/** Valid for 127.0.0.1, from yesterday until tomorrow. */
export function makeCertificate(): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const contents = sequence(
    der(0xa0, der(0x02, [2])), // version 3
    der(0x02, [1]), // serial number
    ecdsaWithSha256,
    subject,
    sequence(time(Date.now() - day), time(Date.now() + day)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(subjectAlternativeName, basicConstraints)),
  );
  const signature = createSign('sha256').update(contents).sign(privateKey);
  const whole = sequence(contents, ecdsaWithSha256, der(0x03, [0], signature));
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { certificate: pem(whole), key };
}

type Bytes = Uint8Array | readonly number[];

function der(tag: number, ...contents: readonly Bytes[]): Buffer {
  const content = Buffer.concat(contents.map((part) => Buffer.from(part)));
  return Buffer.concat([Buffer.from([tag]), length(content.length), content]);
}

function length(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.from([bytes]);
  return bytes < 0x100 ? Buffer.from([0x81, bytes]) : Buffer.from([0x82, bytes >> 8, bytes & 0xff]);
}

function sequence(...parts: readonly Bytes[]): Buffer {
  return der(0x30, ...parts);
}

function time(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return der(0x18, Buffer.from(digits));
}

const ecdsaWithSha256 = sequence(der(0x06, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));

const commonName = der(0x06, [0x55, 0x04, 0x03]);

const subject = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from('loopback')))));

const subjectAlternativeName = sequence(
  der(0x06, [0x55, 0x1d, 0x11]),
  der(0x04, sequence(der(0x87, [127, 0, 0, 1]))), // an IP address
);

const basicConstraints = sequence(
  der(0x06, [0x55, 0x1d, 0x13]),
  der(0x01, [0xff]), // critical
  der(0x04, sequence(der(0x01, [0xff]))), // an authority
);

function pem(whole: Buffer): string {
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
