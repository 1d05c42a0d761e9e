// Manifests in ConfigMaps and Secrets, and the changes that take their content from there.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { stringify } from 'yaml';
import type { JsonObject } from '../../hooks/objects/json.ts';

/** The unpacked bytes of one key, and how they are stored. */
export interface Manifest {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  readonly key: string;
  readonly bytes: Buffer;
  /** Default: not. */
  readonly gzip?: boolean;
  /** Of a ConfigMap: in binaryData; needed for what is no UTF-8. */
  readonly binary?: boolean;
}

export function asJson(object: JsonObject): Buffer {
  return Buffer.from(JSON.stringify(object));
}

export function asYaml(object: JsonObject): Buffer {
  return Buffer.from(stringify(object, { aliasDuplicateObjects: false, lineWidth: 0, version: '1.1' }));
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** The object that holds it. */
export function holderOf({ kind, name, key, bytes, gzip = false, binary = gzip }: Manifest): JsonObject {
  const stored = gzip ? gzipSync(bytes) : bytes;
  const base64 = { [key]: stored.toString('base64') };
  const data = kind === 'Secret' ? { data: base64 } : binary ? { binaryData: base64 } : { data: { [key]: stored.toString() } };
  return { apiVersion: 'v1', kind, metadata: { name }, ...data };
}

/** The source as a change names it; the digest is that of its bytes unless another is given, none where that is null. */
export function contentFrom({ kind, name, key, bytes }: Manifest, digest: string | null = digestOf(bytes)): JsonObject {
  const member = kind === 'Secret' ? 'secretKeyRef' : 'configMapKeyRef';
  return { [member]: { name, key }, ...(digest === null ? {} : { digest }) };
}

/** The path of a collection of holders. */
export function pluralOf({ kind }: Pick<Manifest, 'kind'>): string {
  return kind === 'Secret' ? 'secrets' : 'configmaps';
}
