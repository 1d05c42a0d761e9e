// Sealing of what a snapshot must not show, and compression of what is large.
//
// Sealed text is `1.KEY.DATA`: the version of this format, the id of the key, and nonce, ciphertext and tag in base64url.
// Version, key id and the caller's context are authenticated with it: a sealed text opens only where it was sealed for.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { Sealer } from '../../hooks/cluster.ts';

/** Keys by id. All of them open; `current` seals. */
export interface KeyRing {
  readonly current: string;
  readonly keys: ReadonlyMap<string, Buffer>;
}

export const keyLength = 32;

const algorithm = 'aes-256-gcm';
const version = '1';
const nonceLength = 12;
const tagLength = 16;
const longestExpanded = 64 * 1024 * 1024; // the text comes from an object that users can write: it must not fill the memory

/** `keyRing` is asked at each use, so that a rotated key is taken up without a restart. */
export function createSealer(keyRing: () => KeyRing): Sealer {
  return {
    seal(text, context) {
      const { current, keys } = keyRing();
      const key = keys.get(current);
      if (key === undefined) throw new Error(`the key ring lacks its own current key "${current}"`);
      return `${version}.${current}.${encrypt(pack(text), key, additionalData(current, context))}`;
    },
    open(sealed, context) {
      const [format, id = '', data = '', ...rest] = sealed.split('.');
      const key = keyRing().keys.get(id);
      if (format !== version || key === undefined || rest.length > 0) return undefined;
      const packed = decrypt(data, key, additionalData(id, context));
      return packed === undefined ? undefined : unpack(packed);
    },
    compress: (text) => pack(text).toString('base64'),
    expand: (compressed) => unpack(Buffer.from(compressed, 'base64')),
  };
}

// The states before and after a change are nearly equal texts of up to a megabyte: the window must hold both (2^22 bytes), which
// gzip's (2^15) does not.
const packing = { params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 22 } };

function pack(text: string): Buffer {
  return brotliCompressSync(text, packing);
}

function unpack(packed: Buffer): string | undefined {
  try {
    return brotliDecompressSync(packed, { maxOutputLength: longestExpanded }).toString('utf8');
  } catch {
    return undefined;
  }
}

function additionalData(id: string, context: string): Buffer {
  return Buffer.from(JSON.stringify([version, id, context]));
}

function encrypt(plain: Buffer, key: Buffer, additional: Buffer): string {
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagLength }).setAAD(additional);
  const parts = [nonce, cipher.update(plain), cipher.final()];
  return Buffer.concat([...parts, cipher.getAuthTag()]).toString('base64url');
}

function decrypt(data: string, key: Buffer, additional: Buffer): Buffer | undefined {
  const bytes = Buffer.from(data, 'base64url');
  // Base64 has several spellings of the same bytes; only the one that we write is ours.
  if (bytes.length < nonceLength + tagLength || bytes.toString('base64url') !== data) return undefined;
  const body = bytes.subarray(nonceLength, bytes.length - tagLength);
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceLength), { authTagLength: tagLength })
    .setAAD(additional)
    .setAuthTag(bytes.subarray(bytes.length - tagLength));
  try {
    return Buffer.concat([decipher.update(body), decipher.final()]);
  } catch {
    return undefined;
  }
}
