// A self-signed certificate for a server on loopback, a new one for each test. Node can read certificates but not create them. The
// format is that of RFC 5280, in DER.
import { createSign, generateKeyPairSync } from 'node:crypto';
import { der, ecdsaWithSha256, pem, sequence, time } from './der.ts';

export interface Certificate {
  /** PEM; the certificate is its own authority. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
}

const day = 86_400_000;

/** Valid for that IPv4 address and these DNS names, from yesterday until tomorrow. */
export function makeCertificate(address = '127.0.0.1', ...names: readonly string[]): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const contents = sequence(
    der(0xa0, der(0x02, [2])), // version 3
    der(0x02, [1]), // serial number
    ecdsaWithSha256,
    subject,
    sequence(time(Date.now() - day), time(Date.now() + day)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(named(address, names), basicConstraints)),
  );
  const signature = createSign('sha256').update(contents).sign(privateKey);
  const whole = sequence(contents, ecdsaWithSha256, der(0x03, [0], signature));
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { certificate: pem(whole), key };
}

const commonName = der(0x06, [0x55, 0x04, 0x03]);

const subject = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from('loopback')))));

function named(address: string, names: readonly string[]): Buffer {
  const ip = der(0x87, address.split('.').map(Number));
  const dns = names.map((name) => der(0x82, Buffer.from(name)));
  return sequence(der(0x06, [0x55, 0x1d, 0x11]), der(0x04, sequence(ip, ...dns)));
}

const basicConstraints = sequence(
  der(0x06, [0x55, 0x1d, 0x13]),
  der(0x01, [0xff]), // critical
  der(0x04, sequence(der(0x01, [0xff]))), // an authority
);
