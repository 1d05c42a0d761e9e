// Endpoints that somebody made by hand, and that Kubernetes overwrites once a Service of their name has a selector.
import t, { type Test } from 'tap';
import type { JsonObject } from '../../../hooks/model/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { causeOf } from '../../support/owned.ts';
import { allowIrreversible, commit } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const service = { apiVersion: 'v1', kind: 'Service' };
const endpoints = { apiVersion: 'v1', kind: 'Endpoints' };
const subsets = [{ addresses: [{ ip: '192.0.2.7' }], ports: [{ port: 80 }] }];
const plain = { spec: { ports: [{ port: 80 }] } };
const selecting = { spec: { ports: [{ port: 80 }], selector: { app: 'db' } } };

t.test('a Service that gets a selector', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const byHand = async (name: string): Promise<void> => {
    must(await client.create(path('endpoints'), { metadata: { name }, subsets }));
  };
  const showRefused = async (t: Test, name: string, changes: readonly JsonObject[]): Promise<void> => {
    await stage.transaction(name, changes);
    const { status } = await stepToEnd(stage, name);
    t.match(status, { phase: 'Failed', message: /Kubernetes would overwrite the Endpoints db/ });
    t.equal(causeOf(status), 'Irreversible');
    t.match(must(await client.get(path('endpoints/db'))), { subsets });
  };

  await byHand('db');
  await t.test('is refused where it is created', (t) => showRefused(t, 'created', [change('Create', 'db', selecting, service)]));

  must(await client.create(path('services'), { ...service, metadata: { name: 'db' }, ...plain }));
  for (const [type, content] of [
    ['Patch', { spec: { selector: { app: 'db' } } }],
    ['Update', selecting],
    ['Apply', selecting],
  ] as const)
    await t.test(`is refused by ${type}`, (t) => showRefused(t, type.toLowerCase(), [change(type, 'db', content, service)]));

  await t.test('passes where it is allowed, or deleted before', async (t) => {
    await commit(stage, 'deleted', [change('Delete', 'db', undefined, endpoints), change('Patch', 'db', selecting, service)]);
    must(await client.create(path('services'), { ...service, metadata: { name: 'other' }, ...plain }));
    await byHand('other');
    await commit(stage, 'allowed', [change('Patch', 'other', selecting, service)], allowIrreversible);
    t.pass();
  });

  await t.test('passes where Kubernetes has made them', async (t) => {
    must(await client.create(path('services'), { ...service, metadata: { name: 'fed' }, ...selecting }));
    await waitFor(async () => (await client.get(path('endpoints/fed'))).code === 200, 'the Endpoints');
    must(await client.patch(path('services/fed'), { spec: { selector: null } }));
    await commit(stage, 'fed', [change('Patch', 'fed', { spec: { selector: { app: 'fed' } } }, service)]);
    t.pass();
  });
});
