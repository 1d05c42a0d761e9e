// The API server copies `stringData` of a Secret into `data` and stores no trace of which keys came from it. So a key that leaves
// `stringData` would stay in the Secret. The engine sends `data` alone: field managers own its keys.
// Source: k8s.io/kubernetes pkg/apis/core/v1/conversion.go, Convert_v1_Secret_To_core_Secret.
import { at, isObject, type Json, type JsonObject, withKey } from './json.ts';
import { isSecret, type Reference } from './reference.ts';

/**
 * Content of a Secret with `stringData` as a part of `data`. Any other content stays as it is, and so stays content that the API
 * server refuses.
 */
export function withEncodedStrings(content: Json | undefined, target: Pick<Reference, 'apiVersion' | 'kind'>): Json | undefined {
  if (!isSecret(target) || !isObject(content)) return content;
  const [strings, data] = [at(content, 'stringData'), at(content, 'data') ?? {}];
  if (!isObject(strings) || !isObject(data) || wrongEntryOf(content) !== undefined) return content;
  const entries = Object.entries(strings);
  if (entries.some(([, value]) => typeof value !== 'string')) return content;
  const encoded = entries.map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')] as const);
  return withKey(withKey(content, 'stringData', undefined), 'data', { ...data, ...Object.fromEntries(encoded) });
}

// Names the fault of a key or a value of a Secret. The API server names no field for a value that is not base64, and its message
// about a key may quote the value. So the engine and the command line check the content themselves, and repeat no value.

interface WrongEntry {
  readonly field: 'data' | 'stringData';
  readonly key: string;
  /** A predicate, with the repair. */
  readonly why: string;
}

/** The first entry that the API server would refuse, whatever the type of the Secret is. */
export function wrongEntryOf(secret: JsonObject): WrongEntry | undefined {
  return (['data', 'stringData'] as const).flatMap((field) => wrongIn(secret, field))[0];
}

function wrongIn(secret: JsonObject, field: WrongEntry['field']): readonly WrongEntry[] {
  const entries = at(secret, field);
  if (!isObject(entries)) return [];
  return Object.entries(entries).flatMap(([key, value]) => {
    const why = keyPattern.test(key) ? whyWrong(field, value) : whyNoKey;
    return why === undefined ? [] : [{ field, key, why }];
  });
}

// Source: apimachinery, pkg/util/validation, IsConfigMapKey.
const keyPattern = /^(?!\.$|\.\.)[-._a-zA-Z0-9]{1,253}$/;
const whyNoKey = 'is not a valid key: use at most 253 letters, digits, "-", "_" and "."';

function whyWrong(field: WrongEntry['field'], value: unknown): string | undefined {
  if (value === null) return undefined;
  if (typeof value !== 'string') return 'is not a text: put it in quotes';
  return field === 'stringData' || isBase64(value) ? undefined : 'is not base64: encode the value, or write it into stringData';
}

// The form that Go decodes (encoding/base64, StdEncoding): line breaks do not count, the padding does.
function isBase64(text: string): boolean {
  const bare = text.replaceAll(/[\r\n]/g, '');
  return bare.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(bare);
}
