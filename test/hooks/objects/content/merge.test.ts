// The three-way merge as tables: prior -> expected is our change, expected -> live is theirs; undone is prior plus theirs.
import t from 'tap';
import { type ListKinds, listKindsOf } from '../../../../hooks/objects/content/lists.ts';
import { differences, merge } from '../../../../hooks/objects/content/merge.ts';
import { describePath, schemaPath } from '../../../../hooks/objects/content/path.ts';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { entry, fieldsOf, managed, podLists } from '../../../support/managed-fields.ts';
import { json, listed, table } from '../../../support/table.ts';

const list = schemaPath(['f:list']);

function check(text: string, kinds: ListKinds = new Map()): void {
  for (const row of table<'reason' | 'prior' | 'expected' | 'live' | 'restored' | 'ours' | 'theirs'>(text)) {
    t.test(row.reason, async (t) => {
      const merged = merge({ prior: json(row.prior), expected: json(row.expected), live: json(row.live) }, kinds);
      const ours = merged.ours.map(({ path, state }) => `${describePath(path)} ${state}`);
      t.same(ours, listed(row.ours), 'our paths');
      t.same(merged.theirs.map(describePath), listed(row.theirs), 'their paths');
      t.equal(JSON.stringify(merged.restored), JSON.stringify(json(row.restored)), 'restored');
    });
  }
}

check(`
reason                                                  | prior          | expected       | live           | restored       | ours                   | theirs
nothing happened at all                                 | {a:1}          | {a:1}          | {a:1}          | {a:1}          |                        |
our change is there                                     | {a:1}          | {a:2}          | {a:2}          | {a:1}          | a applied              |
our change is not there                                 | {a:1}          | {a:2}          | {a:1}          | {a:1}          | a untouched            |
our field has a third value                             | {a:1}          | {a:2}          | {a:3}          | {a:3}          | a foreign              | a
our field was removed by others                         | {a:1,b:1}      | {a:2,b:1}      | {b:1}          | {b:1}          | a foreign              | a
a field that we added                                   | {}             | {a:1}          | {a:1}          | {}             | a applied              |
a PUT that only removes fields                          | {a:1,b:2}      | {a:1}          | {a:1}          | {a:1,b:2}      | b applied              |
what we removed is back with another value              | {a:1}          | {}             | {a:2}          | {a:2}          | a foreign              | a
what we removed is back as it was                       | {a:1}          | {}             | {a:1}          | {a:1}          | a untouched            |
their field stays beside ours                           | {a:1}          | {a:2}          | {a:2,b:9}      | {a:1,b:9}      | a applied              | b
what they removed stays away                            | {a:1,b:1}      | {a:2,b:1}      | {a:2}          | {a:1}          | a applied              | b
their deep edit is told at its depth                    | {a:1,b:{c:1}}  | {a:2,b:{c:1}}  | {a:2,b:{c:2}}  | {a:1,b:{c:2}}  | a applied              | b.c
half of our change was taken back by others             | {a:1,b:1}      | {a:2,b:2}      | {a:2,b:1}      | {a:1,b:1}      | a applied, b untouched |
a scalar that we made a map of                          | {a:1}          | {a:{b:1}}      | {a:{b:1}}      | {a:1}          | a applied              |
a map that others made a scalar of                      | {a:{b:1}}      | {a:{b:2}}      | {a:5}          | {a:5}          | a foreign              | a
a created object is ours in all its fields              |                | {a:1,b:{c:1}}  | {a:1,b:{c:1}}  |                | a applied, b.c applied |
a created object to which others have added             |                | {a:1}          | {a:1,b:1}      | {b:1}          | a applied              | b
a deleted object                                        | {a:1}          |                |                | {a:1}          | a applied              |
an object that is gone although we changed it           | {a:1}          | {a:2}          |                |                | a foreign              | a
`);

check(`
reason                                                  | prior          | expected       | live           | restored       | ours                   | theirs
we made an empty map of nothing                         | {}             | {a:{}}         | {a:{}}         | {}             | a applied              |
we made nothing of an empty map                         | {a:{}}         | {}             | {}             | {a:{}}         | a applied              |
we emptied a map                                        | {a:{x:1}}      | {a:{}}         | {a:{}}         | {a:{x:1}}      | a.x applied            |
we filled an empty map                                  | {a:{}}         | {a:{x:1}}      | {a:{x:1}}      | {a:{}}         | a.x applied            |
we made a map of nothing                                | {}             | {a:{x:1}}      | {a:{x:1}}      | {}             | a.x applied            |
we made nothing of a map                                | {a:{x:1}}      | {}             | {}             | {a:{x:1}}      | a.x applied            |
we made a map of nothing, others added to it            | {}             | {a:{x:1}}      | {a:{x:1,y:2}}  | {a:{y:2}}      | a.x applied            | a.y
we made an empty map of nothing, others filled it       | {}             | {a:{}}         | {a:{y:2}}      | {a:{y:2}}      |                        | a.y
we made a map of nothing, others removed it whole       | {}             | {a:{x:1}}      | {}             | {}             | a.x untouched          |
we made a map of nothing, others emptied it             | {}             | {a:{x:1}}      | {a:{}}         | {}             | a.x untouched          |
null is a value                                         | {a:null}       | {}             | {}             | {a:null}       | a applied              |
null is not an empty map                                | {a:null}       | {a:{}}         | {a:{}}         | {a:null}       | a applied              |
an empty text is not nothing                            | {a:""}         | {}             | {}             | {a:""}         | a applied              |
false is not nothing                                    | {a:false}      | {}             | {}             | {a:false}      | a applied              |
an empty list is not nothing                            | {a:[]}         | {}             | {}             | {a:[]}         | a applied              |
an empty list is no empty map                           | {a:[]}         | {a:{}}         | {a:{}}         | {a:[]}         | a applied              |
`);

check(
  `
reason                                    | prior                | expected             | live                         | restored                     | ours                     | theirs
we added an item                          | {list:[{name:a}]}    | {list:[{name:a},{name:b}]} | {list:[{name:a},{name:b}]} | {list:[{name:a}]}        | list[name=b] applied     |
we removed an item: it returns to its place | {list:[{name:a},{name:b},{name:c}]} | {list:[{name:a},{name:c}]} | {list:[{name:a},{name:c}]} | {list:[{name:a},{name:b},{name:c}]} | list[name=b] applied |
a foreign item in a list of ours          | {}                   | {list:[{name:a}]}    | {list:[{name:a},{name:b}]}   | {list:[{name:b}]}            | list[name=a] applied     | list[name=b]
a foreign item stays where it was put     | {list:[{name:a},{name:b}]} | {list:[{name:a},{name:b},{name:c}]} | {list:[{name:a},{name:x},{name:b},{name:c}]} | {list:[{name:a},{name:x},{name:b}]} | list[name=c] applied | list[name=x]
a foreign item before all others          | {list:[{name:a}]}    | {list:[{name:a},{name:b}]} | {list:[{name:x},{name:a},{name:b}]} | {list:[{name:x},{name:a}]} | list[name=b] applied | list[name=x]
a foreign field below an item that we added | {list:[]}          | {list:[{name:a}]}    | {list:[{name:a,x:1}]}        | {list:[{name:a,x:1}]}        | list[name=a] foreign     | list[name=a]
a foreign field beside ours in an old item | {list:[{name:a,i:1}]} | {list:[{name:a,i:2}]} | {list:[{name:a,i:2,x:1}]}  | {list:[{name:a,i:1,x:1}]}    | list[name=a].i applied   | list[name=a].x
an item that we changed was removed       | {list:[{name:a,i:1}]} | {list:[{name:a,i:2}]} | {list:[]}                   | {list:[]}                    | list[name=a] foreign     | list[name=a]
an item that we removed is back, with more | {list:[{name:a}]}   | {list:[]}            | {list:[{name:a,x:1}]}        | {list:[{name:a,x:1}]}        | list[name=a] foreign     | list[name=a]
a PUT that only reorders a list           | {list:[{name:a},{name:b},{name:c}]} | {list:[{name:c},{name:a},{name:b}]} | {list:[{name:c},{name:a},{name:b}]} | {list:[{name:a},{name:b},{name:c}]} | list applied |
we reordered, they added                  | {list:[{name:a},{name:b}]} | {list:[{name:b},{name:a}]} | {list:[{name:b},{name:a},{name:x}]} | {list:[{name:a},{name:x},{name:b}]} | list applied | list[name=x]
we reordered, they reordered back         | {list:[{name:a},{name:b}]} | {list:[{name:b},{name:a}]} | {list:[{name:a},{name:b}]} | {list:[{name:a},{name:b}]} | list untouched |
we reordered, they reordered otherwise    | {list:[{name:a},{name:b},{name:c}]} | {list:[{name:c},{name:b},{name:a}]} | {list:[{name:b},{name:c},{name:a}]} | {list:[{name:b},{name:c},{name:a}]} | list foreign | list
we changed an item, they reordered        | {list:[{name:a,i:1},{name:b}]} | {list:[{name:a,i:2},{name:b}]} | {list:[{name:b},{name:a,i:2}]} | {list:[{name:b},{name:a,i:1}]} | list[name=a].i applied | list
one key twice: compared whole             | {list:[{name:a},{name:a}]} | {list:[{name:a},{name:b}]} | {list:[{name:a},{name:b}]} | {list:[{name:a},{name:a}]} | list applied |
one key twice, and a foreign item         | {list:[{name:a},{name:a}]} | {list:[{name:a},{name:b}]} | {list:[{name:a},{name:b},{name:x}]} | {list:[{name:a},{name:b},{name:x}]} | list foreign | list
an item without its key: compared whole   | {list:[{name:a}]}    | {list:[{name:a},{i:1}]} | {list:[{name:a},{i:1}]}   | {list:[{name:a}]}            | list applied             |
an empty list with keys is not nothing    | {list:[]}            | {}                   | {}                           | {list:[]}                    | list applied             |
`,
  new Map([[list, ['name']]]),
);

check(`
reason                                                  | prior          | expected       | live           | restored       | ours                   | theirs
a list without keys is one value                        | {list:[a]}     | {list:[a,b]}   | {list:[a,b]}   | {list:[a]}     | list applied           |
a list without keys in another order                    | {list:[a,b]}   | {list:[b,a]}   | {list:[b,a]}   | {list:[a,b]}   | list applied           |
a foreign item in a list without keys                   | {list:[a]}     | {list:[a,b]}   | {list:[a,b,c]} | {list:[a,b,c]} | list foreign           | list
`);

check(
  `
reason                                                  | prior          | expected       | live           | restored       | ours                   | theirs
we added a member of a set                              | {list:[a]}     | {list:[a,b]}   | {list:[a,b]}   | {list:[a]}     | list["b"] applied      |
a foreign member of a set stays                         | {list:[a]}     | {list:[a,b]}   | {list:[a,b,c]} | {list:[a,c]}   | list["b"] applied      | list["c"]
a finalizer that we added was taken off                 | {}             | {list:[a]}     | {}             | {}             | list["a"] untouched    |
a finalizer of theirs beside one that we removed        | {list:[a,b]}   | {list:[b]}     | {list:[b,c]}   | {list:[a,b,c]} | list["a"] applied      | list["c"]
a member twice: compared whole                          | {list:[a,a]}   | {list:[a]}     | {list:[a]}     | {list:[a,a]}   | list applied           |
`,
  new Map([[list, 'set']]),
);

check(`
reason                                | prior                   | expected                | live                    | restored                | ours             | theirs
Recreate to RollingUpdate and back    | {s:{type:R}}            | {s:{type:U,u:{max:1,min:2}}} | {s:{type:U,u:{max:1,min:2}}} | {s:{type:R}} | s.type applied, s.u.max applied, s.u.min applied |
RollingUpdate to Recreate and back    | {s:{type:U,u:{max:1}}}  | {s:{type:R}}            | {s:{type:R}}            | {s:{type:U,u:{max:1}}}  | s.type applied, s.u.max applied |
a default that came with our strategy was overwritten | {s:{type:R}} | {s:{type:U,u:{max:1}}} | {s:{type:U,u:{max:3}}} | {s:{type:R,u:{max:3}}} | s.type applied, s.u.max foreign | s.u.max
a key named __proto__ is ours         | {data:{}}               | {data:{__proto__:x}}    | {data:{__proto__:x,a:y}} | {data:{a:y}}           | data.__proto__ applied | data.a
a key named __proto__ is theirs       | {a:1}                   | {a:2}                   | {a:2,__proto__:{b:1}}   | {a:1,__proto__:{b:1}}   | a applied        | __proto__.b
a key named constructor               | {}                      | {constructor:1}         | {constructor:1}         | {}                      | constructor applied |
large integers differ in a digit      | {a:9007199254740993}    | {a:9007199254740995}    | {a:9007199254740995}    | {a:9007199254740993}    | a applied        |
a large integer is foreign by a digit | {a:9007199254740993}    | {a:9007199254740995}    | {a:9007199254740997}    | {a:9007199254740997}    | a foreign        | a
a large integer of theirs stays       | {a:1,b:1}               | {a:2,b:1}               | {a:2,b:9007199254740993} | {a:1,b:9007199254740993} | a applied      | b
`);

t.test('a foreign env var under a container of ours is a conflict, under another one it stays', async (t) => {
  const pod = (web: JsonObject, side?: JsonObject): JsonObject => ({
    spec: { containers: [{ name: 'web', ...web }, ...(side === undefined ? [] : [{ name: 'side', ...side }])] },
  });
  const kinds = (live: JsonObject): ListKinds => listKindsOf(managed(live, entry('kubectl', fieldsOf(live, podLists('')))));
  const env = [{ name: 'X', value: '1' }];
  const [prior, expected] = [pod({ image: 'a' }), pod({ image: 'b' }, { image: 's' })];
  const below = pod({ image: 'b' }, { image: 's', env });
  const conflicting = merge({ prior, expected, live: below }, kinds(below)).ours.filter(({ state }) => state === 'foreign');
  t.same(
    conflicting.map(({ path }) => describePath(path)),
    ['spec.containers[name=side]'],
  );
  const beside = pod({ image: 'b', env }, { image: 's' });
  const kept = merge({ prior, expected, live: beside }, kinds(beside));
  t.ok(kept.ours.every(({ state }) => state === 'applied'));
  t.same(kept.restored, pod({ image: 'a', env }));
});

t.test('differences are the paths of a change', async (t) => {
  const paths = differences({ a: 1, b: { c: 1 }, d: [] }, { b: { c: 2 }, d: [], e: {} }, new Map());
  t.same(paths.map(describePath), ['a', 'b.c', 'e']);
  t.same(differences(undefined, undefined, new Map()), []);
});
