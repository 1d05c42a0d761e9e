// What the undo of a change cannot see, by its verdict: kinds, and owners, whose names the message hides of what is sealed.
import t from 'tap';
import type { Passing } from '../../../../hooks/objects/failure.ts';
import type { UndoVerdict } from '../../../../hooks/transactions/attribution/undo.ts';
import { unreadBy } from '../../../../hooks/transactions/decide/unlistable-kinds.ts';
import { noHazards } from '../../../../hooks/transactions/hazards/hazards.ts';
import { entryFor } from '../../../support/evaluated-objects.ts';
import { table } from '../../../support/table.ts';
import { transactionOf } from '../../../support/transactions.ts';

const failure: Passing = { kind: 'transient', code: 500, reason: 'InternalError', message: '', fields: [], definitive: false };
const hazards = {
  ...noHazards,
  failingKinds: [{ kind: 'things.example.org', failure }],
  unreadableOwner: { kind: 'Thing of example.org/v2', failure },
};

const cases = table<'undo of' | 'verdict' | 'says'>(`
undo of                      | verdict  | says
a target                     | delete   | things.example.org
a target, its kind excepted  | delete   |
a target that is gone        | recreate | has an owner, Thing of example.org/v2, that cannot be read
a target without its status  | complete | has an owner, Thing of example.org/v2, that cannot be read
a target with another value  | content  | has an owner, Thing of example.org/v2, that cannot be read
a Secret that is gone        | recreate | has an owner that cannot be read
a Secret with another value  | content  | has an owner that cannot be read
a target as it was           | restored |
`);

for (const { 'undo of': of, verdict, says } of cases)
  t.test(`${of}: ${verdict}`, async (t) => {
    const entry = entryFor('Update');
    const target = of.startsWith('a Secret') ? { ...entry.target, apiVersion: 'v1', kind: 'Secret' } : entry.target;
    const excepted = of.endsWith('excepted') ? { 'tx.janus.io/undo-unlisted': 'things.example.org' } : {};
    const transaction = transactionOf({ annotations: excepted });
    const found = unreadBy({ kind: verdict } as UndoVerdict, hazards, { ...entry, target }, transaction);
    if (says === '') return t.equal(found, undefined);
    return t.match(found?.message, says);
  });
