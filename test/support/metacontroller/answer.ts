// Decodes the answer of a hook as strictly as Metacontroller decodes answers of version v2.
import { isList, isObject, type Json, type JsonObject, parseJson } from '../../../hooks/objects/json.ts';

export interface HookAnswer {
  /** `{}` if the answer has none: Metacontroller stores that, and so deletes the old status. */
  readonly status: JsonObject;
  readonly resyncAfterSeconds: number;
  readonly finalized: boolean;
}

interface Field {
  readonly expected: string;
  readonly fits: (value: Json) => boolean;
}

// The double manages no children, since none are declared: an answer that requests some is a fault of the hook.
const fields: Readonly<Record<string, Field>> = {
  status: { expected: 'an object', fits: isObject },
  children: { expected: 'an empty list (no childResources are declared)', fits: (value) => isList(value) && value.length === 0 },
  resyncAfterSeconds: { expected: 'a number', fits: (value) => typeof value === 'number' },
  finalized: { expected: 'a boolean', fits: (value) => typeof value === 'boolean' },
};

/** Throws an Error that names the fault. A field that is null counts as absent, and a body of `null` too. */
export function decodeAnswer(text: string): HookAnswer {
  const value = parseAnswer(text);
  if (value === null) return { status: {}, resyncAfterSeconds: 0, finalized: false };
  if (!isObject(value)) throw new Error(`can't unmarshal webhookResponse: expected an object, found ${text.slice(0, 80)}`);
  for (const [name, found] of Object.entries(value)) checkField(name, found);
  return {
    status: isObject(value.status) ? value.status : {},
    resyncAfterSeconds: typeof value.resyncAfterSeconds === 'number' ? value.resyncAfterSeconds : 0,
    finalized: value.finalized === true,
  };
}

function parseAnswer(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`can't unmarshal webhookResponse: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function checkField(name: string, found: Json): void {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field === undefined) throw new Error(`strict validation failed for webhookResponse: unknown field "${name}"`);
  if (found !== null && !field.fits(found))
    throw new Error(`can't unmarshal webhookResponse: ${name}: expected ${field.expected}, found ${JSON.stringify(found)}`);
}
