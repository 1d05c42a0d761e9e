// Progress of a change between the wire and the engine: strict, in both directions.
import fc from 'fast-check';
import t from 'tap';
import type { Json, JsonObject } from '../../../../hooks/objects/json.ts';
import { decodeItem, encodeItem, type Item, type Progress } from '../../../../hooks/transactions/model/item.ts';
import type { Reason } from '../../../../hooks/transactions/model/reason.ts';
import { listed, table } from '../../../support/table.ts';

const wire = table<'progress' | 'flags'>(`
progress          | flags
waiting           |
prepared          | prepared
announced         | prepared, announced
applied           | prepared, announced, committed
restored          | prepared, announced, rolledBack
restored, applied | prepared, announced, committed, rolledBack
notRestored       | prepared, announced, left
notRestored, applied | prepared, announced, committed, left
`);

const flags = ['prepared', 'announced', 'committed', 'rolledBack', 'left'] as const;

function progressOf(text: string): Progress {
  const [kind = '', applied] = listed(text);
  const ends = kind === 'restored' || kind === 'notRestored';
  return ends ? { kind, applied: applied !== undefined } : { kind: kind as 'waiting' };
}

function wireOf(set: readonly string[]): JsonObject {
  return Object.fromEntries(set.map((flag) => [flag, true]));
}

for (const row of wire) {
  t.test(`${row.progress} on the wire`, async (t) => {
    t.same(encodeItem({ progress: progressOf(row.progress) }), wireOf(listed(row.flags)));
    t.same(decodeItem(wireOf(listed(row.flags))), { progress: progressOf(row.progress) });
  });
}

t.test('every other combination of flags is nonsense and refused', async (t) => {
  const known = new Set(wire.map(({ flags: set }) => listed(set).toSorted().join()));
  const all = Array.from({ length: 2 ** flags.length }, (_, bits) => flags.filter((_, bit) => (bits & (1 << bit)) !== 0));
  const refused = all.filter((set) => decodeItem(wireOf(set)) === undefined);
  t.equal(refused.length, all.length - known.size);
  for (const set of refused) t.notOk(known.has(set.toSorted().join()), set.join());
});

const wrong: readonly { reason: string; item: Json | undefined }[] = [
  { reason: 'nothing', item: undefined },
  { reason: 'null', item: null },
  { reason: 'a text', item: 'applied' },
  { reason: 'a list', item: [{}] },
];
for (const { reason, item } of wrong) t.test(`refused: ${reason}`, async (t) => t.equal(decodeItem(item), undefined));

t.test('a flag that is not true is not set; unknown fields are not ours', async (t) => {
  t.same(decodeItem({ prepared: false, committed: 'true', extra: 1 }), { progress: { kind: 'waiting' } });
});

const optional = fc.record(
  {
    error: fc.record({ reason: fc.string().map((text) => text as Reason), message: fc.string() }),
    lockLease: fc.string(),
    uid: fc.string(),
    resourceVersion: fc.string(),
    drift: fc.string(),
    note: fc.string(),
    tookFieldsFrom: fc.array(fc.string()),
    took: fc.record({ count: fc.nat(), texts: fc.array(fc.string()) }),
    disowned: fc.constant(true as const),
    unchanged: fc.constant(true as const),
    deleted: fc.constant(true as const),
  },
  { requiredKeys: [] },
);
const item: fc.Arbitrary<Item> = fc
  .tuple(fc.constantFrom(...wire.map((row) => progressOf(row.progress))), optional)
  .map(([progress, more]) => ({ progress, ...more }));

t.test('the reader returns each item that was written, also through JSON', async () => {
  fc.assert(
    fc.property(item, (one) => {
      const read = decodeItem(JSON.parse(JSON.stringify(encodeItem(one))) as Json);
      return JSON.stringify(encodeItem(read ?? { progress: { kind: 'waiting' } })) === JSON.stringify(encodeItem(one));
    }),
  );
});
