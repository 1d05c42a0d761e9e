// The notation for every schema of the project: the part of JSON Schema that Kubernetes supports. So one constant validates in ajv, becomes
// the CRD, and can become OpenAPI. Keywords that ajv does not know (CEL rules, `x-kubernetes-*`) have no effect in ajv.

/** A rule in CEL. `message` states the fault and the correction, because a user of kubectl reads only this message. */
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
  readonly oneOf?: readonly Schema[];
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
