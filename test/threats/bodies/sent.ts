// A request to the hook that Metacontroller does not send, by name, and what it is answered.
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../hooks/objects/json.ts';
import { anyText, specialKey } from '../chance.ts';

export interface Sent {
  readonly method?: 'POST' | 'GET' | 'PUT' | 'DELETE' | 'PATCH';
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

export interface BadBody {
  readonly name: string;
  readonly sent: fc.Arbitrary<Sent>;
  readonly code: number;
  /** `live`: the answer equals that to a true request about this Transaction. `own`: the status of the request comes back. */
  readonly answer?: 'live' | 'own';
  /** Large ones: so many in place of the usual number. */
  readonly most?: number;
}

export const text = (body: Json): Sent => ({ body: JSON.stringify(body) });

export const anyJson = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
export const anyObject = fc.dictionary(fc.oneof(anyText, specialKey), anyJson, { maxKeys: 6 }) as fc.Arbitrary<JsonObject>;
export function without(object: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}

/** Requests about one of the Transactions that are there: a true one, and with parts of it replaced. */
export interface Requests {
  readonly parent: fc.Arbitrary<JsonObject>;
  call(parent: JsonObject, more?: JsonObject): JsonObject;
  about(parts: fc.Arbitrary<JsonObject>): fc.Arbitrary<Sent>;
  withMetadata(parts: fc.Arbitrary<JsonObject>): fc.Arbitrary<Sent>;
  beside(parts: fc.Arbitrary<JsonObject>): fc.Arbitrary<Sent>;
  /** The text of a true one. */
  readonly whole: fc.Arbitrary<string>;
}

export function requestsAbout(parents: readonly JsonObject[]): Requests {
  const live = fc.constantFrom(...parents);
  const call = (parent: JsonObject, more: JsonObject = {}): JsonObject => ({ parent, children: {}, finalizing: false, ...more });
  const about = (parts: fc.Arbitrary<JsonObject>): fc.Arbitrary<Sent> =>
    fc.tuple(live, parts).map(([parent, more]) => text(call({ ...parent, ...more })));
  const withMetadata = (parts: fc.Arbitrary<JsonObject>): fc.Arbitrary<Sent> =>
    fc
      .tuple(live, parts)
      .map(([parent, more]) => text(call({ ...parent, metadata: { ...(parent.metadata as JsonObject), ...more } })));
  const beside = (parts: fc.Arbitrary<JsonObject>): fc.Arbitrary<Sent> =>
    fc.tuple(live, parts).map(([parent, more]) => text(call(parent, more)));
  const whole = live.map((parent) => JSON.stringify(call(parent)));
  return { parent: live, call, about, withMetadata, beside, whole };
}
