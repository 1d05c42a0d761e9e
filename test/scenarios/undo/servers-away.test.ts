// An aggregated API server that is away holds up no deletion: its kinds are passed over, and a note names the APIService. Only a
// Namespace, whose objects of these kinds would go with it, is left until the APIService is available or gone. On an API server of its own,
// as the APIService is there for everybody.
import t from 'tap';
import { at, isList, isObject } from '../../../hooks/objects/json.ts';
import { startAggregated } from '../../support/aggregated.ts';
import { must, waitFor } from '../../support/client.ts';
import { ownControlPlane } from '../../support/own-control-plane.ts';
import { isThere } from '../../support/owned.ts';
import { itemsOf } from '../../support/round-trip.ts';
import { inAllOnly } from '../../support/selection.ts';
import { startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const group = 'store.example.org';
const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const services = '/apis/apiregistration.k8s.io/v1/apiservices';
const short = { spec: { timeout: '16s' } };

t.test('an aggregated API server that is away', async (t) => {
  await ownControlPlane(t);
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;
  const room = `${namespace}-room`;
  const remove = (): Promise<unknown> => client.delete(`${services}/v1.${group}`);
  await createConfigMaps(stage, ['deleted']);
  const changes = [change('Create', 'made', {}), change('Create', room, {}, { kind: 'Namespace' })];
  await stage.transaction('made', changes, short);
  t.match(await stepToEnd(stage, 'made'), { phase: 'Committed' });
  const other = change('Create', `${room}-other`, {}, { kind: 'Namespace' });
  await stage.transaction('stopped', [other, change('Create', 'first', {}), change('Create', 'taken', {})], short);
  await stepUntil(stage, 'stopped', 'Prepared');
  await createConfigMaps(stage, ['taken']);

  const service = { name: 'nobody', namespace };
  const spec = { group, version: 'v1', groupPriorityMinimum: 1000, versionPriority: 15, service, insecureSkipTLSVerify: true };
  must(await client.create(services, { metadata: { name: `v1.${group}` }, spec }));
  t.teardown(remove);
  const touch = async (): Promise<unknown> =>
    must(await client.patch(`${services}/v1.${group}`, { metadata: { annotations: { touched: String(Math.random()) } } }));
  const isFresh = async (freshness: string): Promise<boolean> => {
    const { body } = await client.request('GET', '/apis', { headers: { accept } });
    const groups = at(body, 'items');
    const found = isList(groups) ? groups.find((one) => at(one, 'metadata', 'name') === group) : undefined;
    const versions = at(found, 'versions');
    return isList(versions) && versions.some((one) => at(one, 'freshness') === freshness);
  };
  const isListed = async (): Promise<boolean> => {
    const { body } = await client.request('GET', '/apis', { headers: { accept } });
    const groups = at(body, 'items');
    return isList(groups) && groups.some((one) => isObject(one) && at(one, 'metadata', 'name') === group);
  };
  await waitFor(isListed, 'discovery to name its group');
  const away = /is not Available: v1\.store\.example\.org/;
  const unknown = /APIService v1\.store\.example\.org is not Available/;

  await t.test('holds up no Delete: a note names it', async (t) => {
    await stage.transaction('deleting', [change('Delete', 'deleted')], short);
    const { status } = await stepToEnd(stage, 'deleting');
    t.match(status, { phase: 'Committed' });
    t.match(itemsOf(status), [{ note: away }]);
    t.notOk(await isThere(stage, path('configmaps/deleted')));
  });

  await t.test('keeps a Namespace that never was Committed, and nothing else', async (t) => {
    t.match(itemsOf((await stepToEnd(stage, 'stopped')).status), [
      { left: true, error: { message: unknown } },
      { rolledBack: true, note: away },
      { error: Object },
    ]);
    t.equal((await client.get(`/api/v1/namespaces/${room}-other`)).code, 200);
  });

  await t.test('blocks the undo of a Namespace at once, by the name of the APIService', async (t) => {
    await stage.annotate('made', { 'tx.janus.io/request-rollback': 'yes' });
    const { status } = await stepToEnd(stage, 'made');
    t.match(status, { phase: 'Committed', undo: { reason: 'UndoRefused', counts: { blocked: 1, delete: 1 } } });
    t.match(at(status, 'undo', 'items'), [{ index: 1, verdict: 'Blocked', message: unknown }, { verdict: 'Delete' }]);
    t.ok(await isThere(stage, path('configmaps/made')));
    t.equal((await client.get(`/api/v1/namespaces/${room}`)).code, 200);
    await remove();
    await waitFor(async () => !(await isListed()), 'discovery to forget its group');
    await stage.annotate('made', { 'tx.janus.io/request-rollback': 'again' });
    t.match((await stepToEnd(stage, 'made')).status, { phase: 'RolledBack' });
  });

  await t.test('of this Transaction: its undo deletes the APIService, so the Namespace goes with it', async (t) => {
    const own = `${namespace}-own`;
    const target = { kind: 'APIService', apiVersion: 'apiregistration.k8s.io/v1' };
    const registered = {
      type: 'Create',
      target: { ...target, name: `v1.${group}` },
      content: { ...target, metadata: { name: `v1.${group}` }, spec },
    };
    await stage.transaction('own', [registered, change('Create', own, {}, { kind: 'Namespace' })], { spec: { timeout: '120s' } });
    t.match(await stepToEnd(stage, 'own'), { phase: 'Committed' });
    await waitFor(isListed, 'discovery to name its group');
    await stage.annotate('own', { 'tx.janus.io/request-rollback': 'yes' });
    t.match((await stepToEnd(stage, 'own')).status, { phase: 'RolledBack' });
  });

  await t.test('that was there before', async (t) => {
    const server = await startAggregated(group, 'widgets', 'Widget');
    t.teardown(() => server.stop());
    const outside = { type: 'ExternalName', externalName: '127.0.0.1', ports: [{ port: server.port }] };
    must(await client.create(path('services'), { metadata: { name: 'somewhere' }, spec: outside }));
    const remote = { ...spec, service: { name: 'somewhere', namespace, port: server.port } };
    must(await client.create(services, { metadata: { name: `v1.${group}` }, spec: remote }));
    await waitFor(() => isFresh('Current'), 'discovery to know its kinds');
    const rooms = ['one', 'two'].map((name) => change('Create', `${room}-${name}`, {}, { kind: 'Namespace' }));
    await stage.transaction('known', rooms, { spec: { timeout: '120s' } });
    t.match(await stepToEnd(stage, 'known'), { phase: 'Committed' });

    server.answer(false);
    await touch();
    await waitFor(() => isFresh('Stale'), 'discovery to find it stale');
    await stage.annotate('known', { 'tx.janus.io/request-rollback': 'yes' });
    const blocked = { verdict: 'Blocked', message: unknown };
    t.match((await stepToEnd(stage, 'known')).status, { phase: 'Committed', undo: { items: [blocked, blocked] } });

    for (const how of ['endless', 'never'] as const)
      await t.test(`whose lists are ${how} answered: it is waited for, then passed over by name`, inAllOnly, async (t) => {
        server.answer(true);
        await touch();
        await waitFor(() => isFresh('Current'), 'discovery to find it again');
        const hasty = await startStage(t, { withoutLoop: true, timing: { writeTimeout: 3_000 } });
        await hasty.transaction('hasty', [change('Create', 'first', {}), change('Create', 'taken', {})], {
          spec: { timeout: '40s' },
        });
        await stepUntil(hasty, 'hasty', 'Prepared');
        await createConfigMaps(hasty, ['taken']);
        server.answer(how);
        const { status } = await stepToEnd(hasty, 'hasty');
        t.match(status, { phase: 'RolledBack' });
        t.match(itemsOf(status)[0], { rolledBack: true, note: /listing them fails: widgets\.store\.example\.org$/ });
        server.answer(true);
      });

    await t.test('and that flips during an undo: the rest waits for it', inAllOnly, async (t) => {
      server.answer(true);
      await touch();
      await waitFor(() => isFresh('Current'), 'discovery to find it again');
      await stage.annotate('known', { 'tx.janus.io/request-rollback': 'again' });
      await stepUntil(stage, 'known', 'RollingBack');
      server.answer(false);
      await touch();
      await waitFor(() => isFresh('Stale'), 'discovery to find it stale');
      t.match((await step(stage, 'known')).phase, 'RollingBack');
      t.equal((await client.get(`/api/v1/namespaces/${room}-two`)).code, 200);
      server.answer(true);
      await touch();
      await waitFor(() => isFresh('Current'), 'discovery to find it again');
      t.match((await stepToEnd(stage, 'known')).status, { phase: 'RolledBack' });
    });
  });
});
