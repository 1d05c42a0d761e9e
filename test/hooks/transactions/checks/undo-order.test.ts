// Which change an undo takes back next if objects need each other, and which objects stay beside an object that stays.
import t from 'tap';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { neededByKept, undoOrder } from '../../../../hooks/transactions/checks/undo-order.ts';
import type { SnapshotEntry } from '../../../../hooks/transactions/model/entry.ts';
import { type Item, nextToUndo, type Progress } from '../../../../hooks/transactions/model/item.ts';
import { configMaps as resource } from '../../../../hooks/transactions/writes/resources.ts';
import { listed, table } from '../../../support/table.ts';

/** `Create a: b c`: a change of the ConfigMap a, which needs b and c. */
function entry(text: string, index: number): SnapshotEntry {
  const [, way = '', name = '', needed = ''] = /^(\S+) (\w+)(?:: (.*))?$/.exec(text) ?? [];
  const target = { apiVersion: 'v1', kind: 'ConfigMap', name, namespace: 'shop' };
  const owners = needed.split(' ').map((owner) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid: owner }));
  const expected: JsonObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ownerReferences: owners } };
  const recreates = way === 'Recreate' ? { recreates: true as const } : {};
  const type = way === 'Recreate' ? 'Update' : (way as 'Create');
  return { index, type, target, resource, approximate: false, ...(way === 'Delete' ? {} : { expected }), ...recreates };
}

/** `applied`, `waits`, `restored`, `left`, `half`: left between the halves of a recreation. */
function item(word: string): Item {
  const applied = word !== 'half';
  const kinds: Readonly<Record<string, Progress>> = {
    waits: { kind: 'applied' },
    restored: { kind: 'restored', applied },
    left: { kind: 'notRestored', applied },
    half: { kind: 'notRestored', applied },
  };
  const progress = kinds[word] ?? { kind: word as 'applied' };
  return { progress, ...(word === 'waits' ? { waiting: 'for something' } : {}), ...(applied ? {} : { deleted: true as const }) };
}

const rows = table<'what' | 'changes' | 'items' | 'next' | 'kept'>(`
what                                                    | changes                                       | items                    | next | kept
nothing needs another: the last                         | Create a, Create b, Create c                  | applied applied applied  | c    |
what needs the last comes before it                     | Create a: c, Create b, Create c               | applied applied applied  | b    |
then it                                                 | Create a: c, Create b, Create c               | applied restored applied | a    |
what needs another comes last: nothing changes          | Create a, Create b: a                         | applied applied          | b    |
a chain                                                 | Create a: b, Create b: c, Create c            | applied applied applied  | a    |
a circle: the last                                      | Create a: b, Create b: a                      | applied applied          | b    |
what hangs on a circle                                  | Create a: b, Create b: c, Create c: b, Create d: a | applied applied applied applied | d |
one that waits holds up what it needs                   | Create a, Create b: a, Create c               | applied waits restored   | b    |
and nothing else                                        | Create a, Create b: a, Create c               | applied waits applied    | c    |
one that waits does not hold up what is changed back    | Update a, Create b: a, Create c               | applied waits restored   | a    |
which comes after one that does not wait                | Create b: a, Update a                         | applied applied          | b    |
one that waits holds up what was recreated              | Recreate a, Create b: a                       | applied waits            | b    |
what was deleted is recreated in its turn               | Create b: a, Delete a                         | applied applied          | a    |
what was deleted needs nothing                          | Delete b: a, Create a                         | applied applied          | a    |
what is left needs it                                   | Create a, Create b: a                         | applied left             | a    | b
what is left needs another                              | Create a, Create b: c, Create c               | applied left restored    | a    |
what is left needs it through another                   | Create a, Create b: a, Create c: b            | applied applied left     | b    | c
and then that one                                       | Create a, Create b: a, Create c: b            | applied left left        | a    | b
but not through what has been undone                    | Create a, Create b: a, Create c: b            | applied restored left    | a    |
what has been undone needs nothing                      | Create a, Create b: a                         | applied restored         | a    |
what was left when it was deleted and not created again | Create a, Recreate b: a                       | applied half             | a    |
`);

for (const row of rows)
  t.test(row.what, async (t) => {
    const entries = listed(row.changes).map(entry);
    const items = row.items.split(' ').map(item);
    const next = entries[nextToUndo(items, 0, undoOrder(entries))];
    t.equal(next?.target.name, row.next);
    t.equal(next && (neededByKept(items, entries, next)?.target.name ?? ''), row.kept);
  });

t.test('if all items wait, each item that no other item delays has its turn', async (t) => {
  const entries = ['Create a', 'Create b: a', 'Create c'].map(entry);
  const items = ['waits', 'waits', 'waits'].map(item);
  const order = undoOrder(entries);
  t.same(
    [0, 1, 2, 3].map((waits) => nextToUndo(items, waits, order)),
    [2, 1, 2, 1],
  );
});

t.test('many that need each other have few orders', async (t) => {
  const names = Array.from({ length: 500 }, (_, index) => `n${index}`);
  const entries = names.map((name, index) => entry(`Create ${name}: ${names.slice(0, 60).join(' ')}`, index));
  const order = undoOrder(entries);
  t.ok(order.size <= 60);
});
