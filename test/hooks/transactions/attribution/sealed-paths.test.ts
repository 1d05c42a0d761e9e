// A conflict on a sealed object names the path, and never the value.

import t from 'tap';
import { describeForeign } from '../../../../hooks/transactions/attribution/attribute.ts';
import { evaluateUndo } from '../../../../hooks/transactions/attribution/undo.ts';
import { noHazards } from '../../../../hooks/transactions/hazards/hazards.ts';
import { entryFor, liveObject, plainEvidence } from '../../../support/evaluated-objects.ts';

const paths = ['one', 'two'].map((value) => ({ path: ['f:spec', 'f:tokens', `v:"${value}"`], manager: `by \u202e${value}` }));

t.test('members and keys are left out, and the same place is told once', async (t) => {
  const same = [{ path: ['f:data', 'k:{"name":"canary"}', 'f:value'], manager: 'kubectl' }];
  t.equal(describeForeign([...same, ...same], { isSealed: true }), 'data[…].value (by kubectl)');
  t.equal(describeForeign(same, { isSealed: false }), 'data[name=canary].value (by kubectl)');
  t.notMatch(describeForeign(paths, { isSealed: true }), /"/);
});

t.test('owners that are gone are counted, not named', async (t) => {
  const evidence = { ...plainEvidence, hazards: { ...noHazards, goneOwners: ['canary'] } };
  const judged = (isSealed: boolean) =>
    evaluateUndo({ ...evidence, entry: entryFor('Delete'), live: liveObject('gone', 'Delete'), isSealed });
  t.match(judged(false), { kind: 'recreate', note: /canary/ });
  t.match(judged(true), { kind: 'recreate', note: /no longer exist: 1$/ });
});
