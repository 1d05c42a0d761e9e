// Requests about Transactions that cannot exist, or that do not exist.
import fc from 'fast-check';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { anyText, around, control, label } from '../chance.ts';
import { anyJson, anyObject, type BadBody, type Requests, text, without } from './sent.ts';

export function nobody({ parent: live, call, about, withMetadata, beside }: Requests): readonly BadBody[] {
  return [
    { name: 'without a parent', sent: anyObject.map((parts) => text(without(parts, 'parent'))), code: 400 },
    { name: 'a parent of another kind', sent: about(label.map((kind) => ({ kind }))), code: 400 },
    {
      name: 'a parent of another group',
      sent: about(label.map((group) => ({ apiVersion: `${group}.example.org/v1` }))),
      code: 400,
    },
    {
      name: 'identity missing',
      sent: fc
        .tuple(live, fc.constantFrom('name', 'namespace', 'uid'))
        .map(([parent, key]) => text(call({ ...parent, metadata: without(parent.metadata as JsonObject, key) }))),
      code: 400,
    },
    {
      name: 'identity of another type',
      sent: withMetadata(
        fc
          .tuple(
            fc.constantFrom('name', 'namespace', 'uid'),
            fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.array(label), anyObject),
          )
          .map(([key, value]) => ({ [key]: value }) as JsonObject),
      ),
      code: 400,
    },
    {
      name: 'a name that is a path',
      sent: withMetadata(
        around(label, fc.constantFrom('/', '%2f', '/../', '?', '#', ':', 'A', '\r\n', 'é')).map((name) => ({ name })),
      ),
      code: 400,
    },
    {
      name: 'a namespace that is a path',
      sent: withMetadata(
        around(label, fc.constantFrom('/', '.', '%2e', '/../', '?', ':', '\r\n')).map((namespace) => ({ namespace })),
      ),
      code: 400,
    },
    { name: 'a uid with control characters', sent: withMetadata(around(label, control).map((uid) => ({ uid }))), code: 400 },
    {
      name: 'a status that is no object',
      sent: about(fc.oneof(anyText, fc.integer(), fc.array(anyJson)).map((status) => ({ status }))),
      code: 400,
    },
    {
      name: 'invalid children',
      sent: beside(
        fc.oneof(anyText, fc.integer(), fc.array(anyJson), fc.constant({ 'ConfigMap.v1': [] })).map((children) => ({ children })),
      ),
      code: 400,
    },
    {
      name: 'finalizing that is neither true nor false',
      sent: beside(fc.oneof(anyText, fc.integer(), fc.constant(null)).map((finalizing) => ({ finalizing }))),
      code: 400,
    },
    {
      name: 'a name that no Transaction has',
      sent: fc.tuple(withMetadata(label.map((name) => ({ name: `x-${name}` }))), fc.nat()).map(([sent]) => sent),
      code: 200,
      answer: 'own',
    },
    {
      name: 'a namespace without a Transaction',
      sent: withMetadata(label.map((namespace) => ({ namespace: `x-${namespace}` }))),
      code: 200,
      answer: 'own',
    },
    {
      name: 'a status as deep as a body may be',
      sent: fc.tuple(live, fc.integer({ min: 5_000, max: 10_050 })).map(([parent, levels]) => {
        const metadata = { ...(parent.metadata as JsonObject), name: 'nobody' };
        const body = JSON.stringify(call({ ...parent, metadata, status: 'here' }));
        return { body: body.replace('"here"', `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) };
      }),
      code: 400,
      most: 10,
    },
    { name: 'the uid of another', sent: withMetadata(fc.uuid().map((uid) => ({ uid }))), code: 200, answer: 'own' },
  ];
}
