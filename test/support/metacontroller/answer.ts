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
  resyncAfterSeconds: { expected: 'a number', fits: (value) => typeof value === 'number' },
  finalized: { expected: 'a boolean', fits: (value) => typeof value === 'boolean' },
};
const none = { expected: 'an empty list (none are declared)', fits: (value: Json) => isList(value) && value.length === 0 };
const fieldsOf = {
  CompositeController: { ...fields, children: none },
  DecoratorController: { ...fields, attachments: none },
} satisfies Readonly<Record<string, Readonly<Record<string, Field>>>>;

export type ControllerKind = keyof typeof fieldsOf;

/** Throws an Error that names the fault. A field that is null counts as absent, and a body of `null` too. */
export function decodeAnswer(text: string, kind: ControllerKind = 'CompositeController'): HookAnswer {
  const value = parseAnswer(text);
  if (value === null) return { status: {}, resyncAfterSeconds: 0, finalized: false };
  if (!isObject(value)) throw new Error(`can't unmarshal webhookResponse: expected an object, found ${text.slice(0, 80)}`);
  for (const [name, found] of Object.entries(value)) checkField(fieldsOf[kind], name, found);
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

function checkField(fields: Readonly<Record<string, Field>>, name: string, found: Json): void {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field === undefined) throw new Error(`strict validation failed for webhookResponse: unknown field "${name}"`);
  if (found !== null && !field.fits(found))
    throw new Error(`can't unmarshal webhookResponse: ${name}: expected ${field.expected}, found ${JSON.stringify(found)}`);
}
