// What went wrong in an earlier implementation of the same idea and is shown nowhere else: see test/faults-found-elsewhere.test.ts.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/model/json.ts';
import { must } from '../support/client.ts';
import { engineNamespace } from '../support/install.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { stepToEnd, stepUntil, stepUntilGone } from '../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../support/targets.ts';

const green = { data: { color: 'green' } };
const leases = `/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`;

function pathOf({ namespace }: Stage, name: string): string {
  return `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions/${name}`;
}

async function data({ client, path }: Stage, name: string): Promise<unknown> {
  return must(await client.get(path(`configmaps/${name}`))).data;
}

t.test('faults found elsewhere', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });

  await t.test('two of the same name, one after the other, keep the fields of both', async (t) => {
    await createConfigMaps(stage, ['a']);
    await stage.transaction('same', [change('Patch', 'a', { data: { first: 'yes' } })]);
    await stepToEnd(stage, 'same');
    must(await stage.client.delete(pathOf(stage, 'same')));
    await stepUntilGone(stage, 'same');
    await stage.transaction('same', [change('Patch', 'a', { data: { second: 'yes' } })]);
    await stepToEnd(stage, 'same');
    t.match(await data(stage, 'a'), { first: 'yes', second: 'yes' });
    await stage.annotate('same', { 'tx.janus.io/request-rollback': 'yes' });
    await stepUntil(stage, 'same', 'RolledBack');
    await stepToEnd(stage, 'same');
    t.match(await data(stage, 'a'), { first: 'yes', second: undefined });
  });

  await t.test('the snapshot of a former one of the same name is not adopted', async (t) => {
    await createConfigMaps(stage, ['b']);
    const [before] = await portraits(stage.client, [stage.path('configmaps/b')]);
    await stage.transaction('former', [change('Patch', 'b', { data: { color: 'red' } })]);
    await stepUntil(stage, 'former', 'Prepared');
    for (const lease of await stage.leases()) must(await stage.client.delete(`${leases}/${lease}`));
    must(await stage.client.patch(pathOf(stage, 'former'), { metadata: { finalizers: null } }));
    must(await stage.client.delete(pathOf(stage, 'former')));
    await stage.transaction('former', [change('Patch', 'b', green)]);
    const { status } = await stepToEnd(stage, 'former');
    t.match(status, { phase: 'Committed', rollbackRef: { name: /^former-rollback-[0-9a-f]{20}$/ } });
    await stage.annotate('former', { 'tx.janus.io/request-rollback': 'yes' });
    await stepUntil(stage, 'former', 'RolledBack');
    await stepToEnd(stage, 'former');
    t.same((await portraits(stage.client, [stage.path('configmaps/b')]))[0], before);
  });

  for (const type of ['Patch', 'Update'])
    await t.test(`a target that is deleted before its ${type} is not made again`, async (t) => {
      const name = `gone-${type.toLowerCase()}`;
      await createConfigMaps(stage, [name]);
      await stage.transaction(name, [change(type, name, green)]);
      await stepUntil(stage, name, 'Prepared');
      must(await stage.client.delete(stage.path(`configmaps/${name}`)));
      const { status } = await stepToEnd(stage, name);
      t.match(status, { phase: 'RolledBack', message: /was deleted by someone else after its snapshot was taken/ });
      t.equal((await stage.client.get(stage.path(`configmaps/${name}`))).code, 404);
    });

  await t.test('an expired lock that has neither labels nor times is taken over', async (t) => {
    await createConfigMaps(stage, ['c']);
    await stage.transaction('first', [change('Patch', 'c', green)]);
    await stepUntil(stage, 'first', 'Preparing');
    const [lease = ''] = await stage.leases();
    await stepToEnd(stage, 'first');
    t.teardown(() => stage.client.delete(`${leases}/${lease}`));
    must(
      await stage.client.create(leases, {
        metadata: { name: lease },
        spec: { holderIdentity: 'somebody', leaseDurationSeconds: 1 },
      }),
    );
    await stage.transaction('second', [change('Patch', 'c', { data: { more: 'yes' } })]);
    t.match((await stepToEnd(stage, 'second')).status, { phase: 'Committed' });
    t.equal((await stage.client.get(`${leases}/${lease}`)).code, 404, 'and is given back');
  });

  await t.test('a rollback that is requested after spec.timeout undoes all the same', async (t) => {
    await createConfigMaps(stage, ['d']);
    const before = await data(stage, 'd');
    await stage.transaction('old', [change('Patch', 'd', green)], { spec: { timeout: '1m' } });
    await stepToEnd(stage, 'old');
    await putIntoThePast(stage, 'old');
    await stage.annotate('old', { 'tx.janus.io/request-rollback': 'yes' });
    t.match((await stepUntil(stage, 'old', 'RolledBack')).status, { phase: 'RolledBack' });
    await stepToEnd(stage, 'old');
    t.same(await data(stage, 'd'), before);
  });
});

t.test('who may not change an object does not lock it either', async (t) => {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }];
  const stage = await startStage(t, { withoutLoop: true, rules });
  await createConfigMaps(stage, ['e']);
  await stage.transaction('denied', [change('Patch', 'e', green)]);
  t.match((await stepToEnd(stage, 'denied')).status, { phase: 'Failed', message: /may not patch configmaps/ });
  t.same(
    stage.reports.flatMap(({ locks }) => locks),
    [],
    'no Lease was written at any time',
  );
});

/** As if it had been committed a day ago. */
async function putIntoThePast(stage: Stage, name: string): Promise<void> {
  const live = await stage.read(name);
  const status = live.status as JsonObject;
  const aDayBefore = (key: string): string =>
    new Date(Date.parse(textAt(status, key) ?? '') - 86_400_000).toISOString().replace('.000Z', 'Z');
  const moved = { startedAt: aDayBefore('startedAt'), completedAt: aDayBefore('completedAt') };
  const version = Number(at(status, 'version')) + 1;
  must(await stage.client.update(`${pathOf(stage, name)}/status`, { ...live, status: { ...status, ...moved, version } }));
}
