// Whose words about a refused write are shown.
import t from 'tap';
import type { Failure } from '../../../../hooks/objects/failure.ts';
import { describeRefusal } from '../../../../hooks/transactions/checks/refusal.ts';
import type { Transaction } from '../../../../hooks/transactions/model/transaction.ts';

const failure: Failure = {
  kind: 'refused',
  code: 403,
  reason: 'Forbidden',
  message: 'not on Fridays',
  fields: [],
  definitive: true,
};

function described(kind: string, namespace: string | undefined, asked: string | undefined, contentFrom?: object): string {
  const annotations = asked === undefined ? {} : { 'tx.janus.io/show-refusals': asked };
  const transaction = { namespace: 'shop', annotations, changes: [{ contentFrom }] } as unknown as Transaction;
  const target = { apiVersion: 'v1', kind, name: 'x', ...(namespace === undefined ? {} : { namespace }) };
  return describeRefusal(failure, { index: 0, target }, transaction);
}

t.test('a message about a cluster-scoped object is shown on request, and a message with secret content never', async (t) => {
  t.equal(described('Node', undefined, 'true'), 'not on Fridays');
  t.equal(described('Node', undefined, 'false'), 'Forbidden');
  t.equal(described('Node', undefined, undefined), 'Forbidden');
  t.equal(described('ConfigMap', 'shop', undefined), 'not on Fridays', 'readers of the namespace see that object');
  t.equal(described('ConfigMap', 'other', 'true'), 'Forbidden', 'in another namespace');
  t.equal(described('Secret', 'shop', 'true'), 'Forbidden');
  t.equal(described('Secret', undefined, 'true'), 'Forbidden', 'whatever its namespace');
  t.equal(described('Node', undefined, 'true', { secretKeyRef: { name: 's', key: 'k' } }), 'Forbidden', 'from a Secret');
});

t.test('the message names a namespace that is missing, and no other object of an answer', async (t) => {
  const missing: Failure = { ...failure, kind: 'absent', code: 404, reason: 'NotFound', message: 'hidden' };
  const transaction = { namespace: 'shop', annotations: {}, changes: [{}] } as unknown as Transaction;
  const target = { apiVersion: 'v1', kind: 'Service', name: 'x', namespace: 'other' };
  const said = (subject: string) => describeRefusal({ ...missing, subject }, { index: 0, target }, transaction);
  t.equal(said('other'), 'NotFound (namespace other does not exist)');
  t.equal(said('hidden'), 'NotFound');
});
