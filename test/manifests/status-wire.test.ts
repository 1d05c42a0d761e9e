// What the engine reports is what the CRD stores: a field that the CRD does not name would be pruned, the next answer would
// differ from the stored status, and every call would write.
import { Ajv } from 'ajv';
import t from 'tap';
import { at } from '../../hooks/objects/json.ts';
import type { Item, Progress } from '../../hooks/transactions/model/item.ts';
import { decodeStatus, encodeStatus, type Status } from '../../hooks/transactions/model/status.ts';
import { truncated } from '../../hooks/transactions/outcome/truncated.ts';
import { dialect } from '../../schemas/schema.ts';
import { reportedStatus } from '../../schemas/sync-response.ts';
import { phases } from '../../schemas/transaction-status.ts';
import { freeNamespace, must } from '../support/client.ts';
import { connectToCluster, installManifests } from '../support/install.ts';
import { sampleChange, sampleSpec, transactionsIn, transactionWith } from './samples.ts';

const client = connectToCluster();
t.teardown(() => client.close());
await installManifests(client);

const conforms = new Ajv(dialect).compile(reportedStatus);

const progress: readonly Progress[] = [
  { kind: 'waiting' },
  { kind: 'prepared' },
  { kind: 'announced' },
  { kind: 'applied' },
  { kind: 'restored', applied: true },
  { kind: 'restored', applied: false },
  { kind: 'notRestored', applied: true },
  { kind: 'notRestored', applied: false },
  { kind: 'kept', applied: true },
];

const full: Omit<Item, 'progress'> = {
  error: { reason: 'RollbackConflict', message: 'Deployment shop/web-server was changed' },
  lockLease: 'janus-lock-shop-app-config-0123456789',
  uid: '572d4c4c-2a58-40fe-a330-a4b7e7430bba',
  resourceVersion: '1234567',
  tookFieldsFrom: ['kubectl'],
  took: { count: 4, texts: ['image "1.4" (kubectl)', 'é'.repeat(200)] },
  drift: 'sealed',
  disowned: true,
  overwrite: true,
  unchanged: true,
  deleted: true,
  note: 'an owner reference was dropped',
  warnings: { count: 4, texts: ['v1 Widget is deprecated', 'would violate PodSecurity', 'é'.repeat(200)] },
  gate: {
    since: 1_795_000_000_000,
    readySince: 1_795_000_001_000,
    passed: true,
    found: '0 of 1 replicas are available',
    pod: {
      found: 'ErrImagePull (Pod web-1 on node n1, container app)',
      uid: '972d4c4c-2a58-40fe-a330-a4b7e7430bbb',
      failing: { failure: 'Image', since: 1_795_000_001_000 },
    },
    logs: 'one line\nanother line',
  },
};

const status: Status = {
  phase: 'RollingBack',
  version: 7,
  items: progress.flatMap((one): readonly Item[] => [{ progress: one }, { ...full, progress: one }]),
  rollbackRef: { name: 'sample-rollback', digest: 'a1b2', objects: 2 },
  specDigest: 'c3d4',
  startTime: 1_795_000_000_000,
  completionTime: 1_795_000_001_000,
  rollbackStartedAt: 1_795_000_000_500,
  display: {
    items: progress.flatMap((_, index) => [{}, { target: `Secret other/s${index}`, state: 'NotRestored' }]),
    current: 'Secret s1',
    duration: '12s',
    waitingUntil: '2026-11-21T10:05:00Z',
  },
  undo: {
    request: { annotation: 'tx.janus.io/plan-undo', value: '1' },
    reason: 'Planned',
    message: 'the undo deletes 1 object',
    digest: 'e5f6',
    counts: { delete: 1 },
    items: [{ index: 0, verdict: 'Delete', target: 'Secret s0' }],
    moreItems: 1,
  },
  message: 'undoing',
  handledAnnotations: { 'tx.janus.io/request-rollback': '1' },
  conditions: [
    { type: 'Finished', status: 'False', reason: 'RollingBack', message: 'goes on', lastTransitionTime: '2026-11-21T10:00:00Z' },
  ],
};

t.test('the API server stores a full status unchanged', async (t) => {
  const path = transactionsIn(await freeNamespace(client, 'wire', t));
  const changes = status.items.map((_, index) => ({
    ...sampleChange,
    target: { apiVersion: 'v1', kind: 'Secret', name: `s${index}` },
  }));
  const created = must(await client.create(path, transactionWith({ ...sampleSpec, changes })));
  const reported = encodeStatus(truncated(status));
  const stored = must(await client.update(`${path}/sample/status`, { ...created, status: reported }));
  t.same(stored.status, reported);
  t.same(
    encodeStatus(truncated(decodeStatus(at(stored, 'status'), changes.length) ?? status)),
    reported,
    'the API server returns it unchanged',
  );
});

for (const phase of phases)
  t.test(`a status in ${phase} conforms`, async (t) => {
    t.ok(conforms(encodeStatus(truncated({ ...status, phase }))), JSON.stringify(conforms.errors));
  });

t.test('a field that the CRD does not name does not conform', async (t) => {
  t.notOk(conforms({ ...encodeStatus(truncated(status)), novel: true }));
  t.notOk(conforms({ ...encodeStatus(truncated(status)), items: [{ novel: true }] }));
});
