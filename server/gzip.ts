// Compresses and decompresses contents of packages.
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Gzip } from '../hooks/crossplane/model/gzip.ts';

export const gzip: Gzip = {
  pack: (text) => gzipSync(text).toString('base64'),
  unpack(packed, most) {
    try {
      const bytes = gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: most });
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      return undefined;
    }
  },
};
