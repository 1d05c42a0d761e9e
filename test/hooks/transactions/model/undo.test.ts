// The answer about an undo is stored and read as it is, and the CRD takes every verdict and reason.
import t from 'tap';
import { decodeUndo, encodeUndo, type UndoAnswer, undoReasons, undoVerdicts } from '../../../../hooks/transactions/model/undo.ts';
import { undoAnswer } from '../../../../schemas/transaction-undo.ts';

const answer: UndoAnswer = {
  request: { annotation: 'tx.janus.io/plan-undo', value: '1' },
  reason: 'Planned',
  message: 'the undo deletes 1 object',
  digest: 'abc',
  counts: { delete: 1, blocked: 2 },
  items: [{ index: 0, verdict: 'Delete', target: 'ConfigMap a', fields: [{ path: 'data.color', manager: 'x', now: '"red"' }] }],
  moreItems: 2,
};

t.test('an answer survives being stored', async (t) => {
  t.same(decodeUndo(encodeUndo(answer)), { undo: answer });
});

t.test('a member that another writer stored is no answer', async (t) => {
  for (const wire of [undefined, null, {}, { ...encodeUndo(answer), reason: 'Other' }, { ...encodeUndo(answer), request: 1 }])
    t.same(decodeUndo(wire), {});
});

t.test('the CRD takes every verdict and every reason', async (t) => {
  t.same(undoAnswer.properties?.items?.items?.properties?.verdict?.enum, undoVerdicts);
  t.same(undoAnswer.properties?.reason?.enum, undoReasons);
});
