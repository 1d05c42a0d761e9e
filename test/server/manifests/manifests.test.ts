// One object out of bytes that a stranger stored: the parsed object, the refusals, and the bounds of memory and time.
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { createManifests, type OpenManifests } from '../../../server/manifests/manifests.ts';

const mebibyte = 1024 * 1024;
const most = 2 * mebibyte;

type Limits = Parameters<typeof createManifests>[0];

const requester = { namespace: 'shop', uid: 'one' };
const patience = 60_000;

/** Long enough for any machine. */
const patient: Limits = { limit: 60_000, idle: 60_000 };

function open(t: Test, limits: Limits = patient): OpenManifests {
  const manifests = createManifests(limits);
  t.teardown(() => manifests.close());
  return manifests;
}

async function parsed(manifests: OpenManifests, text: string): Promise<string> {
  const read = await manifests.parse(Buffer.from(text), requester, patience);
  if (read === 'late') return read;
  return read.kind === 'object' ? JSON.stringify(read.object) : read.why;
}

t.test('JSON and YAML become equal objects', async (t) => {
  const manifests = open(t);
  const cases: readonly (readonly [string, string])[] = [
    ['{"a":9007199254740993,"b":[1.5,null,true]}', '{"a":9007199254740993,"b":[1.5,null,true]}'],
    [
      '{"a":{"a":"\\"a\\":1e400","b":{}},"b":[{"a":1},{"a":-1e-400}]}',
      '{"a":{"a":"\\"a\\":1e400","b":{}},"b":[{"a":1},{"a":0}]}',
    ],
    ['{a: 9007199254740993}', '{"a":9007199254740993}'],
    ['a: -9223372036854775808', '{"a":-9223372036854775808}'],
    ['a: 18446744073709551615', '{"a":18446744073709551615}'],
    ['a: 0x20000000000001', '{"a":9007199254740993}'],
    ['a: 0400000000000000001', '{"a":9007199254740993}'],
    ['a: 9_007_199_254_740_993', '{"a":9007199254740993}'],
    ['a: [0o17, 017, 0b11, 08, 1e3, .5, 1.]', '{"a":[15,15,3,8,1000,0.5,1]}'],
    ['a: [1:30, 2001-01-01, "1", 1.2.3]', '{"a":["1:30","2001-01-01","1","1.2.3"]}'],
    ['a: [yes, off, ~, null, NO]', '{"a":[true,false,null,null,false]}'],
    ['---\n# from a chart\na: 1\n---\n', '{"a":1}'],
    ['\uFEFFa: 1', '{"a":1}'],
    ['a: &x {b: 1}\nc: [*x, *x]', '{"a":{"b":1},"c":[{"b":1},{"b":1}]}'],
    ['1: a\ntrue: b', '{"1":"a","true":"b"}'],
    ['__proto__: {x: 1}', '{"__proto__":{"x":1}}'],
    ['{"__proto__":{"x":1}}', '{"__proto__":{"x":1}}'],
  ];
  for (const [text, wanted] of cases) t.equal(await parsed(manifests, text), wanted, text);
  t.equal(({} as Record<string, unknown>).x, undefined);
});

t.test('the parser refuses invalid text without repeating it', async (t) => {
  const manifests = open(t);
  const cases: readonly (readonly [string, RegExp])[] = [
    ['', /^holds no object$/],
    ['[]', /^holds no object$/],
    ['hidden', /^holds no object$/],
    ['hidden: {', /^is not the YAML of objects: line \d$/],
    ['a: 1\n---\nb: hidden', /^holds 2 documents, expected one object$/],
    ['{"a":1}{"b":1}', /^is not the YAML of objects/],
    ['{"a": 1,\n "a": "hidden"}', /^holds a key twice: line 2, column 2$/],
    ['{"a": {"b\\u0061": "}", "ba": "hidden"}}', /^holds a key twice: line 1, column 24$/],
    ['{"a": [{"b": 1}, {"b": 1e400}]}', /^holds a number that is out of range: line 1, column 24$/],
    ['a: 1\na: hidden', /^is not the YAML of objects: line \d/],
    ['1: a\n"1": hidden', /^holds a map with a key twice$/],
    ['a: &x {b: 1}\nc: {<<: *x}', /^merges maps by <<: write them out$/],
    ['[a, b]: hidden', /^holds a key that is no text$/],
    ['a: .inf', /^holds a number that JSON has not$/],
    ['a: !hidden 1', /^is not the YAML of objects/],
    [`${'{"a":'.repeat(600)}1${'}'.repeat(600)}`, /^holds a document of more than 500 levels$/],
    [`a: ${'['.repeat(600)}`, /^is not the YAML of objects/],
    [`{"a":[${'0,'.repeat(300_001)}0]}`, /^holds a document of more than 300000 values$/],
  ];
  for (const [text, wanted] of cases) t.match(await parsed(manifests, text), wanted, text.slice(0, 60));
  t.same(await manifests.parse(Buffer.from([0x61, 0xff]), requester, patience), { kind: 'unreadable', why: 'is not UTF-8' });
});

t.test('the parser unpacks gzip within bounds', async (t) => {
  const { unpack } = open(t);
  const bytes = Buffer.from('a: 1');
  const broken = { kind: 'unreadable', why: 'is not gzip, or is cut' };
  t.same(await unpack(bytes, most), { kind: 'bytes', bytes });
  t.same(await unpack(gzipSync(bytes), most), { kind: 'bytes', bytes });
  t.same(await unpack(gzipSync(Buffer.alloc(most)), most), { kind: 'bytes', bytes: Buffer.alloc(most) });
  t.same(await unpack(gzipSync(Buffer.alloc(64 * mebibyte)), most), {
    kind: 'unreadable',
    why: 'unpacks to more than 2097152 bytes, the maximum',
  });
  t.same(await unpack(Buffer.alloc(most + 1), most), { kind: 'unreadable', why: 'holds more than 2097152 bytes, the maximum' });
  t.same(await unpack(gzipSync(bytes).subarray(0, 10), most), broken);
  t.same(await unpack(Buffer.from([0x1f, 0x8b, 1, 2, 3]), most), broken);
});

const filled = (text: string): string => text.repeat(Math.floor(most / text.length) - 10);

/** What doubles: nine aliases of nine aliases, and so on. */
function bomb(first: string): string {
  const levels = 'bcdefghij'.split('').map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghi'[at]}`).join(',')}]`);
  return [`a: &a ${first}`, ...levels].join('\n');
}

t.test('bombs take bounded memory, and a thread of their own', async (t) => {
  const manifests = open(t);
  t.equal(await parsed(manifests, bomb('[x,x,x,x,x,x,x,x,x]')), 'holds a document of more than 300000 values');
  const long = `a: &a ${'x'.repeat(mebibyte)}\nb: [*a,*a,*a]`;
  t.equal(await parsed(manifests, long), 'holds a document of more than 3145728 characters');
  for (const text of [`a: [${filled('[],')}]`, `a: [${filled('{},')}]`, `a:\n${filled(' - *a\n')}`, filled('---\n')])
    t.match(await parsed(manifests, text), /^(takes too much memory to read|holds |is not the YAML)/, text.slice(0, 20));
  t.equal(await parsed(manifests, 'a: 1'), '{"a":1}', 'the next one is read');
});

t.test('the parser ends a slow text, and reads the next one', async (t) => {
  const manifests = open(t, { limit: 100, idle: 60_000 });
  await parsed(manifests, 'a: 1');
  const [slow, next] = await Promise.all([parsed(manifests, `a: |\n${filled(' \r')}`), parsed(manifests, 'a: 2')]);
  t.equal(slow, 'takes longer than 100 ms to read');
  t.equal(next, '{"a":2}');
});

t.test('2 MiB of an ordinary manifest are no bomb', async (t) => {
  const manifests = open(t);
  const property = (index: number): string =>
    `      field${index}:\n        description: Some words about the field, as in a CRD.\n        type: string\n        maxLength: ${index}\n`;
  const text = `spec:\n  schema:\n    properties:\n${Array.from({ length: 16_000 }, (_, index) => property(index)).join('')}`;
  t.ok(text.length > 1.9 * mebibyte && text.length < most, `${text.length} characters`);
  const read = await manifests.parse(Buffer.from(text), requester, patience);
  t.match(read, { kind: 'object', values: 64_004 });
});
