// The objects that the API server may have made from a sent object.
import t from 'tap';
import { mayBecome, withStoredKeys } from '../../../../hooks/objects/content/defaulted.ts';
import { pathText } from '../../../../hooks/objects/content/path.ts';
import type { Json } from '../../../../hooks/objects/json.ts';

t.test('values', (t) => {
  const cases: readonly (readonly [sent: Json | undefined, found: Json | undefined, isPossible: boolean])[] = [
    ['a', 'a', true],
    ['a', 'b', false],
    ['a', undefined, false],
    [undefined, 'a', false],
    [null, undefined, true],
    [null, '', true],
    [null, 'Always', true],
    [[], undefined, true],
    [{ a: [] }, undefined, true],
    ['1024Mi', '1Gi', true],
    [{ port: 80 }, { port: 80, protocol: 'TCP' }, true],
    [{ port: 80, name: null }, { port: 80 }, true],
    [[{ port: 80 }], [{ port: 80, protocol: 'TCP' }], true],
    [[{ port: 80 }], [{ port: 80 }, { port: 81 }], false],
  ];
  for (const [sent, found, isPossible] of cases)
    t.equal(mayBecome(sent, found), isPossible, `${JSON.stringify(sent)} as ${JSON.stringify(found)}`);
  t.end();
});

t.test('keys of list items', (t) => {
  const kinds = new Map<string, readonly string[] | 'set'>([
    [pathText(['f:ports']), ['port', 'protocol']],
    [pathText(['f:groups']), ['name']],
    [pathText(['f:groups', '*', 'f:ports']), ['port', 'protocol']],
    [pathText(['f:tags']), 'set'],
  ]);
  const completed = (sent: Json, found: Json, isOurs = () => true): Json => withStoredKeys(sent, found, { kinds, isOurs });
  const [tcp, udp] = [
    { port: 53, protocol: 'TCP' },
    { port: 53, protocol: 'UDP' },
  ];
  t.same(completed({ ports: [{ port: 53 }] }, { ports: [udp, { port: 54, protocol: 'TCP' }] }), { ports: [udp] });
  t.same(completed({ ports: [{ port: 53 }, udp] }, { ports: [udp, tcp] }), { ports: [tcp, udp] }, 'each is found once');
  t.same(completed({ ports: [{ port: 53, protocol: null }] }, { ports: [tcp] }), { ports: [tcp] }, 'a null is no key');
  t.same(completed({ ports: [{ port: 53 }, { port: 53 }] }, { ports: [tcp] }), {
    ports: [tcp, { port: 53, protocol: null }],
  });
  t.same(
    completed({ ports: [{ port: 53 }] }, { ports: [tcp] }, () => false),
    { ports: [{ port: 53, protocol: null }] },
  );
  t.same(
    completed({ groups: [{ name: 'a', ports: [{ port: 53 }] }] }, { groups: [{ name: 'a', ports: [tcp] }] }),
    { groups: [{ name: 'a', ports: [tcp] }] },
    'within an item',
  );
  const plain = { tags: ['a'], notes: [{ port: 1 }], ports: 'none' };
  t.same(completed(plain, { tags: ['a', 'b'], notes: [{ port: 1, protocol: 'TCP' }], ports: [tcp] }), plain, 'no other value');
  t.end();
});
