// The largest Transaction: the rules of the CRD and of the policy beside it are within the API server's cost limits for it, also at run time.
import t from 'tap';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { mostChanges } from '../../schemas/transaction-spec.ts';
import { freeNamespace, must } from '../support/client.ts';
import { connectToCluster, installManifests } from '../support/install.ts';
import { refusalIn, refusalOfCreate, sampleSpec, transactionsIn, transactionWith, without } from './samples.ts';

const client = connectToCluster();
t.teardown(() => client.close());
await installManifests(client);

const large = (count: number): JsonObject =>
  transactionWith({ ...sampleSpec, changes: Array.from({ length: count }, longChange) });

function longChange(_: unknown, index: number): JsonObject {
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: `${'n'.repeat(245)}-${index}`, namespace: 's'.repeat(63) };
  return { target, type: 'Patch', content: { metadata: { annotations: { note: 'x'.repeat(1024) } } } };
}

t.test(`the API server accepts ${mostChanges} changes and refuses one more`, async (t) => {
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
  const bare = { ...first, status: withoutStates(statusOf(1, 'Preparing')) };
  const dropped = refusalIn(await client.update(`${path}/sample/status`, bare, { dryRun: 'All' }));
  t.equal(dropped, undefined, 'compared member by member too');
  t.match(
    refusalIn(await client.update(`${path}/sample/status`, { ...first, status: statusOf(1, 'Committing') })),
    'higher status.version',
  );
  t.equal(refusalIn(await client.update(`${path}/sample/status`, { ...first, status: statusOf(2, 'Committing') })), undefined);
});

/** `count` changes whose texts are as long as they may be; those of the last one as said. */
function longest(count: number, last: JsonObject = {}): JsonObject {
  const target = { apiVersion: `${'g'.repeat(253)}/${'v'.repeat(63)}`, kind: 'K'.repeat(63), namespace: 's'.repeat(63) };
  const change = (_: unknown, index: number): JsonObject => ({
    target: { ...target, name: `${'n'.repeat(249)}-${100 + index}`, ...(index === count - 1 && last) },
    type: 'Delete',
  });
  const spec = { serviceAccountName: 'a'.repeat(253), changes: Array.from({ length: count }, change) };
  return transactionWith(spec, 't'.repeat(230));
}

t.test('the API server judges the longest texts too: no rule exceeds its cost limit', async (t) => {
  t.equal(await refusalOfCreate(client, longest(mostChanges)), undefined);
  const wrong: readonly (readonly [JsonObject, string])[] = [
    [{ apiVersion: `${'g'.repeat(253)}/${'v'.repeat(62)}-` }, 'apiVersion: Invalid value: "…": write the version'],
    [{ apiVersion: 'tx.janus.io/v1' }, 'apiVersion: Invalid value: "…": a Transaction cannot change kinds of tx.janus.io'],
    [{ kind: `${'K'.repeat(62)}-` }, 'kind: Invalid value: "…": write the kind'],
    [{ name: `${'n'.repeat(252)}/` }, 'name: Invalid value: "…": write the object'],
    [{ namespace: `${'s'.repeat(62)}-` }, 'namespace: Invalid value: "…": write a namespace name'],
  ];
  for (const [last, words] of wrong) {
    const [where = '', why = ''] = words.split('…');
    const refusal = (await refusalOfCreate(client, longest(mostChanges, last))) ?? 'it was accepted';
    t.match(refusal, `spec.changes[${mostChanges - 1}].target.${where}`);
    t.match(refusal, why);
  }
});

function withoutStates(status: JsonObject): JsonObject {
  return { ...status, items: (status.items as readonly JsonObject[]).map((item) => without(item, 'target', 'state')) };
}

function statusOf(version: number, phase: string): JsonObject {
  const item = (index: number): JsonObject => ({
    target: 't'.repeat(160),
    state: 'NotRestored',
    lockLease: `janus-lock-${'l'.repeat(230)}-${index}`,
    prepared: true,
    committed: true,
    error: { reason: 'RollbackConflict', message: 'm'.repeat(500) },
    tookFieldsFrom: ['kubectl-client-side-apply', 'argocd-controller'],
    drift: 'd'.repeat(300),
    note: 'n'.repeat(200),
  });
  return {
    phase,
    version,
    items: Array.from({ length: mostChanges }, (_, index) => item(index)),
    startTime: '2026-11-21T10:00:00Z',
    handledAnnotations: { 'tx.janus.io/request-rollback': 'v'.repeat(1000) },
  };
}
