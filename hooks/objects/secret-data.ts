// The API server copies `stringData` of a Secret into `data` and stores no trace of which keys came from it. So a key that leaves
// `stringData` would stay in the Secret. The engine sends `data` alone: field managers own its keys.
// Source: k8s.io/kubernetes pkg/apis/core/v1/conversion.go, Convert_v1_Secret_To_core_Secret.
import { at, isObject, type Json, withKey } from './json.ts';
import { isSecret, type Reference } from './reference.ts';
import { wrongEntryOf } from './secret-entries.ts';

/** Content of a Secret with `stringData` as a part of `data`; any other content, and what the API server refuses, as it is. */
export function withEncodedStrings(content: Json | undefined, target: Pick<Reference, 'apiVersion' | 'kind'>): Json | undefined {
  if (!isSecret(target) || !isObject(content)) return content;
  const [strings, data] = [at(content, 'stringData'), at(content, 'data') ?? {}];
  if (!isObject(strings) || !isObject(data) || wrongEntryOf(content) !== undefined) return content;
  const entries = Object.entries(strings);
  if (entries.some(([, value]) => typeof value !== 'string')) return content;
  const encoded = entries.map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')] as const);
  return withKey(withKey(content, 'stringData', undefined), 'data', { ...data, ...Object.fromEntries(encoded) });
}
