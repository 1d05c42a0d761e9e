// What a call has done, as data: Events of a change of status, audit lines and lock operations of what was sent.
import t from 'tap';
import type { Answer, Write } from '../../../hooks/cluster.ts';
import type { Phase } from '../../../hooks/model/phase.ts';
import { auditOf, eventsOf, hasEnded, locksOf } from '../../../hooks/report/story.ts';
import { table } from '../../support/table.ts';
import { start, statusOf, transactionOf } from '../../support/transactions.ts';

const rows = table<'reason' | 'from' | 'items' | 'to' | 'then' | 'events'>(`
reason                            | from        | items               | to          | then                | events
nothing happened                  | Committing  | applied announced   | Committing  | applied announced   |
waiting is no news                | Pending     | waiting waiting     | Pending     | waiting waiting     |
locks are taken                   | Pending     | waiting waiting     | Preparing   | waiting waiting     | LocksAcquired
snapshots are stored              | Preparing   | waiting waiting     | Prepared    | announced prepared  | Prepared
the first is applied              | Prepared    | announced prepared  | Committing  | applied announced   | ChangeApplied, Committing
the last is applied               | Committing  | applied announced   | Committed   | applied applied     | ChangeApplied, Committed
it is undone                      | Committing  | applied announced   | RollingBack | applied announced   | RollbackStarted!
one never had an effect           | RollingBack | applied announced   | RollingBack | applied untouched   |
one is restored                   | RollingBack | applied applied     | RollingBack | applied restored    | ChangeRestored
the last is restored              | RollingBack | applied untouched   | RolledBack  | restored untouched  | ChangeRestored, RolledBack
one is left                       | RollingBack | applied applied     | RollingBack | applied left        | RollbackConflict!
the end of a failed undo          | RollingBack | applied left        | Failed      | restored left       | ChangeRestored, Failed!
refused before anything           | Pending     | waiting waiting     | Failed      | waiting waiting     | Failed!
a failed undo is tried again      | Failed      | restored left       | RollingBack | restored applied    | RollbackStarted!
`);

for (const { reason, from, items, to, then, events } of rows) {
  t.test(`Events: ${reason}`, async (t) => {
    const found = eventsOf(statusOf(from as Phase, items), statusOf(to as Phase, then), transactionOf());
    t.equal(found.map((event) => event.reason + (event.type === 'Warning' ? '!' : '')).join(', '), events);
  });
}

t.test('a Transaction has ended when an end is reached, not while it stays there', async (t) => {
  const ended = (from: Phase, to: Phase): boolean => hasEnded(statusOf(from, 'applied'), statusOf(to, 'applied'));
  t.ok(ended('Committing', 'Committed'));
  t.notOk(ended('Committed', 'Committed'));
  t.notOk(ended('Committed', 'RollingBack'));
});

const resource = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
  verbs: [],
  statusSubresource: true,
};
const location = { resource, namespace: 'shop', name: 'web' };
const account = { kind: 'serviceAccount', namespace: 'shop', name: 'deployer' } as const;
const precondition = { uid: 'u', resourceVersion: '1' };
const content = { data: { password: 'canary' } };
const ok: Answer = { kind: 'ok', object: content, serverTime: start };
const refused: Answer = {
  kind: 'failed',
  failure: { kind: 'refused', code: 422, reason: 'Invalid', message: 'canary is wrong', fields: [], definitive: true },
};
const update: Write = { verb: 'update', identity: account, location, object: content, precondition, fieldManager: 'm' };

t.test('one audit line for each write to a target, never content', async (t) => {
  const lease = { ...location, resource: { ...resource, group: 'coordination.k8s.io', plural: 'leases', kind: 'Lease' } };
  const outcome = [
    { write: { verb: 'delete', identity: { kind: 'engine' }, location: lease, precondition } as const, answer: ok },
    { write: update, answer: ok },
    { write: { ...update, subresource: 'status' } as const, answer: refused },
  ];
  const lines = auditOf(outcome, 3);
  const line = {
    item: 3,
    verb: 'update',
    resource: 'deployments.apps',
    target: 'shop/web',
    serviceAccount: 'shop/deployer',
    outcome: 'ok',
  };
  t.same(lines, [line, { ...line, resource: 'deployments.apps/status', outcome: 'Invalid' }]);
  t.notOk(JSON.stringify(lines).includes('canary'));
  t.same(locksOf(outcome), [{ operation: 'release', result: 'ok' }]);
});
