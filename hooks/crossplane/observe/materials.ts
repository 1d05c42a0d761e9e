// Secrets and ConfigMaps with certificates, keys and logins, from the namespace of packages. Their contents are in no message.
import { textAt } from '../../objects/json.ts';
import type { KeySelector } from '../model/key-selector.ts';
import { quoted } from '../model/package.ts';
import { configMaps, secrets } from '../writes/resources.ts';
import { find, type PackageReader } from './read.ts';

/** The text; undefined if the object, or its key, does not exist. */
export async function materialIn(reader: PackageReader, { kind, name, key }: KeySelector): Promise<string | undefined> {
  const isSecret = kind === 'Secret';
  const object = await find(reader, { resource: isSecret ? secrets : configMaps, namespace: reader.namespace, name });
  const text = textAt(object, 'data', key);
  return text !== undefined && isSecret ? Buffer.from(text, 'base64').toString() : text;
}

const loginKey = '.dockerconfigjson';

/** The logins of a pull secret, or its fault in words. */
export async function dockerConfigIn(reader: PackageReader, name: string): Promise<string | { readonly fault: string }> {
  const { namespace } = reader;
  const secret = await find(reader, { resource: secrets, namespace, name });
  const encoded = textAt(secret, 'data', loginKey);
  if (encoded !== undefined) return Buffer.from(encoded, 'base64').toString();
  const expected = `expected a Secret ${quoted(name)} of type kubernetes.io/dockerconfigjson in namespace ${namespace}`;
  return { fault: `${expected}, found ${secret === undefined ? 'none' : 'one of another type'}` };
}
