// An aggregated API server that is away holds up no deletion: its kinds are passed over, and a note names the APIService. Only a
// Namespace, whose objects of these kinds would go with it, is left until the APIService is available or gone. On an API server of its own,
// as the APIService is there for everybody.
import t from 'tap';
import { at, isList, isObject } from '../../../hooks/model/json.ts';
import { startControlPlane } from '../../controlplane/start.ts';
import { must, waitFor } from '../../support/client.ts';
import { isThere } from '../../support/owned.ts';
import { itemsOf } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const group = 'store.example.org';
const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const services = '/apis/apiregistration.k8s.io/v1/apiservices';
const short = { spec: { timeout: '16s' } };

t.test('an aggregated API server that is away', async (t) => {
  const plane = await startControlPlane({ report: () => undefined });
  t.teardown(() => plane.stop());
  process.env.JANUS_TEST_KUBECONFIG = plane.kubeconfig;
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
});
