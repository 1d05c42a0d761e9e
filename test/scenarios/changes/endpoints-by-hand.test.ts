// Endpoints that somebody made by hand, and that Kubernetes overwrites once a Service of their name has a selector.
import t, { type Test } from 'tap';
import { at, type JsonObject } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { causeOf } from '../../support/owned.ts';
import { allowIrreversible, commit, itemsOf, partial, undo, undoAll } from '../../support/round-trip.ts';
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

  await t.test('is refused in its turn, where its dry run had to wait for an earlier change', async (t) => {
    const ports = (nodePort?: number): JsonObject => ({ ports: [{ port: 80, ...(nodePort === undefined ? {} : { nodePort }) }] });
    const had = must(
      await client.create(path('services'), { metadata: { name: 'had' }, spec: { type: 'NodePort', ...ports() } }),
    );
    const [port] = at(had, 'spec', 'ports') as readonly JsonObject[];
    const taking = { spec: { type: 'NodePort', selector: { app: 'db' }, ...ports(at(port, 'nodePort') as number) } };
    await stage.transaction('in-turn', [change('Delete', 'had', undefined, service), change('Patch', 'db', taking, service)]);
    const { status } = await stepToEnd(stage, 'in-turn');
    t.match(status, { phase: 'RolledBack', message: /Kubernetes would overwrite the Endpoints db/ });
    t.equal(causeOf(status), 'Irreversible');
    t.match(must(await client.get(path('endpoints/db'))), { subsets });
    t.equal((await client.get(path('services/had'))).code, 200);
  });

  await t.test('passes if it is allowed, or deleted before', async (t) => {
    await commit(stage, 'deleted', [change('Delete', 'db', undefined, endpoints), change('Patch', 'db', selecting, service)]);
    must(await client.create(path('services'), { ...service, metadata: { name: 'other' }, ...plain }));
    await byHand('other');
    await commit(stage, 'allowed', [change('Patch', 'other', selecting, service)], allowIrreversible);
    t.pass();
  });

  await t.test('passes if Kubernetes has made them', async (t) => {
    must(await client.create(path('services'), { ...service, metadata: { name: 'fed' }, ...selecting }));
    await waitFor(async () => (await client.get(path('endpoints/fed'))).code === 200, 'the Endpoints');
    must(await client.patch(path('services/fed'), { spec: { selector: null } }));
    await commit(stage, 'fed', [change('Patch', 'fed', { spec: { selector: { app: 'fed' } } }, service)]);
    t.pass();
  });
});

t.test('an undo that gives a Service its selector back', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const endpointsOf = (name: string) => client.get(path(`endpoints/${name}`));
  const serve = async (name: string): Promise<void> => {
    must(await client.create(path('services'), { ...service, metadata: { name }, ...selecting }));
    await waitFor(async () => (await endpointsOf(name)).code === 200, `the Endpoints ${name}`);
  };
  const retried = async (name: string): Promise<JsonObject> => {
    await stage.annotate(name, { 'tx.janus.io/retry-rollback': 'yes' });
    return (await stepToEnd(stage, name)).status;
  };
  const showLeft = async (t: Test, status: JsonObject, name: string): Promise<void> => {
    t.match(status, { phase: 'Failed' });
    t.match(itemsOf(status)[0], {
      error: { reason: 'NotEmpty', message: new RegExp(`others wrote Endpoints \\S*${name} since`) },
    });
    t.match(must(await endpointsOf(name)), { subsets });
  };

  await t.test('leaves Endpoints that were written since it had none', async (t) => {
    await serve('moved');
    await commit(stage, 'moved', [change('Patch', 'moved', { spec: { selector: null } }, service)]);
    must(await client.patch(path('endpoints/moved'), { subsets }));
    await showLeft(t, await undo(stage, 'moved', partial), 'moved');
    t.notMatch(must(await client.get(path('services/moved'))), { spec: { selector: {} } });
    must(await client.delete(path('endpoints/moved')));
    t.match(await retried('moved'), { phase: 'RolledBack' });
    t.match(must(await client.get(path('services/moved'))), selecting);
  });

  await t.test('leaves Endpoints that were written since it was deleted', async (t) => {
    await serve('gone');
    await commit(stage, 'gone', [change('Delete', 'gone', undefined, service)]);
    await waitFor(async () => (await endpointsOf('gone')).code === 404, 'the Endpoints to go with their Service');
    must(await client.create(path('endpoints'), { metadata: { name: 'gone' }, subsets }));
    await showLeft(t, await undo(stage, 'gone', partial), 'gone');
    t.equal((await client.get(path('services/gone'))).code, 404);
    must(await client.delete(path('endpoints/gone')));
    t.match(await retried('gone'), { phase: 'RolledBack' });
  });

  await t.test('does not mind who annotated what Kubernetes wrote', async (t) => {
    await serve('noted');
    must(await client.patch(path('endpoints/noted'), { metadata: { annotations: { note: 'another writer' } } }));
    await commit(stage, 'noted', [change('Patch', 'noted', { spec: { selector: null } }, service)]);
    await undoAll(stage, 'noted');
    t.match(must(await client.get(path('services/noted'))), selecting);
  });
});
