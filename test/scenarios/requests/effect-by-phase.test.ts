// What users ask by annotation, where it applies and where it does not: each value acts once, and what has no effect says why.
import t from 'tap';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { removed } from '../../../hooks/transactions/model/undo.ts';
import { must } from '../../support/client.ts';
import { partial } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil, stepUntilGone } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const green = { data: { color: 'green' } };
const annotation = (name: string, value: string): Record<string, string> => ({ [`tx.janus.io/${name}`]: value });

/** Two changes of objects that no other test uses. */
async function begin(
  stage: Stage,
  name: string,
  annotations: Record<string, string> = {},
  spec: JsonObject = {},
): Promise<readonly string[]> {
  const targets = [`${name}-0`, `${name}-1`];
  await createConfigMaps(stage, targets);
  const changes = targets.map((target) => change('Patch', target, green));
  await stage.transaction(name, changes, { annotations, spec });
  return targets.map((target) => stage.path(`configmaps/${target}`));
}

async function colors({ client }: Stage, paths: readonly string[]): Promise<readonly unknown[]> {
  const answers = await Promise.all(paths.map((path) => client.get(path)));
  return answers.map(({ body }) => (body.data as JsonObject).color);
}

/** The first undo of `name` fails: somebody has changed what was changed. */
async function failUndo(stage: Stage, name: string, path: string): Promise<void> {
  await stepToEnd(stage, name);
  must(await stage.client.patch(path, { data: { color: 'violet' } }));
  await stage.annotate(name, { ...annotation('request-rollback', 'first'), ...partial });
  await stepUntil(stage, name, 'Failed');
  await stepToEnd(stage, name);
}

/** The Events of the last call about a request that has no effect. */
function ignoredOf({ reports }: Stage): string {
  const told = reports.at(-1)?.events.filter(({ reason }) => reason === 'RequestIgnored') ?? [];
  return told.map(({ message }) => message).join(' ');
}

t.test('requests', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });

  await t.test('a retry that is requested during the rollback waits for its end, and is answered then', async (t) => {
    const paths = await begin(stage, 'early', annotation('retry-rollback', 'please'));
    t.match((await stepUntil(stage, 'early', 'Committed')).status, { handledAnnotations: {} });
    const { status } = await step(stage, 'early');
    t.equal(ignoredOf(stage), 'tx.janus.io/retry-rollback="please" has no effect: there is no failed rollback to retry');
    t.match(status, {
      phase: 'Committed',
      message: 'all 2 changes are applied',
      handledAnnotations: annotation('retry-rollback', 'please'),
    });
    await stepToEnd(stage, 'early');
    t.same(await colors(stage, paths), ['green', 'green']);
  });

  await t.test('the engine answers a retry of a Transaction that is RolledBack', async (t) => {
    await begin(stage, 'back');
    await stepToEnd(stage, 'back');
    await stage.annotate('back', annotation('request-rollback', 'yes'));
    await stepUntil(stage, 'back', 'RolledBack');
    await stepToEnd(stage, 'back');
    await stage.annotate('back', annotation('retry-rollback', 'again'));
    const ended = (await stage.read('back')).status as JsonObject;
    t.equal((await step(stage, 'back')).status.message, ended.message, 'it goes on saying how it has ended');
    t.equal(ignoredOf(stage), 'tx.janus.io/retry-rollback="again" has no effect: everything is already rolled back');
    t.match((await stepToEnd(stage, 'back')).status, { phase: 'RolledBack' });
  });

  await t.test('neither request changes a Transaction that failed before its first write', async (t) => {
    await begin(stage, 'refused', annotation('request-rollback', 'one'));
    t.match((await stepToEnd(stage, 'refused')).status, { phase: 'Failed' });
    await stage.annotate('refused', annotation('retry-rollback', 'two'));
    const why = /^nothing was applied: stopped on request/;
    t.match((await step(stage, 'refused')).status, { phase: 'Failed', message: why });
    t.equal(ignoredOf(stage), 'tx.janus.io/retry-rollback="two" has no effect: there is nothing to undo');
    await stage.annotate('refused', annotation('request-rollback', 'three'));
    t.match((await step(stage, 'refused')).status, { phase: 'Failed', message: why });
    t.match(
      ignoredOf(stage),
      /request-rollback="three" has no effect: the Transaction has already finished; to retry .* set tx\.janus\.io\/retry-rollback/,
    );
    t.equal((await step(stage, 'refused')).resyncAfterSeconds, 0);
  });

  await t.test('an unchanged value that is set again has no effect', async (t) => {
    const [path = ''] = await begin(stage, 'once');
    await failUndo(stage, 'once', path);
    must(await stage.client.patch(path, { data: { color: 'green' } }));
    await stage.annotate('once', annotation('request-rollback', 'first'));
    const before = await stage.read('once');
    await step(stage, 'once');
    t.same((await stage.read('once')).status, before.status);
  });

  await t.test('a value that was removed and set again is a new request, with its effect or its Event', async (t) => {
    const [path = ''] = await begin(stage, 'twice');
    await failUndo(stage, 'twice', path);
    await stage.annotate('twice', annotation('retry-rollback', 'yes'));
    await stepUntil(stage, 'twice', 'RollingBack');
    t.match((await stepToEnd(stage, 'twice')).phase, 'Failed');
    await removeAnnotations(stage, 'twice');
    const { status } = await step(stage, 'twice');
    t.match(status, {
      handledAnnotations: { ...annotation('retry-rollback', removed), ...annotation('request-rollback', removed) },
    });
    t.same((await step(stage, 'twice')).status, status, 'that it is gone is stored once');
    must(await stage.client.patch(path, { data: { color: 'blue' } }));
    await stage.annotate('twice', annotation('retry-rollback', 'yes'));
    t.match((await stepUntil(stage, 'twice', 'RolledBack')).status, { handledAnnotations: annotation('retry-rollback', 'yes') });
    await stepToEnd(stage, 'twice');
    await stage.annotate('twice', annotation('request-rollback', 'first'));
    await step(stage, 'twice');
    t.equal(ignoredOf(stage), 'tx.janus.io/request-rollback="first" has no effect: everything is already rolled back');
    await step(stage, 'twice');
    t.equal(ignoredOf(stage), '', 'it is answered once');
  });

  await t.test('the engine does not rewrite a Transaction without requests when annotations change', async (t) => {
    await begin(stage, 'calm', annotation('automatic-rollback', 'true'));
    const { status } = await stepToEnd(stage, 'calm');
    await removeAnnotations(stage, 'calm');
    t.same((await step(stage, 'calm')).status, status);
  });

  await t.test('a retry waits for locks for spec.lockWait, however long ago the undo failed', async (t) => {
    const [path = ''] = await begin(stage, 'patient');
    await failUndo(stage, 'patient', path);
    must(await stage.client.patch(path, { data: { color: 'green' } }));
    await putUndoIntoThePast(stage, 'patient');
    await stage.transaction('holder', [change('Patch', 'patient-0', { data: { other: 'yes' } })]);
    await stepUntil(stage, 'holder', 'Preparing');
    await stage.annotate('patient', annotation('retry-rollback', 'yes'));
    const { status, resyncAfterSeconds } = await step(stage, 'patient');
    t.match(status, {
      phase: 'Failed',
      message: /^waiting until \S+Z: .* is locked by Transaction \S+\/holder$/,
      conditions: [{ type: 'Finished', status: 'False', reason: 'WaitingForLocks' }],
    });
    t.ok(resyncAfterSeconds > 0);
    await stepToEnd(stage, 'holder');
    t.match((await stepUntil(stage, 'patient', 'RollingBack')).status, {
      handledAnnotations: annotation('retry-rollback', 'yes'),
    });
    t.match((await stepToEnd(stage, 'patient')).phase, 'Failed', 'green is not what had been there');
  });

  await t.test('a Transaction whose undo gets no locks stays Committed, releases its locks, and says so', async (t) => {
    const paths = await begin(stage, 'unlucky', {}, { lockWait: '1s' });
    const before = await colors(stage, paths);
    await stepToEnd(stage, 'unlucky');
    await stage.transaction('other', [change('Patch', 'unlucky-1', { data: { other: 'yes' } })]);
    await stepUntil(stage, 'other', 'Preparing');
    await stage.annotate('unlucky', annotation('request-rollback', 'yes'));
    t.match((await step(stage, 'unlucky')).status, { phase: 'Committed', message: /^waiting until \S+Z: .* is locked by/ });
    const { status } = await stepToEnd(stage, 'unlucky');
    t.match(status, {
      phase: 'Committed',
      message: /request-rollback="yes" has no effect: .*unlucky-1 is locked by .*; set another value to try again$/,
      handledAnnotations: annotation('request-rollback', 'yes'),
    });
    t.equal((await stage.leases()).length, 1, 'the other one’s');
    await stepToEnd(stage, 'other');
    await stage.annotate('unlucky', annotation('request-rollback', 'again'));
    await stepUntil(stage, 'unlucky', 'RolledBack');
    await stepToEnd(stage, 'unlucky');
    t.same(await colors(stage, paths), before);
  });

  await t.test('the engine forgets a request that is withdrawn while it waits', async (t) => {
    await begin(stage, 'withdrawn');
    await stepToEnd(stage, 'withdrawn');
    await stage.transaction('another', [change('Patch', 'withdrawn-1', { data: { other: 'yes' } })]);
    await stepUntil(stage, 'another', 'Preparing');
    await stage.annotate('withdrawn', annotation('request-rollback', 'yes'));
    await step(stage, 'withdrawn');
    must(
      await stage.client.patch(pathOf(stage, 'withdrawn'), {
        metadata: { annotations: { 'tx.janus.io/request-rollback': null } },
      }),
    );
    const { status } = await stepToEnd(stage, 'withdrawn');
    t.match(status, { phase: 'Committed', handledAnnotations: {}, rollbackStartedAt: undefined });
    t.equal((await stage.leases()).length, 1, 'the other one’s');
    await stepToEnd(stage, 'another');
  });

  await t.test('the engine ignores automatic-rollback with another value than true', async (t) => {
    const paths = await begin(stage, 'kept', annotation('automatic-rollback', 'yes'));
    await stepUntil(stage, 'kept', 'Committing');
    await remove(stage, 'kept');
    t.same(await colors(stage, paths), ['green', 'blue']);
  });

  await t.test('automatic-rollback has no effect on a Transaction that is Committed, or that is not deleted', async (t) => {
    const paths = await begin(stage, 'committed', annotation('automatic-rollback', 'true'));
    t.match((await stepToEnd(stage, 'committed')).status, { phase: 'Committed', handledAnnotations: {} });
    await remove(stage, 'committed');
    t.same(await colors(stage, paths), ['green', 'green']);
  });

  await t.test('automatic-rollback takes effect also after the deletion has begun', async (t) => {
    const paths = await begin(stage, 'changed');
    const before = await portraits(stage.client, paths);
    await stepUntil(stage, 'changed', 'Committing');
    must(await stage.client.delete(pathOf(stage, 'changed')));
    await stage.annotate('changed', annotation('automatic-rollback', 'true'));
    await stepUntilGone(stage, 'changed');
    t.same(await portraits(stage.client, paths), before);
  });

  await t.test('allow-irreversible admits only with the value true, and the refusal names the annotation', async (t) => {
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    must(await stage.client.create(stage.path('persistentvolumeclaims'), { metadata: { name: 'claim' }, spec }));
    await stage.transaction('irreversible', [change('Delete', 'claim', undefined, claim)], {
      annotations: annotation('allow-irreversible', 'yes'),
    });
    t.match((await stepToEnd(stage, 'irreversible')).status, {
      phase: 'Failed',
      message: /deleting PersistentVolumeClaim claim cannot be undone: annotate .* with tx\.janus\.io\/allow-irreversible=true/,
    });
    await stage.transaction('allowed', [change('Delete', 'claim', undefined, claim)], {
      annotations: annotation('allow-irreversible', 'true'),
    });
    t.match((await stepToEnd(stage, 'allowed')).status, { phase: 'Committed' });
  });
  t.same(await stage.leases(), [], 'no lock is left');
});

function pathOf({ namespace }: Stage, name: string): string {
  return `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions/${name}`;
}

async function removeAnnotations(stage: Stage, name: string): Promise<void> {
  must(await stage.client.patch(pathOf(stage, name), { metadata: { annotations: null } }));
}

async function remove(stage: Stage, name: string): Promise<void> {
  must(await stage.client.delete(pathOf(stage, name)));
  await stepUntilGone(stage, name);
}

/** As if its undo had begun, and ended, an hour ago. */
async function putUndoIntoThePast(stage: Stage, name: string): Promise<void> {
  const live = await stage.read(name);
  const status = live.status as JsonObject;
  const anHourBefore = (key: string): string =>
    new Date(Date.parse(textAt(status, key) ?? '') - 3_600_000).toISOString().replace('.000Z', 'Z');
  const times = { rollbackStartedAt: anHourBefore('rollbackStartedAt'), completionTime: anHourBefore('completionTime') };
  const moved = { ...status, ...times, version: (status.version as number) + 1 };
  must(await stage.client.update(`${pathOf(stage, name)}/status`, { ...live, status: moved }));
}
