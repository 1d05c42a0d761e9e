// Foreign words at their worst: whatever a webhook, a person or a tool may write into a reason, a message, a name.
import fc from 'fast-check';
import type { Json } from '../../hooks/objects/json.ts';
import type { HttpAnswer } from '../../server/kubernetes/failures.ts';

const odd = [
  '\u0000',
  '\n',
  '\r\n',
  '\u001b[31m',
  '\u202e',
  '\u200b',
  '\u2028',
  '\ufeff',
  '\ud800',
  '\udc00',
  '\u{1f600}',
  '\u{e0041}',
  '<',
  '"',
];

/** Any text, of any length up to some thousands of characters. */
export const words: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.array(fc.constantFrom(...odd, 'a', 'Gone', 'Conflict', ' '), { maxLength: 12 }).map((parts) => parts.join('')),
  fc.tuple(fc.constantFrom(...odd, 'x'), fc.integer({ min: 1, max: 5_000 })).map(([text, count]) => text.repeat(count)),
);

/** Reasons that somebody may give: own words, those of the engine, none. */
const reasons: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '',
    'Gone',
    'Replaced',
    'Conflict',
    'RollbackConflict',
    'NotEmpty',
    'AlreadyExists',
    'NotFound',
    'Terminating',
    'Timeout',
  ),
  fc.constantFrom('Forbidden', 'no images from elsewhere', 'constructor', '__proto__', 'LockHeld', 'Committed'),
  words,
);

const odder: fc.Arbitrary<Json> = fc.oneof(words, fc.constantFrom<Json>(null, 1, true, [], {}));

/** An answer that says no, as a webhook may word it. */
export const refusals: fc.Arbitrary<HttpAnswer> = fc
  .record({
    code: fc.constantFrom(400, 401, 403, 404, 405, 406, 409, 410, 413, 418, 422, 429, 451, 499, 500, 503, 599),
    reason: fc.oneof(reasons, odder),
    message: odder,
    causes: fc.array(fc.record({ field: odder, message: odder, reason: odder }), { maxLength: 8 }),
    retryAfterSeconds: fc.oneof(fc.double(), odder),
    header: fc.option(words, { nil: undefined }),
  })
  .map(({ code, reason, message, causes, retryAfterSeconds, header }) => ({
    code,
    headers: { 'retry-after': header },
    body: {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code,
      reason,
      message,
      details: { causes, retryAfterSeconds },
    } as Json,
  }));

/** The object with the entries of these managers, each with one field of its own. */
export function managedBy(managers: readonly string[]): Json {
  return managers.map((manager, index) => ({
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { [`f:${index}`]: {} } },
  }));
}
