// One schema, two readers: what ajv lets pass the API server accepts, and what ajv refuses it refuses. Only rules in CEL
// (bounds of durations, refused groups, what may not change) are known to the API server alone.
import { Ajv } from 'ajv';
import fc from 'fast-check';
import t from 'tap';
import { at, type Json, type JsonObject, listAt } from '../../hooks/objects/json.ts';
import { dialect } from '../../schemas/schema.ts';
import { transactionSpec } from '../../schemas/transaction-spec.ts';
import { transactionStatus } from '../../schemas/transaction-status.ts';
import { freeNamespace, must } from '../support/client.ts';
import { connectToCluster, installManifests } from '../support/install.ts';
import { valid, violations } from './generated.ts';
import { refusalIn, refusalOfCreate, sampleSpec, transactionsIn, transactionWith } from './samples.ts';

const client = connectToCluster();
t.teardown(() => client.close());
await installManifests(client);

const ajv = new Ajv(dialect);
const acceptsSpec = ajv.compile(transactionSpec);
const acceptsStatus = ajv.compile(transactionStatus);

// With all three forms: that there is one is checked by the hook.
const check: JsonObject = {
  condition: { type: 'Available', status: 'True' },
  field: { path: '.status.phase', value: 'Failed' },
  expression: 'object.status.failed > 3',
};

const fullSpec: JsonObject = {
  serviceAccountName: 'deploy-sa',
  changes: [
    {
      target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web-server', namespace: 'shop' },
      type: 'Patch',
      content: { spec: { replicas: 3 } },
      contentFrom: {
        configMapKeyRef: { name: 'release-7', key: 'web.yaml.gz' },
        secretKeyRef: { name: 'release-7', key: 'web.yaml' },
        digest: `sha256:${'0a'.repeat(32)}`,
      },
      fieldConflicts: 'Fail',
      replicas: 'Set',
      wave: 5,
      whenImmutable: 'Recreate',
      undo: { foreignContent: 'Delete', foreignContentManagers: ['operator'] },
      gate: {
        at: 'AtEnd',
        ready: check,
        failed: check,
        timeout: '10m',
        stableFor: '30s',
        failFast: { enabled: true, imageAfter: '20s', containerAfter: '1m' },
        keepLogs: true,
      },
    },
  ],
  fieldManager: 'shop',
  takeOver: ['old-shop'],
  gate: {
    timeout: '10m',
    stableFor: '30s',
    failFast: { enabled: false, imageAfter: '20s', containerAfter: '1m' },
    keepLogs: true,
  },
  undo: { foreignContent: 'Delete', foreignContentManagers: ['operator'] },
  lockTimeout: '5m',
  lockWait: '1m',
  timeout: '30m',
  ttlSecondsAfterFinished: 3600,
};

const { changes: _changes, ...withoutChanges } = fullSpec;

const fullRollback: JsonObject = {
  ...withoutChanges,
  rollback: {
    to: 'shop-5',
    keep: ['ConfigMap/banner'],
    overwrite: ['Deployment.apps/shop/web'],
    partial: true,
    digest: '0a'.repeat(32),
  },
};

const fullStatus: JsonObject = {
  phase: 'RollingBack',
  version: 7,
  items: [
    {
      target: 'Deployment web-server',
      state: 'NotRestored',
      lockLease: 'janus-lock-shop-deployment.apps-web-server-0123456789',
      prepared: true,
      announced: true,
      committed: true,
      rolledBack: true,
      undone: true,
      left: true,
      kept: true,
      overwrite: true,
      uid: '572d4c4c-2a58-40fe-a330-a4b7e7430bba',
      resourceVersion: '1234567',
      error: { reason: 'RollbackConflict', message: 'Deployment shop/web-server was changed' },
      tookFieldsFrom: ['kubectl'],
      took: { count: 1, texts: ['image "1.4" (kubectl)'] },
      drift: 'sealed',
      disowned: true,
      unchanged: true,
      deleted: true,
      note: 'an owner reference was dropped',
      waiting: 'it is being deleted',
      warnings: { count: 2, texts: ['v1 Widget is deprecated'] },
      gate: {
        since: '2026-11-21T10:00:00Z',
        readySince: '2026-11-21T10:00:00Z',
        passed: true,
        found: 'condition Available is True',
        pod: { found: 'Pod web-1', uid: '972d4c4c-2a58-40fe-a330-a4b7e7430bbb', failure: 'Image', since: '2026-11-21T10:00:00Z' },
        logs: 'one line\nanother line',
      },
    },
  ],
  rollbackRef: { name: 'deploy-v2-rollback', digest: 'a1b2', objects: 1 },
  specDigest: 'c3d4',
  startTime: '2026-11-21T10:00:00Z',
  settledWriter: 'process/1',
  unsettledAt: '2026-11-21T10:00:00Z',
  rollbackObservedAt: '2026-11-21T10:00:00Z',
  completionTime: '2026-11-21T10:01:00.123456Z',
  rollbackStartedAt: '2026-11-21T10:00:30+01:00',
  waitingUntil: '2026-11-21T10:05:00Z',
  locksReturnedAt: '2026-11-21T10:00:40Z',
  duration: '12s',
  current: 'Deployment web-server',
  undo: {
    request: { annotation: 'tx.janus.io/plan-undo', value: '1' },
    reason: 'Planned',
    message: 'the undo deletes 1 object',
    digest: 'e5f6',
    counts: { delete: 1, recreate: 1, restore: 1, nothing: 1, keep: 1, blocked: 1, undecided: 1 },
    sealed: { asReleased: [0], changed: [1], deleted: [2], created: [3] },
    items: [
      {
        index: 0,
        verdict: 'Blocked',
        target: 'Deployment web-server',
        reason: 'RollbackConflict',
        message: 'it was changed by others',
        fields: [{ path: 'spec.replicas', manager: 'kubectl', before: '1', released: '2', now: '3' }],
        moreFields: 1,
      },
    ],
    moreItems: 1,
  },
  rollback: {
    undone: [{ name: 'shop-6', uid: '572d4c4c-2a58-40fe-a330-a4b7e7430bba' }],
    objects: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'banner', namespace: 'shop', way: 'Update', sealed: true }],
  },
  message: 'undoing',
  progress: '1/1',
  handledAnnotations: { 'tx.janus.io/request-rollback': '1' },
  conditions: [
    {
      type: 'Finished',
      status: 'False',
      reason: 'RollingBack',
      message: 'the undo goes on',
      lastTransitionTime: '2026-11-21T10:00:00Z',
      observedGeneration: 1,
    },
  ],
  observedGeneration: 1,
};

const durations = fc.constantFrom<Json>('30s', '1m', '1h', '0.5h', '3599s999ms');
const narrower = {
  ...{ lockTimeout: durations, lockWait: durations, timeout: durations, stableFor: durations },
  ...{ imageAfter: durations, containerAfter: durations },
};
const isRefusedByCelAlone = (spec: unknown): boolean =>
  /"apiVersion":"(tx\.janus|metacontroller\.k8s)\.io\//.test(JSON.stringify(spec)) || hasFaultyWaves(spec);

/** `all changes or none`, and `do not fall`: only a rule in CEL compares the changes. */
function hasFaultyWaves(spec: unknown): boolean {
  const waves = listAt(spec as JsonObject, 'changes').map((one) => at(one, 'wave'));
  const isMixed = waves.includes(undefined) && waves.some((wave) => wave !== undefined);
  return isMixed || waves.some((wave, index) => Number(wave) < Number(waves[index - 1]));
}

t.test('both validators accept valid specs', async (t) => {
  for (const spec of [fullSpec, fullRollback]) {
    t.ok(acceptsSpec(spec), ajv.errorsText(acceptsSpec.errors));
    t.equal(await refusalOfCreate(client, transactionWith(spec)), undefined);
  }
  const specs = valid(transactionSpec, narrower).filter((spec) => acceptsSpec(spec) && !isRefusedByCelAlone(spec));
  const agree = fc.asyncProperty(specs, async (spec) => {
    const refusal = await refusalOfCreate(client, transactionWith(spec as JsonObject));
    if (refusal !== undefined) throw new Error(`ajv accepts it, the API server says: ${refusal}`);
  });
  await t.resolves(fc.assert(agree, { numRuns: 200 }));
});

t.test('both validators refuse each broken spec', async (t) => {
  const broken = [
    ...violations(transactionSpec, fullSpec, 'spec'),
    ...violations(transactionSpec, fullRollback, 'spec'),
    { what: 'spec: has both changes and rollback', value: { ...fullSpec, ...fullRollback } },
  ];
  t.ok(broken.length > 60, `${broken.length} ways to break it`);
  for (const { what, value } of broken) {
    t.notOk(acceptsSpec(value), `ajv: ${what}`);
    t.ok(await refusalOfCreate(client, transactionWith(value as JsonObject)), `API server: ${what}`);
  }
});

t.test('both validators judge statuses', async (t) => {
  const namespace = await freeNamespace(client, 'agreement', t);
  const created = must(await client.create(transactionsIn(namespace), transactionWith(sampleSpec)));
  const refusalOf = async (status: Json): Promise<string | undefined> =>
    refusalIn(await client.update(`${transactionsIn(namespace)}/sample/status`, { ...created, status }, { dryRun: 'All' }));

  t.test('both validators accept a full status', async (t) => {
    t.ok(acceptsStatus(fullStatus), ajv.errorsText(acceptsStatus.errors));
    t.equal(await refusalOf(fullStatus), undefined);
  });

  t.test('both validators refuse each broken status', async (t) => {
    const broken = violations(transactionStatus, fullStatus, 'status');
    t.ok(broken.length > 150, `${broken.length} ways to break it`);
    for (const { what, value } of broken) {
      t.notOk(acceptsStatus(value), `ajv: ${what}`);
      t.ok(await refusalOf(value ?? null), `API server: ${what}`);
    }
  });
});
