// Which Transactions are skipped without a whole read: only those whose spec this process has read, and which names none of the objects.
import t from 'tap';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import type { Reference } from '../../../../hooks/objects/reference.ts';
import { decodeTransaction } from '../../../../hooks/transactions/model/transaction.ts';
import { createKnownTargets, hashesOf } from '../../../../hooks/transactions/reading/known-targets.ts';

const web = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

const metadata = (more: JsonObject = {}): JsonObject => ({ namespace: 'shop', name: 'two', uid: 'u', generation: 1, ...more });

const transaction = (target: JsonObject, more?: JsonObject) =>
  decodeTransaction({ metadata: metadata(more), spec: { changes: [{ type: 'Delete', target }] } });

t.test('whether a Transaction may change an object', async (t) => {
  const rows: readonly (readonly [written: JsonObject, ours: Reference, expected: string])[] = [
    [web, { ...web, namespace: 'shop' }, 'yes'],
    [{ ...web, apiVersion: 'apps/v2' }, { ...web, namespace: 'shop' }, 'yes'],
    [{ ...web, namespace: 'else' }, { ...web, namespace: 'else' }, 'yes'],
    [{ ...web, namespace: 'any' }, web, 'yes'],
    [web, { ...web, namespace: 'else' }, 'no'],
    [web, { ...web, namespace: 'shop', name: 'api' }, 'no'],
    [web, { ...web, namespace: 'shop', kind: 'StatefulSet' }, 'no'],
    [web, { ...web, namespace: 'shop', apiVersion: 'v1' }, 'no'],
  ];
  for (const [written, ours, expected] of rows) {
    const known = createKnownTargets();
    t.equal(known.mayChange(metadata(), hashesOf([ours])), 'unknown');
    known.learn(transaction(written));
    t.equal(known.mayChange(metadata(), hashesOf([ours])), expected, `${JSON.stringify(written)}, ${JSON.stringify(ours)}`);
  }
});

t.test('knows nothing of another spec, or of another Transaction of that name', async (t) => {
  const known = createKnownTargets();
  const ours = hashesOf([{ ...web, name: 'api', namespace: 'shop' }]);
  known.learn(transaction(web));
  t.equal(known.mayChange(metadata(), ours), 'no');
  t.equal(known.mayChange(metadata({ resourceVersion: '9', labels: { a: 'b' } }), ours), 'no', 'its status may have changed');
  t.equal(known.mayChange(metadata({ generation: 2 }), ours), 'unknown');
  t.equal(known.mayChange(metadata({ uid: 'v' }), ours), 'unknown');
  known.learn(transaction({ ...web, name: 'api' }, { generation: 2 }));
  t.equal(known.mayChange(metadata({ generation: 2 }), ours), 'yes');
  known.learn(transaction(web, { uid: 'w', generation: undefined as unknown as string }));
  t.equal(known.mayChange(metadata({ uid: 'w', generation: undefined as unknown as string }), ours), 'unknown');
});
