// The paths in a message whose values must not be shown: each element is one that the content has at that place.

import fc from 'fast-check';
import t from 'tap';
import type { Json, JsonObject } from '../../../../hooks/objects/json.ts';
import { pathsIn, shownPath } from '../../../../hooks/transactions/checks/shown-path.ts';

const content: JsonObject = {
  metadata: { labels: { 'a.b/c': 1, a: 'x' } },
  spec: {
    sessionAfinity: 'hidden',
    ports: [
      { port: 79, protocol: 'TCP' },
      { port: 80, protocol: 'TCP', foo: { a: 1 } },
    ],
    tokens: ['hidden'],
    free: { 'my.key/x': 'hidden', 'x:y': 1 },
    containers: [{ name: 'a:b"]', image: 1 }],
  },
  fnord: 1,
};

t.test('a path is shown as far as the content has it', async (t) => {
  const rows: readonly (readonly [field: string, path: string | undefined, isCut?: boolean])[] = [
    ['spec.sessionAfinity', '.spec.sessionAfinity'],
    ['.spec.sessionAfinity', '.spec.sessionAfinity'],
    ['spec.ports[1].foo.a', '.spec.ports[1].foo.a'],
    ['spec.ports[2].foo', '.spec.ports', true],
    ['spec.ports[0].foo', '.spec.ports[0]', true],
    ['spec.ports[port=80,protocol="TCP"].foo', '.spec.ports[1].foo'],
    ['spec.ports[port=81,protocol="TCP"].foo', '.spec.ports', true],
    ['spec.containers[name="a:b\\"]"].image', '.spec.containers[0].image'],
    ['spec.ports.foo', '.spec.ports[…].foo'],
    ['spec.tokens[="hidden"]', '.spec.tokens', true],
    ['spec.tokens[hidden]', '.spec.tokens', true],
    ['spec.tokens.hidden', '.spec.tokens', true],
    ['spec.free.my.key/x', '.spec.free[my.key/x]'],
    ['spec.free[my.key/x]', '.spec.free[my.key/x]'],
    ['metadata.labels.a.b/c', '.metadata.labels[a.b/c]'],
    ['metadata.labels.a', '.metadata.labels.a'],
    ['spec.hidden', '.spec', true],
    ['spec.constructor', '.spec', true],
    ['hidden', undefined],
    ['<nil>', undefined],
    ['', undefined],
    ['__proto__.x', undefined],
  ];
  for (const [field, path, isCut = false] of rows)
    t.same(shownPath(field, [undefined, content]), path === undefined ? undefined : { path, isCut }, field);
});

// As Kubernetes 1.36 writes them.
const messages: readonly (readonly [string, readonly string[]])[] = [
  [
    'failed to create typed patch object (/web; /v1, Kind=Service): errors:   .spec.ports[port=80,protocol="TCP"].foo: field not declared in schema   .spec.sessionAfinity: field not declared in schema',
    ['.spec.ports[1].foo: unknown field', '.spec.sessionAfinity: unknown field'],
  ],
  [
    'failed to create typed patch object (/web; /v1, Kind=Service): .spec.sessionAfinity: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"hidden":"hidden"}}',
    ['.spec.sessionAfinity: wrong type'],
  ],
  [
    'failed to create typed patch object (/web; /v1, Kind=Service): errors:   .metadata.labels.a.b/c: expected string, got &value.valueUnstructured{Value:1}   .spec.free.my.key/x: expected numeric (int or float), got string',
    ['.metadata.labels[a.b/c]: wrong type', '.spec.free[my.key/x]: wrong type'],
  ],
  ['.spec.ports: duplicate entries for key [port=80,protocol="TCP"]', ['.spec.ports: duplicate items']],
  [
    'failed to create typed patch object (/ns1; /v1, Kind=Namespace): .fnord: field not declared in schema',
    ['.fnord: unknown field'],
  ],
  [
    'W in version "v1" cannot be handled as a W: strict decoding error: unknown field "spec.ports[1].foo", unknown field "fnord"',
    ['.spec.ports[1].foo: unknown field', '.fnord: unknown field'],
  ],
  [
    'Service in version "v1" cannot be handled as a Service: json: cannot unmarshal object into Go struct field ServiceSpec.spec.sessionAfinity of type v1.ServiceAffinity',
    ['.spec.sessionAfinity: wrong type'],
  ],
  [
    'Service in version "v1" cannot be handled as a Service: json: cannot unmarshal string into Go struct field ServicePort.spec.ports.port of type int32',
    ['.spec.ports[…].port: wrong type'],
  ],
  ['quantities must match the regular expression', []],
  ['the spec of hidden is no good, nor is fnord', []],
  ['.spec.hidden: field not declared in schema', []],
];

t.test('a message shows the paths that the content has in full, and none of its other words', async (t) => {
  for (const [message, paths] of messages) t.same(pathsIn(message, [content]), paths, message);
});

t.test('no message makes the text show what the content does not have', async () => {
  const json = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Json>('canary', 4711),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'a.b', 'b/c', 'k'), tie('value'), { maxKeys: 3 }),
    ),
  })).value;
  const part = fc.constantFrom(
    '.a',
    '.b',
    '.a.b',
    '[a.b]',
    '[0]',
    '[1]',
    '[k="canary"]',
    '[="canary"]',
    '.canary',
    '[4711]',
    ': ',
    ' ',
    '"',
    '.k',
  );
  fc.assert(
    fc.property(json, fc.array(part, { maxLength: 12 }), (value, parts) => {
      const texts = [shownPath(parts.join(''), [value])?.path ?? '', ...pathsIn(parts.join(''), [value])];
      if (texts.some((text) => /canary|4711/.test(text))) throw new Error(texts.join());
    }),
    { numRuns: 2_000 },
  );
});
