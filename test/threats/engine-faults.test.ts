// A step that throws for any reason: the port rejects, as it does on a bug. Deadline, requests and deletion still take effect, every
// call is answered, and the fault is reported.
import t from 'tap';
import type { Cluster, Location } from '../../hooks/objects/cluster.ts';
import { at, type JsonObject, parseJson, textAt, withPath } from '../../hooks/objects/json.ts';
import type { StepReport } from '../../hooks/transactions/call.ts';
import { InvariantError } from '../../hooks/transactions/model/invariant.ts';
import { must } from '../support/client.ts';
import { openEngines } from '../support/engine.ts';
import { everyNth } from '../support/selection.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { step, stepToEnd, stepUntil, stepUntilGone, storeStatus } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';

class Bug extends Error {}

/** Throws where something is read of a target, of the locks or of the snapshots, as said. */
function throwing(what: 'targets' | 'own', only = ''): (cluster: Cluster) => Cluster {
  const isTarget = ({ resource, name }: Location): boolean =>
    resource.kind === 'ConfigMap' && !name.includes('-rollback-') && name.startsWith(only);
  return (cluster) => ({
    ...cluster,
    get: async (location, identity) => {
      if (what === 'targets' && isTarget(location)) throw new Bug('get');
      return cluster.get(location, identity);
    },
    listMetadata: async (...args) => {
      if (what === 'own') throw new Bug('list');
      return cluster.listMetadata(...args);
    },
    send: async (write, isLate) => {
      if (what === 'targets' && isTarget(write.location)) throw new Bug('send');
      return cluster.send(write, isLate);
    },
  });
}

/** Reads this object as if the API server had given it no version, and notes the names of the targets that are written. */
function withoutVersion(name: string, sent: string[]): (cluster: Cluster) => Cluster {
  return (cluster) => ({
    ...cluster,
    get: async (location, identity) => {
      const answer = await cluster.get(location, identity);
      if (location.name !== name || answer.kind !== 'ok') return answer;
      return { ...answer, object: withPath(answer.object, ['metadata', 'resourceVersion'], '') };
    },
    send: async (write, isLate) => {
      sent.push(write.location.name);
      return cluster.send(write, isLate);
    },
  });
}

const green = { data: { color: 'green' } };
const pathOf = ({ namespace }: Stage, name: string): string =>
  `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions/${name}`;

t.test('the engine survives a step that throws', async (t) => {
  const bare = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, bare, { stepDeadline: 3_000, writeTimeout: 2_000 });
  const reports: StepReport[] = [];
  const record = (report: StepReport): void => void reports.push(report);
  const faulty = engines.start({ wrap: throwing('targets'), record });
  const forgetful = engines.start({ wrap: throwing('own'), record });
  const begin = async (name: string, spec = {}): Promise<void> => {
    await createConfigMaps(bare, [`${name}-a`, `${name}-b`]);
    await bare.transaction(name, [change('Patch', `${name}-a`, green), change('Patch', `${name}-b`, green)], { spec });
  };

  await t.test('the engine treats the exception as an outage and reports it', async (t) => {
    await begin('passing');
    await stepUntil(bare, 'passing', 'Prepared');
    const { status, resyncAfterSeconds } = await step(faulty, 'passing');
    t.match(status, { phase: 'Prepared', message: /internal error of the engine/ });
    t.ok(resyncAfterSeconds > 0, 'it is tried again');
    t.equal(reports.at(-1)?.outcome, 'EngineFault');
    t.ok(reports.at(-1)?.thrown instanceof Bug, 'what was thrown is there for the log');
    t.match((await stepToEnd(bare, 'passing')).status, { phase: 'Committed' });
  });

  await t.test('spec.timeout ends a Transaction whose first step throws', async (t) => {
    await begin('early');
    await stepUntil(bare, 'early', 'Preparing');
    t.match((await step(faulty, 'early')).status, { phase: 'Preparing' });
    await putIntoThePast(bare, 'early');
    t.match((await stepToEnd(faulty, 'early')).status, { phase: 'Failed', message: /spec\.timeout/ });
    t.same(await bare.leases(), [], 'no lock is held');
  });

  await t.test('spec.timeout ends a Transaction whose changes throw, and the status names the rest', async (t) => {
    await begin('late');
    await stepUntil(bare, 'late', 'Committing');
    await putIntoThePast(bare, 'late');
    t.match((await step(faulty, 'late')).status, { phase: 'RollingBack' });
    t.match((await step(faulty, 'late')).status, { phase: 'RollingBack' });
    await putIntoThePast(bare, 'late');
    const { status } = await stepToEnd(faulty, 'late');
    t.match(status, { phase: 'Failed', items: [{ left: true, error: { reason: 'RollbackTimeout' } }] });
    t.same(await bare.leases(), [], 'no lock is held');
  });

  await t.test('the engine obeys a request although the changes throw', async (t) => {
    await begin('asked');
    await stepUntil(bare, 'asked', 'Committing');
    await step(faulty, 'asked');
    await bare.annotate('asked', { 'tx.janus.io/request-rollback': 'yes' });
    t.match((await step(faulty, 'asked')).status, { phase: 'RollingBack' });
    t.match((await stepUntil(bare, 'asked', 'RolledBack')).status, { phase: 'RolledBack' }, 'and goes on where nothing throws');
    await stepToEnd(bare, 'asked');
    t.match(must(await bare.client.get(bare.path('configmaps/asked-a'))), { data: { color: 'blue' } });
  });

  await t.test('the undo leaves a change that throws for long, and undoes the others', async (t) => {
    await begin('undone', { timeout: '1h' });
    await stepUntil(bare, 'undone', 'Committing');
    await step(bare, 'undone');
    await bare.annotate('undone', { 'tx.janus.io/request-rollback': 'yes' });
    await stepUntil(bare, 'undone', 'RollingBack');
    await putIntoThePast(bare, 'undone', 120);
    const onlyLast = engines.start({ wrap: throwing('targets', 'undone-b'), record });
    const ended = await stepToEnd(onlyLast, 'undone');
    t.match(ended.status, { phase: 'Failed', items: [{ rolledBack: true }, { left: true, error: { reason: 'EngineFault' } }] });
  });

  await t.test(
    'a write that would break an invariant is not sent; spec.timeout ends the Transaction, and the undo names the rest',
    async (t) => {
      await begin('versionless');
      await stepUntil(bare, 'versionless', 'Committing');
      await step(bare, 'versionless');
      await bare.annotate('versionless', { 'tx.janus.io/request-rollback': 'yes' });
      await stepUntil(bare, 'versionless', 'RollingBack');
      const sent: string[] = [];
      const blind = engines.start({ wrap: withoutVersion('versionless-b', sent), record });
      const { status } = await step(blind, 'versionless');
      t.match(status, { phase: 'RollingBack', message: /internal error of the engine/ });
      t.ok(reports.at(-1)?.thrown instanceof InvariantError);
      t.match(reports.at(-1)?.events, [{ type: 'Warning', reason: 'EngineFault', message: /invariant I3 was not sent/ }]);
      await putIntoThePast(bare, 'versionless', 120);
      const ended = await stepToEnd(blind, 'versionless');
      t.match(ended.status, { phase: 'Failed', items: [{ rolledBack: true }, { left: true, error: { reason: 'EngineFault' } }] });
      t.notOk(sent.includes('versionless-b'), 'nothing was written to the object without a version');
      t.ok(sent.includes('versionless-a'), 'the others are undone');
    },
  );

  await t.test('the engine answers a request about a Committed Transaction although a step throws', async (t) => {
    await begin('kept');
    await stepToEnd(bare, 'kept');
    await bare.annotate('kept', { 'tx.janus.io/request-rollback': 'yes' });
    const answered = await stepUntil(engines.start({ wrap: throwingEverywhere, record }), 'kept', 'Committed');
    t.match(answered.status, { phase: 'Committed', message: /request-rollback="yes" has no effect: internal error/ });
    t.match((await stepToEnd(bare, 'kept')).status, { phase: 'Committed' });
  });

  for (const phase of ['Preparing', 'Prepared', 'Committing', 'Committed'])
    for (const [what, engine] of everyNth(2, Object.entries({ faulty, forgetful })))
      await t.test(`a deletion in ${phase} ends although a step throws (${what})`, async (t) => {
        const name = `gone-${phase.toLowerCase()}-${what}`;
        await begin(name);
        await stepUntil(bare, name, phase);
        must(await bare.client.delete(pathOf(bare, name)));
        t.ok((await stepUntilGone(engine, name)).gone);
        for (const lease of await bare.leases()) await bare.client.delete(leasePath(lease));
      });

  await t.test('the engine retries and reports an exception outside of a step, and a deletion ends', async (t) => {
    for (const phase of ['Preparing', 'Committing', 'Committed']) {
      const name = `outside-${phase.toLowerCase()}`;
      const blind = engines.start({ wrap: throwingAtFirst(), record });
      await begin(name);
      await stepUntil(bare, name, phase);
      const { code, status } = await step(blind, name);
      t.match({ code, status }, { code: 429, status: { phase } }, 'nothing is stored');
      t.match(reports.at(-1), { outcome: 'EngineFault' });
      t.ok(reports.at(-1)?.thrown instanceof Bug);
      must(await bare.client.delete(pathOf(bare, name)));
      t.ok((await stepUntilGone(blind, name)).gone);
      for (const lease of await bare.leases()) await bare.client.delete(leasePath(lease));
    }
  });

  await t.test('the engine retries an exception in the undo of a deleted Transaction for a minute', async (t) => {
    await begin('kept-on');
    await stepUntil(bare, 'kept-on', 'Committing');
    await bare.annotate('kept-on', { 'tx.janus.io/request-rollback': 'yes' });
    await stepUntil(bare, 'kept-on', 'RollingBack');
    must(await bare.client.delete(pathOf(bare, 'kept-on')));
    t.equal((await step(engines.start({ wrap: throwingAtFirst(), record }), 'kept-on')).code, 429);
    t.ok((await stepUntilGone(bare, 'kept-on')).gone);
    t.match(must(await bare.client.get(bare.path('configmaps/kept-on-a'))), { data: { color: 'blue' } });
  });

  await t.test('the engine answers a call although its reply throws', async (t) => {
    await begin('reported');
    await stepUntil(bare, 'reported', 'Prepared');
    let faults = 1;
    const failing = (report: StepReport): void => {
      faults -= 1;
      if (faults >= 0) throw new Bug('record');
      record(report);
    };
    const { code, status } = await step(engines.start({ record: failing }), 'reported');
    t.match({ code, status }, { code: 200, status: { message: /internal error of the engine/ } });
    t.match((await stepToEnd(bare, 'reported')).status, { phase: 'Committed' });
  });

  await t.test('pre-flight refuses a target that is nested without end', async (t) => {
    const deep = parseJson(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`);
    const nested = (cluster: Cluster): Cluster => ({
      ...cluster,
      get: async (location, identity) => {
        const answer = await cluster.get(location, identity);
        return location.name === 'deep-a' && answer.kind === 'ok'
          ? { ...answer, object: { ...answer.object, data: deep } }
          : answer;
      },
    });
    await begin('deep');
    const { status } = await stepToEnd(engines.start({ wrap: nested, record }), 'deep');
    t.match(status, { phase: 'Failed', message: /ConfigMap \S+deep-a cannot be a target: it is nested deeper than 500 levels/ });
  });

  await t.test('a user can delete a Transaction with a status that no engine writes', async (t) => {
    await begin('odd');
    await stepUntil(bare, 'odd', 'Prepared');
    const stored = await bare.read('odd');
    const status = { ...(at(stored, 'status') as object), items: [], version: 50 };
    must(await storeStatus(bare, 'odd', { status }));
    const seen = await step(engines.start({ record }), 'odd');
    t.match(seen, { code: 200, status: { version: 50 } });
    t.match(reports.at(-1), { outcome: 'UnknownStatus', events: [{ type: 'Warning', reason: 'UnknownStatus' }] });
    must(await bare.client.delete(pathOf(bare, 'odd')));
    t.ok((await stepUntilGone(bare, 'odd')).gone);
    t.equal(textAt(must(await bare.client.get(bare.path('configmaps/odd-a'))), 'data', 'color'), 'blue');
  });
});

/** As if all of it had begun so many seconds earlier. */
async function putIntoThePast(stage: Stage, name: string, seconds = 7_200): Promise<void> {
  const status = at(await stage.read(name), 'status') as JsonObject;
  const times = ['startTime', 'rollbackStartedAt', 'rollbackObservedAt'].flatMap((key) => {
    const time = textAt(status, key);
    return time === undefined ? [] : [[key, new Date(Date.parse(time) - seconds * 1_000).toISOString().replace('.000Z', 'Z')]];
  });
  const moved = { ...status, ...(Object.fromEntries(times) as JsonObject), version: Number(at(status, 'version')) + 1 };
  must(await storeStatus(stage, name, { status: moved }));
}

const leasePath = (name: string): string => `/apis/coordination.k8s.io/v1/namespaces/janus-system/leases/${name}`;

/** The first read of the Transaction in each call throws. */
function throwingAtFirst(): (cluster: Cluster) => Cluster {
  let reads = 0;
  return (cluster) => ({
    ...cluster,
    get: async (location, identity) => {
      if (location.resource.kind !== 'Transaction') return cluster.get(location, identity);
      reads += 1;
      if (reads % 2 === 1) throw new Bug('read');
      return cluster.get(location, identity);
    },
  });
}

/** Nothing can be read but the Transaction. */
function throwingEverywhere(cluster: Cluster): Cluster {
  const bug = async (): Promise<never> => {
    throw new Bug('read');
  };
  return {
    ...cluster,
    get: (location, identity) => (location.resource.kind === 'Transaction' ? cluster.get(location, identity) : bug()),
    getMetadata: bug,
    listMetadata: bug,
  };
}
