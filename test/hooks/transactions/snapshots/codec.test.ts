// The codec packs the states before and after a change, distributes them over ConfigMaps, and detects forged entries.
import fc from 'fast-check';
import t from 'tap';
import { at, equalJson, type JsonObject, parseJson, withPath } from '../../../../hooks/objects/json.ts';
import { isSealed, type SnapshotEntry } from '../../../../hooks/transactions/model/entry.ts';
import {
  digestOf,
  distribute,
  type EncodedEntry,
  largestObject,
  textsOf,
} from '../../../../hooks/transactions/snapshots/chunks.ts';
import {
  contextOf,
  encodeEntry,
  openEntry,
  type Place,
  readEntry,
  textOf,
} from '../../../../hooks/transactions/snapshots/codec.ts';
import { isSnapshotOf, mostParts, partName, partNumber, snapshotNames } from '../../../../hooks/transactions/snapshots/names.ts';
import { configMapsOf, readHead, snapshotFinalizer } from '../../../../hooks/transactions/snapshots/objects.ts';
import { mostBytes } from '../../../../hooks/transactions/snapshots/size.ts';
import { createSealer } from '../../../../server/kubernetes/sealer.ts';
import { change, transactionOf } from '../../../support/transactions.ts';

const packer = createSealer(() => ({ current: 'k', keys: new Map([['k', Buffer.alloc(32, 1)]]) }));
const base = 'one-rollback-x';

const transaction = transactionOf({ changes: [change('Delete', 'a'), change('Patch', 'b')] });
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

function placeOf({ index, target }: SnapshotEntry): Place {
  return { transaction, base, index, target };
}

function encode(entry: SnapshotEntry): string {
  return encodeEntry(entry, { transaction, base }, packer).text;
}

function read(text: string, place: Place, most = mostBytes): SnapshotEntry | undefined {
  const plain = openEntry(text, place, packer, most);
  return plain === undefined ? undefined : readEntry(plain, place)?.entry;
}

function stored(entry: SnapshotEntry): SnapshotEntry | undefined {
  return read(encode(entry), placeOf(entry));
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

t.test('the snapshot seals content that readers of the namespace must not learn', async (t) => {
  const text = (kind: string, namespace: string): string => encode(entryOf(kind, namespace, { data: { a: 'canary' } }));
  t.ok(text('ConfigMap', 'shop').includes('canary'));
  for (const [kind, namespace] of [
    ['Secret', 'shop'],
    ['ConfigMap', 'elsewhere'],
    ['Secret', 'elsewhere'],
  ] as const) {
    t.ok(text(kind, namespace).startsWith('sealed:'));
    t.notOk(text(kind, namespace).includes('canary'), `${kind} in ${namespace}`);
  }
  const thing = { apiVersion: 'v1', kind: 'ClusterThing', name: 'x' };
  const named = { apiVersion: 'example.org/v1', kind: 'Secret', namespace: 'shop', name: 'x' };
  const { changes } = transactionOf({
    changes: [
      change('Patch', 'a'),
      change('Patch', 'b', { content: null, contentFrom: { secretKeyRef: { name: 'b', key: 'c' } } }),
    ],
  });
  const spec = { namespace: 'shop', changes };
  t.ok(isSealed({ index: 0, target: thing }, spec), 'cluster-scoped too');
  t.notOk(isSealed({ index: 0, target: named }, spec), 'a kind that is only named so');
  t.ok(isSealed({ index: 1, target: named }, spec), 'what comes from a Secret');
});

t.test('an entry is read only in its place, and only by its key', async (t) => {
  for (const kind of ['Secret', 'ConfigMap'])
    for (const size of [1, 5_000]) {
      const entry = entryOf(kind, 'shop', { data: { a: 'x'.repeat(size) } });
      const [text, place] = [encode(entry), placeOf(entry)];
      t.ok(read(text, place), `${kind} of ${size}`);
      const more = [...transaction.changes, ...transaction.changes];
      const others: readonly (readonly [string, Partial<Place>])[] = [
        ['index', { index: 1 }],
        ['name', { target: { ...entry.target, name: 'b' } }],
        ['namespace', { target: { ...entry.target, namespace: 'other' } }],
        ['scope', { target: { apiVersion: 'v1', kind, name: 'a' } }],
        ['kind', { target: { ...entry.target, kind: 'Service' } }],
        ['ConfigMap', { base: 'other' }],
        ['Transaction', { transaction: { ...transaction, uid: 'other' } }],
        ['account', { transaction: { ...transaction, serviceAccountName: 'other' } }],
        ['number of changes', { transaction: { ...transaction, changes: more } }],
        ['type', { transaction: transactionOf({ changes: [change('Patch', 'a'), change('Patch', 'b')] }) }],
      ];
      for (const [what, other] of others) t.equal(read(text, { ...place, ...other }), undefined, `another ${what}`);
      const stranger = createSealer(() => ({ current: 'k', keys: new Map([['k', Buffer.alloc(32, 2)]]) }));
      t.equal(openEntry(text, place, stranger, mostBytes), undefined, 'another key');
      t.equal(read(text, place, size), undefined, 'larger than may be');
    }
});

t.test('a plain entry counts only if its tag is authentic', async (t) => {
  const entry = entryOf('ConfigMap', 'shop', { data: { a: '1' } });
  const [place, json] = [placeOf(entry), textOf(entry)];
  const tagged = encode(entry);
  const texts = [
    json,
    `compressed:${packer.compress(json)}`,
    tagged.replace('"a":"1"', '"a":"2"'),
    tagged.replace('plain:', 'compressed:'),
    tagged.replace(/^plain:[^:]*:/, 'plain::'),
    tagged.replace(/^plain:[^:]*:/, 'plain:'),
    `sealed:${packer.seal(json, contextOf('sealed', place))}`,
    ` ${tagged}`,
    '',
    '{',
    'plain:1.k.x:{}',
    'compressed:garbage',
  ];
  for (const text of texts) t.equal(read(text, place), undefined, text.slice(0, 60));
});

t.test('an entry that must be sealed is not read as plain text, also with an authentic tag', async (t) => {
  const entry = entryOf('Secret', 'shop', { data: {} });
  const [place, json] = [placeOf(entry), textOf(entry)];
  t.equal(read(`plain:${packer.tag(json, contextOf('plain', place))}:${json}`, place), undefined);
});

t.test('an authentic entry that is none is refused', async (t) => {
  const entry = entryOf('ConfigMap', 'shop', { data: {} });
  const place = placeOf(entry);
  const tagged = (json: string): string => `plain:${packer.tag(json, contextOf('plain', place))}:${json}`;
  t.ok(read(tagged(textOf(entry)), place));
  const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  t.ok(read(tagged(textOf(entry).replace('{"data":{}}', deep(500))), place), 'as deep as an object may be');
  const wrong = [
    '',
    'null',
    '1',
    '[]',
    '{}',
    ...[{ index: 1 }, { type: 'Patch' }, { target: {} }, { resource: {} }, { resource: { ...resource, plural: 1 } }].map(
      (other) => textOf({ ...entry, ...other } as unknown as SnapshotEntry),
    ),
    ...[{ group: 'apps' }, { version: 'v2' }, { kind: 'Secret' }, { namespaced: false }].map((other) =>
      textOf({ ...entry, resource: { ...resource, ...other } } as unknown as SnapshotEntry),
    ),
    textOf(entry).replace('\n', ''),
    `${textOf(entry)}\n`,
    textOf(entry).replace('{"data":{}}', '[]'),
    ...[501, 2_000, 20_000].map((levels) => textOf(entry).replace('{"data":{}}', deep(levels))),
  ];
  for (const json of wrong) t.equal(read(tagged(json), place), undefined, json.slice(0, 200));
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
  const maps = configMapsOf(transaction, base, [[['0.a', 'x']], [['1.b', 'y']]], packer);
  t.same(
    maps.map((map) => at(map, 'metadata', 'name')),
    [base, `${base}-1`],
  );
  for (const map of maps)
    t.match(map, { immutable: true, metadata: { finalizers: [snapshotFinalizer], ownerReferences: [{ uid: transaction.uid }] } });
  t.ok(equalJson(maps[1]?.data, { '1.b': 'y' }));
  const [first = {}] = maps;
  t.same(readHead(first, transaction, base, packer), { parts: 2, digest: digestOf(maps.map((map) => at(map, 'data') ?? {})) });
});

t.test('the head in the first ConfigMap counts only if it is authentic', async (t) => {
  const [first = {}] = configMapsOf(transaction, base, [[['0.a', 'x']], [['1.b', 'y']]], packer);
  const edited = (key: string, value: string): JsonObject => withPath(first, ['metadata', 'annotations', key], value);
  t.equal(readHead({}, transaction, base, packer), undefined);
  for (const parts of ['', '0', '1', '3', '65', '1000', '1e9', '2.5', '-2', 'NaN', 'Infinity'])
    t.equal(readHead(edited('tx.janus.io/parts', parts), transaction, base, packer), undefined, `${parts} parts`);
  t.equal(readHead(edited('tx.janus.io/digest', '0'.repeat(64)), transaction, base, packer), undefined);
  t.equal(readHead(edited('tx.janus.io/tag', '1.k.x'), transaction, base, packer), undefined);
  t.equal(readHead(first, transaction, 'other', packer), undefined);
  t.equal(readHead(first, { ...transaction, uid: 'other' }, base, packer), undefined);
  const edits = transaction.specDigest.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  t.equal(readHead(first, { ...transaction, specDigest: edits }, base, packer), undefined, 'a snapshot for another spec');
});

const owner = { namespace: 'shop', name: 'one', uid: '0a1b2c3d-1' };

t.test('names fit, and no other Transaction can compute them', async (t) => {
  t.match(snapshotNames(owner, packer), [/^one-rollback-[0-9a-f]{20}$/]);
  const stranger = createSealer(() => ({ current: 'k', keys: new Map([['k', Buffer.alloc(32, 2)]]) }));
  const all = [owner, { ...owner, uid: 'x' }, { ...owner, namespace: 'x' }, { ...owner, name: 'one-x' }];
  const names = [...all.map((one) => snapshotNames(one, packer)[0]), snapshotNames(owner, stranger)[0]];
  t.equal(new Set(names.map((name) => name.split('-').at(-1))).size, names.length, 'one for each Transaction and key');
  for (const name of ['x'.repeat(253), `${'x'.repeat(219)}.y`, `${'x'.repeat(218)}-.-y`]) {
    const [found] = snapshotNames({ ...owner, name }, packer);
    t.ok(partName(found, mostParts - 1).length <= 253);
    t.match(found, /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, 'a valid name');
  }
});

t.test('a ConfigMap is ours by its name alone', async (t) => {
  const [name] = snapshotNames(owner, packer);
  const named = (one: string, more: JsonObject = {}): JsonObject => ({ metadata: { namespace: 'shop', name: one, ...more } });
  const isOurs = (map: JsonObject): boolean => isSnapshotOf(map, owner, packer);
  for (const one of [name, `${name}-1`, `${name}-63`]) t.ok(isOurs(named(one)), one);
  for (const one of [`${name}-0`, `${name}-64`, `${name}-01`, `${name}-1-1`, `${name}x`, `${name}-`, 'one-rollback', 'mine'])
    t.notOk(isOurs(named(one)), one);
  t.notOk(isOurs(named(name, { namespace: 'other' })));
  t.same([partNumber(`${name}-7`, name), partNumber('x', name)], [7, undefined]);
  const claims = {
    labels: { 'tx.janus.io/transaction-uid': owner.uid },
    ownerReferences: [{ uid: owner.uid }],
    finalizers: [snapshotFinalizer],
  };
  for (const one of ['one-rollback', 'one-0a1b2c3d-rollback-1', 'mine'])
    t.notOk(isOurs(named(one, claims)), `${one}, with our marks`);
  const ref = { name: 'one-rollback-of-a-key-that-is-gone' };
  t.ok(isSnapshotOf(named(ref.name), owner, packer, ref), 'what the status names');
  t.notOk(isSnapshotOf(named('mine'), owner, packer, { name: 'mine' }), 'but no other name');
});
