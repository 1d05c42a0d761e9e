// The requests of a call, as data: audit lines, and writes of Leases.
import t from 'tap';
import type { Answer, Write } from '../../../../hooks/objects/cluster.ts';
import { auditOf, locksOf } from '../../../../hooks/transactions/report/audit.ts';
import { start } from '../../../support/transactions.ts';

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
    { write: update, answer: ok, item: 3 },
    { write: { ...update, subresource: 'status' } as const, answer: refused, item: 3 },
  ];
  const lines = auditOf(outcome);
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
  t.same(locksOf(outcome), [{ operation: 'release', result: 'success' }]);
});
