// Whose words about a refused write are shown.
import t from 'tap';
import type { Failure } from '../../../../hooks/objects/failure.ts';
import { describeRefusal, shownWarnings } from '../../../../hooks/transactions/checks/refusal.ts';
import type { Transaction } from '../../../../hooks/transactions/model/transaction.ts';

const failure: Failure = {
  kind: 'refused',
  code: 403,
  reason: 'Forbidden',
  message: 'not on Fridays',
  fields: [],
  definitive: true,
};

function placed(kind: string, namespace: string | undefined, asked: string | undefined, contentFrom?: object) {
  const annotations = asked === undefined ? {} : { 'tx.janus.io/show-refusals': asked };
  const transaction = { namespace: 'shop', annotations, changes: [{ contentFrom }] } as unknown as Transaction;
  const target = { apiVersion: 'v1', kind, name: 'x', ...(namespace === undefined ? {} : { namespace }) };
  return { subject: { index: 0, target }, transaction };
}

function described(...place: Parameters<typeof placed>): string {
  const { subject, transaction } = placed(...place);
  return describeRefusal(failure, subject, transaction);
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

t.test('of a change whose words are hidden, only the number of warnings is shown', async (t) => {
  const warnings = { count: 2, texts: ['one', 'two'] };
  const shown = (...place: Parameters<typeof placed>) => {
    const { subject, transaction } = placed(...place);
    return shownWarnings({ kind: 'ok', object: {}, serverTime: 0, warnings }, subject, transaction).warnings;
  };
  t.same(shown('ConfigMap', 'shop', undefined), warnings);
  t.same(shown('Node', undefined, 'true'), warnings, 'on request');
  const { subject, transaction } = placed('ConfigMap', 'shop', undefined);
  t.same(shownWarnings({ kind: 'ok', object: {}, serverTime: 0 }, subject, transaction), {});
  const hidden: readonly Parameters<typeof placed>[] = [
    ['Node', undefined, undefined],
    ['ConfigMap', 'other', 'true'],
    ['Secret', 'shop', 'true'],
    ['ConfigMap', 'shop', 'true', { secretKeyRef: { name: 's', key: 'k' } }],
  ];
  for (const place of hidden) t.same(shown(...place), { count: 2 }, JSON.stringify(place));
});

t.test('the message names a namespace that is missing, and no other object of an answer', async (t) => {
  const missing: Failure = { ...failure, kind: 'absent', code: 404, reason: 'NotFound', message: 'hidden' };
  const transaction = { namespace: 'shop', annotations: {}, changes: [{}] } as unknown as Transaction;
  const target = { apiVersion: 'v1', kind: 'Service', name: 'x', namespace: 'other' };
  const said = (subject: string) => describeRefusal({ ...missing, subject }, { index: 0, target }, transaction);
  t.equal(said('other'), 'NotFound (namespace other does not exist)');
  t.equal(said('hidden'), 'NotFound');
});
