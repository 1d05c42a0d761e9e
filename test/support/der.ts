// ASN.1 in DER, as far as certificates of tests need it (RFC 5280).

type Bytes = Uint8Array | readonly number[];

export function der(tag: number, ...contents: readonly Bytes[]): Buffer {
  const content = Buffer.concat(contents.map((part) => Buffer.from(part)));
  return Buffer.concat([Buffer.from([tag]), length(content.length), content]);
}

function length(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.from([bytes]);
  return bytes < 0x100 ? Buffer.from([0x81, bytes]) : Buffer.from([0x82, bytes >> 8, bytes & 0xff]);
}

export function sequence(...parts: readonly Bytes[]): Buffer {
  return der(0x30, ...parts);
}

export function time(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return der(0x18, Buffer.from(digits));
}

export const ecdsaWithSha256 = sequence(der(0x06, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));

export function pem(whole: Buffer): string {
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
