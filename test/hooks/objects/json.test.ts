// Objects as they are: no digit lost, odd keys ordinary, absent and empty told apart.
import fc from 'fast-check';
import t from 'tap';
import {
  at,
  canonicalJson,
  equalJson,
  isDeeperThan,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
  textAt,
  withKey,
  withPath,
} from '../../../hooks/objects/json.ts';
import { table } from '../../support/table.ts';

const exact = table<'reason' | 'text'>(`
reason                                | text
a small integer                       | {"a":1}
the largest safe integer              | {"a":9007199254740991}
the first that a double cannot hold   | {"a":9007199254740993}
the largest of 64 bits                | {"a":9223372036854775807}
the smallest of 64 bits               | {"a":-9223372036854775808}
beyond 64 bits                        | {"a":123456789012345678901234567890}
in lists and maps                     | {"a":[9007199254740993,{"b":[9007199254740995]}]}
beside a text of digits               | {"a":"9007199254740993","b":9007199254740993}
a key named __proto__                 | {"__proto__":{"a":1},"constructor":{"prototype":1}}
a key named __proto__ and digits      | {"__proto__":{"a":9007199254740993}}
null, false, empty                    | {"a":null,"b":false,"c":"","d":[],"e":{}}
a name twice in other case            | {"a":1,"A":2}
`);
for (const { reason, text } of exact) {
  t.test(`text to value to text: ${reason}`, async (t) => {
    t.equal(JSON.stringify(parseJson(text)), text);
    t.ok(equalJson(parseJson(text), parseJson(text)));
  });
}

t.test('values that look alike differ', async (t) => {
  const texts = [
    '1',
    '"1"',
    'true',
    'null',
    '[]',
    '{}',
    '""',
    '0',
    'false',
    '[null]',
    '{"a":null}',
    '9007199254740993',
    '9007199254740992',
    '{"__proto__":1}',
  ];
  for (const [index, left] of texts.entries()) {
    for (const right of texts.slice(index + 1)) t.notOk(equalJson(parseJson(left), parseJson(right)), `${left} and ${right}`);
  }
  t.notOk(equalJson(undefined, null));
  t.notOk(equalJson({ constructor: 1 }, {}));
  t.ok(equalJson({ a: 1, b: 2 }, { b: 2, a: 1 }), 'the order of keys does not count');
  t.notOk(equalJson([1, 2], [2, 1]), 'that of lists does');
});

t.test('only own keys are data', async (t) => {
  t.equal(at({}, 'constructor'), undefined);
  t.equal(at({}, '__proto__'), undefined);
  t.equal(at(parseJson('{"__proto__":{"a":1}}'), '__proto__', 'a'), 1);
  t.equal(at({ a: { b: 1 } }, 'a', 'b', 'c'), undefined);
  t.equal(at([1], '0'), undefined);
  t.equal(at(undefined, 'a'), undefined);
  t.equal(textAt({ a: 1 }, 'a'), undefined);
  t.notOk(isObject(parseJson('9007199254740993')), 'a large integer is no object');
});

const keys = table<'reason' | 'object' | 'path' | 'value' | 'result'>(`
reason                            | object             | path      | value | result
a key is set                      | {"a":1}            | a         | 2     | {"a":2}
a key is added at the end         | {"a":1}            | b         | 2     | {"a":1,"b":2}
a key is removed                  | {"a":1,"b":2}      | a         |       | {"b":2}
a key keeps its place             | {"a":1,"b":2}      | a         | 3     | {"a":3,"b":2}
__proto__ is set                  | {}                 | __proto__ | 1     | {"__proto__":1}
__proto__ is removed              | {"__proto__":1}    | __proto__ |       | {}
maps on the way are made          | {}                 | a.b       | 1     | {"a":{"b":1}}
nothing is made to remove nothing | {}                 | a.b       |       | {}
a text on the way gives way       | {"a":"x"}          | a.b       | 1     | {"a":{"b":1}}
removal below a text does nothing | {"a":"x"}          | a.b       |       | {"a":"x"}
__proto__ on the way              | {}                 | __proto__.b | 1   | {"__proto__":{"b":1}}
`);
for (const { reason, object, path, value, result } of keys) {
  t.test(`with a key: ${reason}`, async (t) => {
    const before = parseJson(object) as JsonObject;
    const after = withPath(before, path.split('.'), value === '' ? undefined : parseJson(value));
    t.equal(JSON.stringify(after), result);
    t.equal(JSON.stringify(before), object, 'the given object is as it was');
    t.equal(({} as { readonly b?: unknown }).b, undefined, 'and so is every other');
    if (!path.includes('.')) t.equal(JSON.stringify(withKey(before, path, value === '' ? undefined : parseJson(value))), result);
  });
}

const json = fc.jsonValue() as fc.Arbitrary<Json>;

t.test('equal values have one canonical text, others have not', async () => {
  fc.assert(fc.property(json, json, (left, right) => equalJson(left, right) === (canonicalJson(left) === canonicalJson(right))));
  fc.assert(fc.property(json, (value) => equalJson(parseJson(canonicalJson(value)), value)));
});

t.test('no text changes the prototype of objects', async (t) => {
  fc.assert(
    fc.property(json, fc.array(fc.constantFrom('__proto__', 'constructor', 'prototype', 'a')), (value, path) => {
      withPath(isObject(value) ? value : {}, path, { polluted: true });
    }),
  );
  t.equal(({} as { readonly polluted?: unknown }).polluted, undefined);
});

t.test('depth is measured without going down', async (t) => {
  const nested = (depth: number, leaf: string): Json =>
    parseJson(`${'[{"a":'.repeat(depth / 2)}${leaf}${'}]'.repeat(depth / 2)}`);
  t.notOk(isDeeperThan(nested(10, '1'), 10));
  t.ok(isDeeperThan(nested(10, '1'), 9));
  t.ok(isDeeperThan(nested(10_000, '9007199254740993'), 500), 'also where a large integer needs the careful parser');
  t.notOk(isDeeperThan(undefined, 0));
  t.notOk(isDeeperThan('x', 0));
});

t.test('a text with numbers that a double holds, and a text that is not JSON, result in the answer of JSON.parse', async (t) => {
  const long = '1234567890123456789';
  for (const text of [`1.${long}`, `1e${long}`, `-0.${long}e-5`, `"${long}"`, `{"${long}":"\\"${long}"}`, '1000000000000000'])
    t.same(parseJson(text), JSON.parse(text), text);
  for (const text of [`{${long}:1}`, `{${long} \n:1}`, `0${long}`, `-`, `[${long}`, `x${long}`, `"a"${long}`, `${long}${long}-`])
    t.throws(() => parseJson(text), SyntaxError, text);
  t.equal(JSON.stringify(parseJson(long)), long);
});

t.test('a long integer below thousands of levels keeps its digits', async (t) => {
  const text = `${'['.repeat(9_000)}9007199254740993${']'.repeat(9_000)}`;
  let value = parseJson(text);
  while (Array.isArray(value)) value = value[0];
  t.equal(JSON.stringify(value), '9007199254740993');
});

t.test('one long integer does not make the parser call a function for each value', async (t) => {
  const text = `[9007199254740993${',1'.repeat(1_000_000)}]`;
  const took = (parse: () => unknown): number => {
    const began = process.threadCpuUsage();
    parse();
    const { user, system } = process.threadCpuUsage(began);
    return user + system;
  };
  const byReviver = took(() => JSON.parse(text, (_key, value) => value));
  t.ok(took(() => parseJson(text)) < byReviver / 2, 'it takes less than half the time of a reviver');
});
