// Locks in use: all are renewed before they expire, an outage longer than their life undoes nothing, and who waits for them
// gets its turn.
import t from 'tap';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { engineNamespace } from '../../support/install.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const leases = `/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`;
const minutes = 60_000;
const request = { 'tx.janus.io/request-rollback': 'yes' };

/** As if all locks on these targets had been renewed that long ago. */
async function age(stage: Stage, milliseconds: number): Promise<void> {
  const now = Date.parse(String((await stage.client.get('/version')).headers.date));
  const renewTime = new Date(now - milliseconds).toISOString().replace('Z', '000Z');
  for (const name of await stage.leases()) must(await stage.client.patch(`${leases}/${name}`, { spec: { renewTime } }));
}

async function renewals(stage: Stage): Promise<readonly (string | undefined)[]> {
  const all = await Promise.all((await stage.leases()).map((name) => stage.client.get(`${leases}/${name}`)));
  return all.map(({ body }) => textAt(body, 'spec', 'renewTime'));
}

const paint = (...names: readonly string[]): readonly JsonObject[] =>
  names.map((name) => change('Patch', name, { data: { color: 'green' } }));

t.test('the engine renews locks in use', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });

  await t.test('the engine does not write locks with more than half of their life left', async (t) => {
    await createConfigMaps(stage, ['a0', 'a1', 'a2']);
    await stage.transaction('young', paint('a0', 'a1', 'a2'), { spec: { lockTimeout: '10m' } });
    await stepUntil(stage, 'young', 'Prepared');
    await age(stage, 4 * minutes);
    const before = await renewals(stage);
    await step(stage, 'young');
    t.same(await renewals(stage), before);
    await stepToEnd(stage, 'young');
  });

  await t.test('the engine renews locks with less than half of their life left, and makes the change', async (t) => {
    await createConfigMaps(stage, ['b0', 'b1', 'b2']);
    await stage.transaction('old', paint('b0', 'b1', 'b2'), { spec: { lockTimeout: '10m' } });
    await stepUntil(stage, 'old', 'Prepared');
    await age(stage, 6 * minutes);
    const before = await renewals(stage);
    t.match((await step(stage, 'old')).status, { phase: 'Committing', progress: '1/3' });
    const after = await renewals(stage);
    t.equal(after.length, 3);
    t.ok(
      after.every((time, index) => Date.parse(time ?? '') > Date.parse(before[index] ?? '') + minutes),
      'also those of changes that are still to come',
    );
    await stepToEnd(stage, 'old');
  });

  await t.test('the engine renews locks that expired in an outage if no other Transaction waits', async (t) => {
    await createConfigMaps(stage, ['c0', 'c1']);
    const before = await portraits(
      stage.client,
      ['c0', 'c1'].map((name) => stage.path(`configmaps/${name}`)),
    );
    await stage.transaction('away', paint('c0', 'c1'), { spec: { lockTimeout: '30s' } });
    for (const phase of ['Preparing', 'Prepared', 'Committing']) {
      await stepUntil(stage, 'away', phase);
      await age(stage, 60 * minutes);
    }
    t.match((await stepToEnd(stage, 'away')).status, { phase: 'Committed' });

    await stage.annotate('away', request);
    await stepUntil(stage, 'away', 'RollingBack');
    await age(stage, 60 * minutes);
    t.match((await stepToEnd(stage, 'away')).status, { phase: 'RolledBack' }, 'nor is an undo stopped by it');
    t.same(
      await portraits(
        stage.client,
        ['c0', 'c1'].map((name) => stage.path(`configmaps/${name}`)),
      ),
      before,
    );
  });

  await t.test('the engine takes locks again that were deleted in an undo', async (t) => {
    await createConfigMaps(stage, ['d0', 'd1']);
    await stage.transaction('robbed', paint('d0', 'd1'));
    await stepUntil(stage, 'robbed', 'Committing');
    await stage.annotate('robbed', request);
    await stepUntil(stage, 'robbed', 'RollingBack');
    for (const name of await stage.leases()) must(await stage.client.delete(`${leases}/${name}`));
    t.match((await stepToEnd(stage, 'robbed')).status, { phase: 'RolledBack' });
    t.match(must(await stage.client.get(stage.path('configmaps/d0'))), { data: { color: 'blue' } });
  });
  t.same(await stage.leases(), [], 'none is left');
});

t.test('five Transactions over one object all commit', async (t) => {
  const stage = await startStage(t);
  await createConfigMaps(stage, ['wanted']);
  const names = ['one', 'two', 'three', 'four', 'five'];
  await Promise.all(names.map((name) => stage.transaction(name, [change('Patch', 'wanted', { data: { [name]: 'yes' } })])));
  for (const name of names) t.match(await stage.finished(name), { phase: 'Committed' });
  t.match(must(await stage.client.get(stage.path('configmaps/wanted'))), {
    data: Object.fromEntries(names.map((name) => [name, 'yes'])),
  });
  t.same(await stage.leases(), []);
});
