// What is wrong with a key or a value of a Secret. The API server names no field for a value that is not base64, and what it says of a key
// may quote the value: so the engine and the command line look themselves, and no value is repeated.
import { at, isObject, type JsonObject } from './json.ts';

interface WrongEntry {
  readonly field: 'data' | 'stringData';
  readonly key: string;
  /** A predicate, with what to do. */
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

// As Go decodes it (encoding/base64, StdEncoding): line breaks do not count, the padding does.
function isBase64(text: string): boolean {
  const bare = text.replaceAll(/[\r\n]/g, '');
  return bare.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(bare);
}
