// The largest Transaction: the rules of the CRD are within the API server's cost limits for it, also at run time.
import t from 'tap';
import type { JsonObject } from '../../hooks/model/json.ts';
import { mostChanges } from '../../schemas/transaction-spec.ts';
import { freeNamespace, must } from '../support/client.ts';
import { connectToCluster, installManifests } from '../support/install.ts';
import { refusalIn, refusalOfCreate, sampleSpec, transactionsIn, transactionWith } from './samples.ts';

const client = connectToCluster();
t.teardown(() => client.close());
await installManifests(client);

const large = (count: number): JsonObject =>
  transactionWith({ ...sampleSpec, changes: Array.from({ length: count }, longChange) });

function longChange(_: unknown, index: number): JsonObject {
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: `${'n'.repeat(245)}-${index}`, namespace: 's'.repeat(63) };
  return { target, type: 'Patch', content: { metadata: { annotations: { note: 'x'.repeat(1024) } } } };
}

t.test(`${mostChanges} changes are accepted, one more is refused`, async (t) => {
  t.equal(await refusalOfCreate(client, large(mostChanges)), undefined);
  t.match(
    await refusalOfCreate(client, large(mostChanges + 1)),
    `spec.changes: Too many: ${mostChanges + 1}: must have at most 500 items`,
  );
});

t.test(`${mostChanges} changes go through their life: annotated, with large statuses, forward only`, async (t) => {
  const path = transactionsIn(await freeNamespace(client, 'size', t));
  must(await client.create(path, large(mostChanges)));
  const annotated = must(
    await client.patch(`${path}/sample`, { metadata: { annotations: { 'tx.janus.io/request-rollback': '1' } } }),
  );
  const first = must(await client.update(`${path}/sample/status`, { ...annotated, status: statusOf(1, 'Preparing') }));
  t.equal(refusalIn(await client.update(`${path}/sample/status`, { ...first, status: statusOf(1, 'Preparing') })), undefined);
  t.match(
    refusalIn(await client.update(`${path}/sample/status`, { ...first, status: statusOf(1, 'Committing') })),
    'higher status.version',
  );
  t.equal(refusalIn(await client.update(`${path}/sample/status`, { ...first, status: statusOf(2, 'Committing') })), undefined);
});

function statusOf(version: number, phase: string): JsonObject {
  const item = (index: number): JsonObject => ({
    lockLease: `janus-lock-${'l'.repeat(230)}-${index}`,
    prepared: true,
    committed: true,
    error: { reason: 'RollbackConflict', message: 'm'.repeat(500) },
    tookFieldsFrom: ['kubectl-client-side-apply', 'argocd-controller'],
    drift: 'd'.repeat(500),
    note: 'n'.repeat(200),
  });
  return {
    phase,
    version,
    items: Array.from({ length: mostChanges }, (_, index) => item(index)),
    startedAt: '2026-11-21T10:00:00Z',
    handledAnnotations: { 'tx.janus.io/request-rollback': 'v'.repeat(1000) },
  };
}
