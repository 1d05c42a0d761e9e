// Bodies that are no requests.
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { Json } from '../../../hooks/objects/json.ts';
import { anyText, label } from '../chance.ts';
import { anyJson, type BadBody, type Requests, text } from './sent.ts';

export function unreadable({ whole }: Requests): readonly BadBody[] {
  return [
    { name: 'no JSON', sent: anyText.map((junk) => ({ body: `x${junk}` })), code: 400 },
    { name: 'nothing', sent: fc.constantFrom({ body: '' }, { body: '  ' }), code: 400 },
    {
      name: 'cut',
      sent: fc
        .tuple(whole, fc.double({ min: 0, max: 0.99, noNaN: true }))
        .map(([body, part]) => ({ body: body.slice(0, Math.floor(body.length * part)) })),
      code: 400,
    },
    {
      name: 'bytes that are no text',
      sent: fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => ({ body: Buffer.from([0xff, ...bytes]) })),
      code: 400,
    },
    {
      name: 'compressed',
      sent: whole.map((body) => ({ body: gzipSync(body), headers: { 'content-encoding': 'gzip' } })),
      code: 400,
    },
    {
      name: 'another content type',
      sent: fc
        .tuple(whole, fc.constantFrom('text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'application/jsonp'))
        .map(([body, type]) => ({ body, headers: { 'content-type': type } })),
      code: 415,
    },
    {
      name: 'too large',
      sent: fc.constant(null).map(() => ({ body: `{"parent":"${'x'.repeat(8 * 1024 * 1024)}"}` })),
      code: 413,
      most: 3,
    },
    {
      name: 'too deep',
      sent: fc.integer({ min: 10_200, max: 1_000_000 }).map((levels) => ({ body: '['.repeat(levels) })),
      code: 413,
      most: 20,
    },
    {
      name: 'no object',
      sent: fc.oneof(fc.constantFrom<Json>(null, true, 0, 'text', []), fc.array(anyJson)).map(text),
      code: 400,
    },
    {
      name: 'another method',
      sent: fc
        .tuple(whole, fc.constantFrom('PUT' as const, 'DELETE' as const, 'PATCH' as const))
        .map(([body, method]) => ({ body, method })),
      code: 405,
    },
    {
      name: 'another path',
      sent: fc.tuple(whole, label).map(([body, path]) => ({ body, path: `/sync/../x${path}/%2e%2e/sync` })),
      code: 404,
    },
  ];
}
