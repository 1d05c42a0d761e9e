// What is stored of the states before and after: packed, distributed, told apart from anything else.
import fc from 'fast-check';
import t from 'tap';
import { at, equalJson, type JsonObject, parseJson } from '../../../hooks/model/json.ts';
import { digestOf, distribute, type EncodedEntry, largestObject, textsOf } from '../../../hooks/model/pieces.ts';
import {
  configMapsOf,
  decodeEntry,
  encodeEntry,
  isSealed,
  isSnapshotOf,
  type Packer,
  partsOfSnapshot,
  type SnapshotEntry,
  snapshotFinalizer,
  snapshotNames,
} from '../../../hooks/model/snapshot.ts';
import { transactionOf } from '../../support/transactions.ts';

/** Packs so that it can be seen: sealed text opens only in its context. */
const packer: Packer = {
  compress: (text) => `z${text}`,
  expand: (text) => (text.startsWith('z') ? text.slice(1) : undefined),
  seal: (text, context) => Buffer.from(JSON.stringify([context, text])).toString('base64'),
  open: (sealed, context) => {
    const [bound, text] = JSON.parse(Buffer.from(sealed, 'base64').toString()) as readonly [string, string];
    return bound === context ? text : undefined;
  },
};

const transaction = transactionOf();
const resource = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
  statusSubresource: false,
};

function entryOf(kind: string, namespace: string, prior: JsonObject, index = 0): SnapshotEntry {
  const target = { apiVersion: 'v1', kind, namespace, name: 'a' };
  return { index, type: 'Delete', target, resource: { ...resource, kind }, prior, approximate: false };
}

function stored(entry: SnapshotEntry): SnapshotEntry | undefined {
  const { text } = encodeEntry(entry, transaction, packer);
  return decodeEntry(text, entry.index, entry.target, { uid: transaction.uid, packer });
}

const states = [
  ['an ordinary object', '{"data":{"a":"1"}}'],
  ['a key named __proto__', '{"data":{"__proto__":"x","constructor":"y"}}'],
  ['integers above 2^53', '{"spec":{"a":9007199254740993,"b":[9223372036854775807]}}'],
  ['empty and null', '{"a":{},"b":[],"c":"","d":null}'],
  ['a large object', `{"data":{"a":"${'x'.repeat(5_000)}"}}`],
] as const;
for (const [reason, text] of states) {
  t.test(`stored and read: ${reason}`, async (t) => {
    for (const [kind, namespace] of [
      ['ConfigMap', 'shop'],
      ['Secret', 'shop'],
      ['ConfigMap', 'elsewhere'],
    ] as const) {
      const read = stored(entryOf(kind, namespace, parseJson(text) as JsonObject));
      t.equal(JSON.stringify(read?.prior), text, `${kind} in ${namespace}`);
    }
  });
}

t.test('absent is not empty', async (t) => {
  t.notOk('expected' in (stored(entryOf('ConfigMap', 'shop', {})) ?? {}));
  t.same(stored(entryOf('ConfigMap', 'shop', {}))?.prior, {});
});

t.test('what readers of the namespace must not learn is sealed', async (t) => {
  const text = (kind: string, namespace: string): string =>
    encodeEntry(entryOf(kind, namespace, { data: { a: 'canary' } }), transaction, packer).text;
  t.ok(text('ConfigMap', 'shop').includes('canary'));
  for (const [kind, namespace] of [
    ['Secret', 'shop'],
    ['ConfigMap', 'elsewhere'],
    ['Secret', 'elsewhere'],
  ] as const) {
    t.ok(text(kind, namespace).startsWith('sealed:'));
    t.notOk(text(kind, namespace).includes('canary'), `${kind} in ${namespace}`);
  }
  t.ok(isSealed({ apiVersion: 'v1', kind: 'ClusterThing', name: 'x' }, 'shop'), 'cluster-scoped too');
  t.notOk(
    isSealed({ apiVersion: 'example.org/v1', kind: 'Secret', namespace: 'shop', name: 'x' }, 'shop'),
    'a kind that is only named so',
  );
});

t.test('an entry is read only where it belongs', async (t) => {
  const entry = entryOf('Secret', 'shop', { data: {} });
  const { text } = encodeEntry(entry, transaction, packer);
  const context = { uid: transaction.uid, packer };
  t.ok(decodeEntry(text, 0, entry.target, context));
  t.equal(decodeEntry(text, 1, entry.target, context), undefined, 'another index');
  t.equal(decodeEntry(text, 0, { ...entry.target, name: 'b' }, context), undefined, 'another target');
  const open = entryOf('ConfigMap', 'shop', { data: {} });
  const { text: readable } = encodeEntry(open, transaction, packer);
  t.ok(decodeEntry(readable, 0, open.target, context));
  t.equal(decodeEntry(readable, 0, { ...open.target, name: 'b' }, context), undefined, 'another target, not sealed');
  t.equal(decodeEntry(text, 0, entry.target, { ...context, uid: 'other' }), undefined, 'another Transaction');
  for (const garbage of [
    '',
    '{',
    '[]',
    '{}',
    'compressed:garbage',
    '{"index":0}',
    '{"index":0,"resource":{}}',
    '{"index":0,"resource":{},"target":{}}',
    'null',
    '1',
  ]) {
    t.equal(decodeEntry(garbage, 0, entry.target, context), undefined, garbage);
  }
});

function encoded(index: number, text: string): EncodedEntry {
  return { index, key: 'ConfigMap_shop_a', text };
}

t.test('entries are distributed over as many ConfigMaps as it takes, and put together again', async (t) => {
  const parts = (...sizes: readonly number[]): number =>
    distribute(sizes.map((size, index) => encoded(index, 'x'.repeat(size)))).length;
  t.equal(parts(), 1);
  t.equal(parts(10, 10), 1);
  t.equal(parts(700_000, 700_000, 100_000), 2);
  t.equal(parts(2_000_000), 3, 'what is too large for one goes on in the next');
  const long = distribute([encoded(0, 'ü'.repeat(1_000_000))]).map((part) => Object.fromEntries(part));
  t.equal(textsOf(long).get(0), 'ü'.repeat(1_000_000), 'bytes count, not characters');
});

t.test('distribution keeps every entry, and no ConfigMap is too large', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('x', 'ü'), fc.integer({ min: 0, max: 900_000 })), { maxLength: 12 }),
      (parts) => {
        const entries = parts.map(([letter, size], index) => encoded(index, `${index}${letter.repeat(size)}`));
        const data = distribute(entries).map((part) => Object.fromEntries(part));
        const bytes = data.map((part) =>
          Object.entries(part).reduce((sum, [key, value]) => sum + key.length + Buffer.byteLength(value), 0),
        );
        const texts = textsOf(data.toReversed());
        return bytes.every((size) => size <= largestObject) && entries.every(({ index, text }) => texts.get(index) === text);
      },
    ),
    { numRuns: 30 },
  );
});

t.test('the digest is that of the entries, wherever they lie', async (t) => {
  const [one, two, ten] = [{ '0-0.a': 'x' }, { '1-0.b': 'y' }, { '10-0.c': 'z' }];
  t.equal(digestOf([one, two, ten]), digestOf([{ ...ten, ...two, ...one }]));
  const other = [
    [one, two],
    [one, two, { '10-0.c': 'Z' }],
    [one, two, { '11-0.c': 'z' }],
    [],
    [{ '0-0.a': 'x', '1-0.b': 'yz' }, ten],
    [{ '0-0.ax': '' }, two, ten],
    [{ '0-0.a': '', '0-1.a': 'x' }, two, ten],
  ];
  const digests = other.map((data) => digestOf(data));
  t.equal(new Set([...digests, digestOf([one, two, ten])]).size, other.length + 1);
});

t.test('ConfigMaps of a snapshot', async (t) => {
  const maps = configMapsOf(transaction, 'one-rollback', [[['0.a', 'x']], [['1.b', 'y']]]);
  t.same(
    maps.map((map) => at(map, 'metadata', 'name')),
    ['one-rollback', 'one-rollback-1'],
  );
  for (const map of maps) {
    t.match(map, { immutable: true, metadata: { finalizers: [snapshotFinalizer], ownerReferences: [{ uid: transaction.uid }] } });
    t.ok(isSnapshotOf(map, transaction));
    t.notOk(isSnapshotOf(map, { uid: 'other' }));
  }
  t.equal(partsOfSnapshot(maps[0] ?? {}), 2);
  t.ok(equalJson(maps[1]?.data, { '1.b': 'y' }));
});

t.test('names fit, and the second one is ours alone', async (t) => {
  t.same(snapshotNames({ name: 'one', uid: '0a1b2c3d-1' }), ['one-rollback', 'one-0a1b2c3d-rollback']);
  for (const name of snapshotNames({ name: 'x'.repeat(253), uid: '0a1b2c3d-1' })) t.ok(`${name}-999`.length <= 253);
});
