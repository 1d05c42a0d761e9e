// The one notation for every schema of the project: JSON Schema as far as Kubernetes understands it, so that the same
// constant validates in ajv, becomes the CRD, and can become OpenAPI. What ajv does not know (CEL rules, `x-kubernetes-*`)
// is vocabulary to it, without effect.

/** A rule in CEL. `message` says what to do, not only what is wrong: it is all that a user of kubectl gets to read. */
export interface Rule {
  readonly rule: string;
  readonly message: string;
}

export interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'boolean' | 'number';
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly maxProperties?: number;
  readonly anyOf?: readonly Schema[];
  readonly not?: Schema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: true;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

/** Options for `new Ajv(...)` under which these schemas compile in strict mode. */
export const dialect = {
  strict: true,
  strictRequired: false,
  keywords: [
    'x-kubernetes-preserve-unknown-fields',
    'x-kubernetes-list-type',
    'x-kubernetes-list-map-keys',
    'x-kubernetes-validations',
  ],
};

export interface Text {
  readonly description: string;
  readonly pattern: string;
  readonly maxLength: number;
  /** Says what to write instead; completed by nothing. */
  readonly message: string;
}

/**
 * A string with a pattern, stated twice: as `pattern` for ajv and as CEL for the API server, whose own message for a
 * pattern is the pattern. The CRD leaves the former out (see custom-resource-definition.ts).
 */
export function text({ description, pattern, maxLength, message }: Text): Schema {
  return {
    type: 'string',
    description,
    minLength: 1,
    maxLength,
    pattern,
    'x-kubernetes-validations': [{ rule: matches('self', pattern), message }],
  };
}

/** CEL that holds when the value matches the pattern. Patterns are RE2 and JavaScript alike and hold no `'`. */
export function matches(value: string, pattern: string): string {
  return `${value}.matches(r'${pattern}')`;
}
