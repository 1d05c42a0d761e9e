// Forward, as tables: the content of a write, by prior and live object.
import t from 'tap';
import { at, type Json, type JsonObject, parseJson } from '../../../../hooks/objects/json.ts';
import { madeOf, type Way } from '../../../../hooks/transactions/model/change.ts';
import { annotations } from '../../../../hooks/transactions/model/transaction.ts';
import { type ChangeContext, changeWrite } from '../../../../hooks/transactions/writes/change.ts';
import { json, table } from '../../../support/table.ts';
import { change, transactionOf } from '../../../support/transactions.ts';

const precondition = { uid: 'u1', resourceVersion: '7' };
const resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true, statusSubresource: true };
const transaction = transactionOf();
const target = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'a' };

function changeContextOf(type: Way, content: Json, prior?: JsonObject, live = prior): ChangeContext {
  const [decoded] = transactionOf({ changes: [change(type, 'a', { content })] }).changes;
  if (decoded === undefined) throw new Error('no change');
  return { transaction, change: madeOf(decoded, { type }), target, resource, prior, live };
}

const verbs = table<'type' | 'verb' | 'preconditions'>(`
type   | verb   | preconditions
Create | create | none
Update | update | both
Patch  | apply  | both
Delete | delete | both
`);
for (const { type, verb, preconditions } of verbs) {
  t.test(`a ${type} is one ${verb} as the ServiceAccount, with ${preconditions} of the preconditions`, async (t) => {
    const write = changeWrite(
      changeContextOf(type as Way, { data: { a: '1' } }, {}),
      type === 'Create' ? undefined : precondition,
    );
    t.match(write, { verb, identity: { kind: 'serviceAccount', namespace: 'shop', name: 'deployer' } });
    t.match(write.location, { name: 'a', namespace: 'shop', resource: { plural: 'configmaps' } });
    t.same('precondition' in write ? write.precondition : undefined, preconditions === 'both' ? precondition : undefined);
    if ('fieldManager' in write) t.equal(write.fieldManager, 'janus-one-0a1b2c3d');
    if ('object' in write)
      t.match(write.object, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'shop' } });
  });
}

/** Whether what is created would show in managedFields whose it is; else an annotation has to. */
const creations = table<'content' | 'is marked'>(`
content                                              | is marked
{}                                                   | yes
{"data":{}}                                          | yes
{"data":null}                                        | yes
{"data":{"a":null}}                                  | yes
{"metadata":{"labels":{}}}                           | yes
{"metadata":{"creationTimestamp":null}}              | yes
{"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"}} | yes
{"metadata":{"finalizers":[]}}                       | yes
{"status":{"a":1}}                                   | yes
{"data":{"a":""}}                                    | no
{"immutable":false}                                  | no
{"metadata":{"labels":{"a":"b"}}}                    | no
{"metadata":{"annotations":{"a":"b"}}}               | no
{"metadata":{"finalizers":["a/b"]}}                  | no
{"data":{"__proto__":"x"}}                           | no
{"spec":{"a":9007199254740993}}                      | no
`);
for (const row of creations) {
  t.test(`created with ${row.content}: marked by annotation: ${row['is marked']}`, async (t) => {
    const write = changeWrite(changeContextOf('Create', parseJson(row.content)), undefined);
    const mark = 'object' in write ? at(write.object, 'metadata', 'annotations', annotations.createdBy) : undefined;
    t.equal(mark, row['is marked'] === 'yes' ? transaction.uid : undefined);
  });
}

t.test('if status is content, it is a field as any other', async (t) => {
  const context = changeContextOf('Create', { status: { a: 1 } });
  const write = changeWrite({ ...context, resource: { ...resource, statusSubresource: false } }, undefined);
  t.same('object' in write ? write.object.metadata : undefined, { name: 'a', namespace: 'shop' });
});

// A PUT replaces everything, but annotations that others have written since the snapshot are not lost.
const updates = table<'reason' | 'content' | 'prior' | 'live' | 'sent'>(`
reason                                              | content       | prior         | live              | sent
none at all                                         |               |               |                   |
content says them                                   | {a:"1"}       |               |                   | {a:"1"}
content replaces them                               | {a:"1"}       | {a:"0",b:"0"} | {a:"0",b:"0"}     | {a:"1"}
content does not speak of them                      |               | {b:"0"}       | {b:"0"}           |
written since, elsewhere                            | {a:"1"}       | {a:"0"}       | {a:"0",n:"1"}     | {a:"1",n:"1"}
written since, content speaks of none               |               | {b:"0"}       | {b:"0",n:"1"}     | {n:"1"}
a counter that moved since                          | {a:"1"}       | {a:"0",n:"1"} | {a:"0",n:"2"}     | {a:"1",n:"2"}
a counter that moved, and one that is new           |               | {n:"1"}       | {n:"2",x:"1"}     | {n:"2",x:"1"}
content speaks of the counter that moved            | {n:"9"}       | {n:"1"}       | {n:"2"}           | {n:"9"}
removed since, content says it                      | {a:"1"}       | {a:"0"}       | {}                | {a:"1"}
removed since                                       |               | {b:"0"}       |                   |
`);
for (const row of updates) {
  t.test(`annotations of an Update: ${row.reason}`, async (t) => {
    const object = (cell: string): JsonObject => {
      const value = json(cell);
      return value === undefined ? { metadata: {} } : { metadata: { annotations: value } };
    };
    const write = changeWrite(changeContextOf('Update', object(row.content), object(row.prior), object(row.live)), precondition);
    t.same('object' in write ? at(write.object, 'metadata', 'annotations') : 'no object', json(row.sent));
  });
}

// Finalizers and owners that content does not name are kept; an empty list names them.
const keeping = table<'reason' | 'content' | 'prior' | 'live' | 'sent'>(`
reason                      | content | prior | live      | sent
none at all                 |         |       |           |
content does not have them  |         | ["a"] | ["a"]     | ["a"]
added since                 |         | ["a"] | ["a","b"] | ["a","b"]
removed since               |         | ["a"] |           |
content has others          | ["c"]   | ["a"] | ["a"]     | ["c"]
content has an empty list   | []      | ["a"] | ["a"]     | []
content has null            | null    | ["a"] | ["a"]     | null
`);
for (const member of ['finalizers', 'ownerReferences'] as const) {
  for (const row of keeping) {
    t.test(`${member} of an Update: ${row.reason}`, async (t) => {
      const object = (cell: string): JsonObject => {
        const value = json(cell);
        return value === undefined ? {} : { metadata: { [member]: value } };
      };
      const write = changeWrite(
        changeContextOf('Update', object(row.content), object(row.prior), object(row.live)),
        precondition,
      );
      const wanted = json(row.sent);
      const metadata = { name: 'a', namespace: 'shop', ...(wanted === undefined ? {} : { [member]: wanted }) };
      t.same('object' in write ? write.object.metadata : 'no object', metadata);
    });
  }
}

t.test('a resourceVersion in content is a wish that was judged; the write carries that of the live object', async (t) => {
  const write = changeWrite(
    changeContextOf('Update', { metadata: { resourceVersion: '7', labels: { a: 'b' } } }, {}),
    precondition,
  );
  t.same('object' in write ? write.object.metadata : undefined, { labels: { a: 'b' }, name: 'a', namespace: 'shop' });
});

t.test('odd keys and large integers are sent as they are', async (t) => {
  const content = parseJson('{"data":{"__proto__":"x"},"spec":{"a":9007199254740993}}');
  for (const type of ['Create', 'Update', 'Patch'] as const) {
    const write = changeWrite(changeContextOf(type, content, {}), type === 'Create' ? undefined : precondition);
    t.ok(
      'object' in write && JSON.stringify(write.object).startsWith('{"data":{"__proto__":"x"},"spec":{"a":9007199254740993}'),
      type,
    );
  }
});
