// Seals texts that readers of a snapshot must not see, tags texts that they may see, and compresses large texts.
//
// Sealed text is `1.KEY.DATA`: the version of this format, the id of the key, and nonce, ciphertext and tag in base64url. A tag is
// `1.KEY.TAG`. Both authenticate version, key id and the caller's context: a text is valid only in its own place.
// Tags and names use keys derived from the sealing key, one for each purpose.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { Sealer } from '../../hooks/objects/cluster.ts';

/** Keys by id. The sealer opens texts with any key, and seals with `current`. */
export interface KeyRing {
  readonly current: string;
  readonly keys: ReadonlyMap<string, Buffer>;
}

export const keyLength = 32;

const algorithm = 'aes-256-gcm';
const version = '1';
const nonceLength = 12;
const tagLength = 16;
const nameLength = 20;

/** The sealer calls `keyRing` at each use, so that it uses a rotated key without a restart. */
export function createSealer(keyRing: () => KeyRing): Sealer {
  const derived = createDerived();
  return {
    seal(text, context) {
      const [id, key] = currentKey(keyRing());
      return `${version}.${id}.${encrypt(pack(text), key, additionalData(id, context))}`;
    },
    open(sealed, context, most) {
      const [id, key, data] = parsed(sealed, keyRing()) ?? [];
      if (id === undefined || key === undefined || data === undefined) return undefined;
      const packed = decrypt(data, key, additionalData(id, context));
      return packed === undefined ? undefined : unpack(packed, most);
    },
    tag(text, context) {
      const [id, key] = currentKey(keyRing());
      return `${version}.${id}.${authentication(derived(key).tags, id, context, text).toString('base64url')}`;
    },
    isTagged(text, tag, context) {
      const [id, key, data] = parsed(tag, keyRing()) ?? [];
      if (id === undefined || key === undefined || data === undefined) return false;
      const [wanted, found] = [authentication(derived(key).tags, id, context, text), bytesOf(data)];
      return found !== undefined && found.length === wanted.length && timingSafeEqual(found, wanted);
    },
    derive(text) {
      const ring = keyRing();
      const [current, key] = currentKey(ring);
      const others = [...ring.keys].filter(([id]) => id !== current).map(([, other]) => nameOf(derived(other).names, text));
      return [nameOf(derived(key).names, text), ...others];
    },
    compress: (text) => pack(text).toString('base64'),
    expand: (compressed, most) => unpack(Buffer.from(compressed, 'base64'), most),
  };
}

function currentKey({ current, keys }: KeyRing): readonly [id: string, key: Buffer] {
  const key = keys.get(current);
  if (key === undefined) throw new Error(`the key ring lacks its own current key "${current}"`);
  return [current, key];
}

function parsed(text: string, { keys }: KeyRing): readonly [id: string, key: Buffer, data: string] | undefined {
  const [format, id = '', data = '', ...rest] = text.split('.', 4);
  const key = keys.get(id);
  return format !== version || key === undefined || rest.length > 0 ? undefined : [id, key, data];
}

interface Derived {
  readonly tags: Buffer;
  readonly names: Buffer;
}

function createDerived(): (key: Buffer) => Derived {
  const known = new WeakMap<Buffer, Derived>();
  return (key) => {
    const found = known.get(key) ?? {
      tags: derivedKey(key, 'janus snapshot tags'),
      names: derivedKey(key, 'janus snapshot names'),
    };
    known.set(key, found);
    return found;
  };
}

function derivedKey(key: Buffer, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', use, keyLength));
}

// The JSON of the first line contains no line break, so no content can shift the boundary between context and text.
function authentication(key: Buffer, id: string, context: string, text: string): Buffer {
  return createHmac('sha256', key)
    .update(`${JSON.stringify([version, id, context])}\n`)
    .update(text)
    .digest();
}

function nameOf(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex').slice(0, nameLength);
}

// The states before and after a change are nearly equal texts of up to a megabyte. The window must hold both. 2^22 bytes are enough;
// gzip's 2^15 bytes are not.
const packing = { params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 22 } };

function pack(text: string): Buffer {
  return brotliCompressSync(text, packing);
}

function unpack(packed: Buffer, most: number): string | undefined {
  if (most <= 0) return undefined;
  try {
    return brotliDecompressSync(packed, { maxOutputLength: most }).toString('utf8');
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
  const bytes = bytesOf(data);
  if (bytes === undefined || bytes.length < nonceLength + tagLength) return undefined;
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

// Base64 has several spellings of the same bytes. This code accepts only the spelling that it writes.
function bytesOf(data: string): Buffer | undefined {
  const bytes = Buffer.from(data, 'base64url');
  return bytes.toString('base64url') === data ? bytes : undefined;
}
