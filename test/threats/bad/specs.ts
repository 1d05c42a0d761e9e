// Transactions that must change nothing, by name: what each is, what the API server says when it is created, and with
// which reason it ends where it gets past that (an older definition of Transactions in the cluster, a policy that is not there).
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../hooks/objects/json.ts';

export interface BadTransaction {
  readonly name: string;
  readonly spec: fc.Arbitrary<JsonObject>;
  readonly annotations?: fc.Arbitrary<JsonObject>;
  /** What the refusal of the API server holds; undefined where the Transaction is admitted, `not sent` where it cannot be asked. */
  readonly admission?: string;
  /** With which reason it ends, and the words for it; absent where only admission can be tried. */
  readonly end?: readonly [reason: string, message: RegExp];
  /** Large ones: so many in place of the usual number. */
  readonly most?: number;
}

/** Where the Transactions are; in it are the ServiceAccounts `deployer`, with all rights, and `nobody`, with none. */
export interface Place {
  readonly namespace: string;
  /** A ConfigMap that exists. */
  readonly present: string;
}

export type Parts = Readonly<Record<string, Json | undefined>>;

export const some = <Value>(...values: readonly Value[]): fc.Arbitrary<Value> => fc.constantFrom(...values);

/** A good spec but for some parts of it; undefined leaves a part out. */
export function specWith(changes: readonly Json[] | undefined, more: Parts = {}): JsonObject {
  return present({ serviceAccountName: 'deployer', changes, ...more });
}

function present(parts: Parts): JsonObject {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as JsonObject;
}

export const goodTarget = { apiVersion: 'v1', kind: 'ConfigMap', name: 'fuzzed' } as const;
export const goodContent = { data: { color: 'teal' } };

export const changeWith = (parts: Parts): JsonObject =>
  present({ type: 'Create', target: { ...goodTarget }, content: goodContent, ...parts });

export const ofTarget = (parts: fc.Arbitrary<Parts>): fc.Arbitrary<JsonObject> =>
  parts.map((target) => specWith([changeWith({ target: present({ ...goodTarget, ...target }) })]));

export const ofContent = (content: fc.Arbitrary<Json>, type = 'Create'): fc.Arbitrary<JsonObject> =>
  content.map((value) => specWith([changeWith({ type, content: value })]));

export const ofMetadata = (metadata: fc.Arbitrary<JsonObject>, type = 'Create'): fc.Arbitrary<JsonObject> =>
  ofContent(
    metadata.map((value) => ({ ...goodContent, metadata: value })),
    type,
  );

export const ofSpec = (parts: fc.Arbitrary<Parts>): fc.Arbitrary<JsonObject> =>
  parts.map((more) => specWith([changeWith({})], more));

export const invalid = (message: RegExp): readonly [string, RegExp] => ['Invalid', message];
export const refused = (message: RegExp): readonly [string, RegExp] => ['Refused', message];
