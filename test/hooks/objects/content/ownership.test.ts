// Who owns what after an undo, as tables. Letters are fields of `data`; `kubectl:ab argo@:c` are an Update entry and an Apply one.
import t from 'tap';
import { managersOf } from '../../../../hooks/objects/content/fields.ts';
import { listKindsOf } from '../../../../hooks/objects/content/lists.ts';
import { losers } from '../../../../hooks/objects/content/losers.ts';
import { withoutLaterOwners } from '../../../../hooks/objects/content/overwritten.ts';
import {
  hasManager,
  isTerminating,
  newOwners,
  ownedBy,
  restoredManagers,
  withOwnersOf,
} from '../../../../hooks/objects/content/ownership.ts';
import { describePath, pathOf } from '../../../../hooks/objects/content/path.ts';
import { type JsonObject, objectsAt } from '../../../../hooks/objects/json.ts';
import { entry, managed } from '../../../support/managed-fields.ts';
import { json, listed, table } from '../../../support/table.ts';

const ours = ['janus', 'restore'];

function entryOf(text: string): JsonObject {
  const [, manager = '', apply, subresource, fields = ''] = /^([\w-]+)(@)?(\/\w+)?:(\w*)$/.exec(text) ?? [];
  const below = Object.fromEntries([...fields].map((letter) => [`f:${letter}`, {}]));
  return entry(
    manager,
    { 'f:data': below },
    { ...(apply ? { operation: 'Apply' } : {}), ...(subresource ? { subresource: subresource.slice(1) } : {}) },
  );
}

function object(data: string, managers: string): JsonObject {
  const entries = managers === '' ? [] : managers.split(' ').map(entryOf);
  return managed({ metadata: {}, data: json(`{${data}}`) ?? {} }, ...entries);
}

function told(entries: readonly JsonObject[]): string {
  const managers = managersOf(managed({}, ...entries)).map(({ name, operation, subresource, fields }) => {
    const letters = [...fields].map((text) => pathOf(text).at(-1)?.slice(2)).sort();
    return `${name}${operation === 'Apply' ? '@' : ''}${subresource === '' ? '' : '/status'}:${letters.join('')}`;
  });
  return managers.sort().join(' ');
}

const restored = table<'reason' | 'before' | 'beforeBy' | 'afterBy' | 'live' | 'liveBy' | 'result'>(`
reason                                                | before        | beforeBy       | afterBy              | live          | liveBy                             | result
untouched by others: all goes back                    | a:1,b:1       | kubectl:ab     | kubectl:b janus@:a   | a:1,b:1       | kubectl:b janus@:a restore:a       | kubectl:ab
we took from two                                      | a:1,b:1       | kubectl:a argo@:b | janus@:ab         | a:1,b:1       | janus@:ab restore:ab               | argo@:b kubectl:a
we shared: nobody lost anything                       | a:1           | argo@:a        | argo@:a janus@:a     | a:1           | argo@:a janus@:a                   | argo@:a
a field that we added has no former owner             | a:1           | kubectl:a      | kubectl:a janus@:b   | a:1           | kubectl:a janus@:b                 | kubectl:a
a field that we removed                               | a:1,b:1       | kubectl:ab     | kubectl:a            | a:1,b:1       | kubectl:a restore:b                | kubectl:ab
an entry of others since stays                        | a:1           | kubectl:a      | janus@:a             | a:1,x:1       | janus@:a hpa:x restore:a           | hpa:x kubectl:a
others have written what we took: it is theirs        | a:1           | kubectl:a      | janus@:a             | a:9           | hpa:a                              | hpa:a
others have written it with the old value: both       | a:1           | kubectl:a      | janus@:a             | a:1           | hpa:a                              | hpa:a kubectl:a
a former owner has written something else since       | a:1           | kubectl:a      | janus@:a             | a:1,b:1       | janus@:a kubectl:b restore:a       | kubectl:ab
a former owner gave up another field since            | a:1,b:1       | kubectl:ab     | kubectl:b janus@:a   | a:1           | janus@:a restore:a                 | kubectl:a
what they removed is nobody's                         | a:1,b:1       | kubectl:ab     | janus@:ab            | a:1           | janus@:a restore:a                 | kubectl:a
a status entry is left alone                          | a:1           | kubectl:a ctl/status:s | janus@:a ctl/status:s | a:1  | janus@:a ctl/status:st restore:a   | ctl/status:st kubectl:a
Update and Apply of one name are two                  | a:1,b:1       | argo@:a argo:b | argo:b janus@:a      | a:1,b:1       | argo:b janus@:a restore:a          | argo:b argo@:a
our entries alone: none is left                       | a:1           |                | janus@:a             | a:1           | janus@:a restore:a                 |
only the restore entry is ours: half restored         | a:1           | kubectl:a      | janus@:a             | a:1           | restore:a                          | kubectl:a
folded into ancient changes: it goes back             | a:1,b:1       | old:a kubectl:b | old:a kubectl:b janus@:c | a:1,b:1   | ancient-changes:a kubectl:b restore:c | kubectl:b old:a
what the API server made up at our first apply goes   | a:1           |                | before-first-apply:a janus@:b | a:1  | before-first-apply:a janus@:b restore:b |
and what others own beside it stays                   | a:1           |                | before-first-apply:a janus@:b | a:1,x:1 | before-first-apply:a janus@:b hpa:x restore:b | hpa:x
it was there before: it stays                         | a:1           | before-first-apply:a | before-first-apply:a janus@:b | a:1 | before-first-apply:a janus@:b restore:b | before-first-apply:a
ancient changes from before stay                      | a:1,b:1       | ancient-changes:a kubectl:b | ancient-changes:a kubectl:b janus@:c | a:1,b:1 | ancient-changes:a kubectl:b restore:c | ancient-changes:a kubectl:b
`);

for (const row of restored) {
  t.test(`restored: ${row.reason}`, async (t) => {
    const prior = object(row.before, row.beforeBy);
    const expected = object('', row.afterBy);
    const live = object(row.live, row.liveBy);
    const result = restoredManagers({ prior, expected, live }, listKindsOf(prior, live), ours);
    t.equal(told(result).replace(/^:$/, ''), row.result);
  });
}

t.test('none left is one empty entry: an empty list would mean "leave them alone"', async (t) => {
  const live = object('a:1', 'janus@:a');
  t.same(restoredManagers({ prior: object('a:1', ''), expected: live, live }, new Map(), ours), [{}]);
});

t.test('an entry that is as before has its time, a changed one that of its last change', async (t) => {
  const [before, later] = ['2026-01-01T00:00:00Z', '2026-02-02T00:00:00Z'];
  const prior = managed({ data: { a: 1 } }, entry('kubectl', { 'f:data': { 'f:a': {} } }, { time: before }));
  const expected = managed({ data: { a: 2 } }, entry('janus', { 'f:data': { 'f:a': {} } }, { time: later }));
  t.same(restoredManagers({ prior, expected, live: expected }, new Map(), ours), [{}], 'the value is still ours: nobody gets it');
  const back = managed({ data: { a: 1 } }, entry('janus', { 'f:data': { 'f:a': {} } }, { time: later }));
  t.match(restoredManagers({ prior, expected, live: back }, new Map(), ours), [{ manager: 'kubectl', time: before }]);
});

t.test('containers of lists go back as such, their members one by one', async (t) => {
  const item = (fields: JsonObject): JsonObject => ({ 'f:list': { 'k:{"name":"x"}': { '.': {}, ...fields } } });
  const prior = managed({ list: [{ name: 'x', i: 1 }] }, entry('kubectl', item({ 'f:i': {}, 'f:name': {} })));
  const taken = entry('janus', item({ 'f:i': {}, 'f:name': {} }), { operation: 'Apply' });
  const kinds = listKindsOf(prior);
  const same = managed({ list: [{ name: 'x', i: 1 }] }, taken);
  t.match(restoredManagers({ prior, expected: managed({}, taken), live: same }, kinds, ours), [
    { manager: 'kubectl', fieldsV1: item({ 'f:i': {}, 'f:name': {} }) },
  ]);
  const edited = managed({ list: [{ name: 'x', i: 9 }] }, taken);
  t.match(
    restoredManagers({ prior, expected: managed({}, taken), live: edited }, kinds, ours).map(({ fieldsV1 }) => fieldsV1),
    [item({ 'f:name': {} })],
    'the edited member is not given back',
  );
});

const owners = table<'reason' | 'after' | 'live' | 'paths' | 'taken'>(`
reason                                       | after               | live                         | paths | taken
nobody came                                  | janus@:a            | janus@:a                     | a     |
a new co-owner of a path of ours             | janus@:a            | janus@:a argo@:a             | a     | data.a by argo
a co-owner that was there before             | janus@:a argo@:a    | janus@:a argo@:a             | a     |
an old manager gained our path               | janus@:a argo@:b    | janus@:a argo@:ab            | a     | data.a by argo
a new manager elsewhere                      | janus@:a            | janus@:a hpa:b               | a     |
through the status subresource               | janus@:a            | janus@:a ctl/status:a        | a     |
through another subresource                  | janus@:a            | janus@:a hpa/scale:a         | a     | data.a by hpa
old entries that were folded together        | janus@:a            | janus@:a ancient-changes:a   | a     |
our own second entry                         | janus@:a            | janus@:a restore:a           | a     |
`);

for (const row of owners) {
  t.test(`new owners: ${row.reason}`, async (t) => {
    const versions = { prior: undefined, expected: object('', row.after), live: object('', row.live) };
    const paths = listed(row.paths).map((letter) => ['f:data', `f:${letter}`]);
    const taken = newOwners(versions, paths, ours).map(({ path, manager }) => `${describePath(path)} by ${manager}`);
    t.equal(taken.join(', '), row.taken);
  });
}

t.test('an owner of something below a path of ours counts', async (t) => {
  const deep = entry('argo', { 'f:data': { 'f:a': { 'f:below': {} } } });
  const found = newOwners({ prior: undefined, expected: managed({}), live: managed({}, deep) }, [['f:data', 'f:a']], ours);
  t.same(
    found.map(({ path }) => describePath(path)),
    ['data.a.below'],
  );
});

const overwritten = table<'reason' | 'after' | 'live' | 'result'>(`
reason                                             | after           | live              | result
no manager has written since                       | shop@:ab        | shop@:ab          | shop@:ab
a later writer took our field                      | shop@:ab        | shop@:b kubectl:a | shop@:ab
what the later writer owns elsewhere stays its own | shop@:ab        | shop@:b kubectl:ac | kubectl:c shop@:ab
it took a field that is not overwritten, too       | shop@:ab        | kubectl:ab        | kubectl:b shop@:a
a later co-owner of our field                      | shop@:a         | shop@:a argo@:a   | shop@:a
our only field: the whole entry is back            | shop@:a         | kubectl:a         | shop@:a
an owner beside us                                 | shop@:a argo@:a | kubectl:a         | argo@:a shop@:a
`);

for (const row of overwritten) {
  t.test(`overwritten data.a: ${row.reason}`, async (t) => {
    const [expected, live] = [object('a:2', row.after), object('a:3', row.live)];
    const owned = withoutLaterOwners({ live, expected, forward: 'shop', paths: [['f:data', 'f:a']] });
    t.equal(told(objectsAt(owned, 'metadata', 'managedFields')), row.result);
  });
}

const lost = table<'reason' | 'before' | 'after' | 'losers'>(`
reason                       | before              | after               | losers
nobody                       | kubectl:a           | kubectl:a janus@:b  |
one                          | kubectl:ab          | kubectl:b janus@:a  | kubectl
two, by name                 | kubectl:a argo@:b   | janus@:ab           | argo,kubectl
both entries of one manager  | argo:a argo@:b      | janus@:ab           | argo
`);

for (const row of lost) {
  t.test(`who lost fields: ${row.reason}`, async (t) =>
    t.same(losers(object('', row.before), object('', row.after)), listed(row.losers)),
  );
}

t.test('the managers of an object, and the fields of each', async (t) => {
  const live = object('a:1', 'kubectl:a janus@:b');
  t.ok(hasManager(live, ours));
  t.notOk(hasManager(live, ['nobody']));
  t.notOk(hasManager(undefined, ours));
  t.same(ownedBy(live, ours).map(describePath), ['data.b']);
  t.ok(isTerminating({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }));
  t.notOk(isTerminating(live));
});

t.test('items that a list with duplicates shares with the live list keep their owners, and other items lose them', async (t) => {
  const env = (...names: readonly string[]): JsonObject => ({ env: names.map((name) => ({ name, value: '1' })) });
  const item = (name: string): string => `k:{"name":"${name}"}`;
  const owned = (name: string): JsonObject => ({ 'f:env': { [item(name)]: { '.': {}, 'f:name': {}, 'f:value': {} } } });
  const kinds = listKindsOf(managed({}, entry('first', owned('A'))));
  const rows: readonly (readonly [readonly string[], readonly string[], string])[] = [
    [['A', 'M'], ['A', 'M', 'M'], 'first second'],
    [['A', 'M', 'M'], ['A', 'M'], 'first second'],
    [['A', 'M'], ['A', 'A'], 'first'],
    [['A', 'M'], ['M', 'M'], 'second'],
  ];
  for (const [before, after, left] of rows) {
    const live = managed(env(...before), entry('first', owned('A')), entry('second', owned('M')));
    const names = managersOf(withOwnersOf(live, env(...after), kinds)).map(({ name }) => name);
    t.equal(names.join(' '), left, `${before.join('')} to ${after.join('')}`);
  }
});
