// Requests about a Transaction that is there, with lies about it: they change nothing.
import fc from 'fast-check';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { label, specialKey } from '../chance.ts';
import { anyJson, anyObject, type BadBody, type Requests } from './sent.ts';

const phases = fc.constantFrom(
  '',
  'Pending',
  'Preparing',
  'Prepared',
  'Committing',
  'Committed',
  'RollingBack',
  'RolledBack',
  'Failed',
  'x',
);

/** A false status in the words of the engine. */
const forgedStatus = fc.record({
  phase: phases,
  version: fc.oneof(fc.nat(), fc.constantFrom(-1, 2 ** 31, 1e308)),
  items: fc.array(fc.record({ prepared: fc.boolean(), committed: fc.boolean(), rolledBack: fc.boolean(), lockLease: label })),
  rollbackRef: fc.record({ name: label, digest: fc.string({ maxLength: 64 }), objects: fc.nat(5_000) }),
  specDigest: fc.string({ maxLength: 64 }),
}) as fc.Arbitrary<JsonObject>;

export function forged({ parent: live, about, withMetadata, beside }: Requests): readonly BadBody[] {
  return [
    { name: 'a forged status', sent: about(forgedStatus.map((status) => ({ status }))), code: 200, answer: 'live' },
    { name: 'a status of anything', sent: about(anyObject.map((status) => ({ status }))), code: 200, answer: 'live' },
    {
      name: 'a forged spec',
      sent: about(
        label.map((serviceAccountName) => ({
          spec: {
            serviceAccountName,
            changes: [{ type: 'Delete', target: { apiVersion: 'v1', kind: 'Namespace', name: 'default' } }],
          },
        })),
      ),
      code: 200,
      answer: 'live',
    },
    {
      name: 'forged annotations',
      sent: withMetadata(
        label.map((value) => ({ annotations: { 'tx.janus.io/request-rollback': value, 'tx.janus.io/retry-rollback': value } })),
      ),
      code: 200,
      answer: 'live',
    },
    {
      name: 'a forged deletion',
      sent: withMetadata(fc.constant({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [] })),
      code: 200,
      answer: 'live',
    },
    {
      name: 'finalizing a Transaction that is not deleted',
      sent: beside(fc.constant({ finalizing: true })),
      code: 200,
      answer: 'live',
    },
    {
      name: 'fields that are not known',
      sent: beside(
        fc.dictionary(
          fc.string({ minLength: 1, maxLength: 9 }).map((key) => `x${key}`),
          anyJson,
        ) as fc.Arbitrary<JsonObject>,
      ),
      code: 200,
      answer: 'live',
    },
    {
      name: 'keys that are special to JavaScript',
      sent: fc.tuple(live, specialKey).map(([parent, key]) => ({
        body: `{"${key}":{"x":1},"parent":${JSON.stringify(parent).replace('{', `{"${key}":{"x":1},`)}}`,
      })),
      code: 200,
      answer: 'live',
    },
    {
      name: 'a repeated key',
      sent: fc
        .tuple(anyJson, live)
        .map(([junk, parent]) => ({ body: `{"parent":${JSON.stringify(junk)},"parent":${JSON.stringify(parent)}}` })),
      code: 200,
      answer: 'live',
    },
  ];
}
