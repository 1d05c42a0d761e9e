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
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly not?: Schema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: true;
  readonly 'x-kubernetes-list-type'?: 'atomic';
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

/** Options for `new Ajv(...)` under which these schemas compile in strict mode. */
export const dialect = {
  strict: true,
  strictRequired: false,
  keywords: ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-list-type', 'x-kubernetes-validations'],
};
