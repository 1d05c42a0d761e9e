// Values of Secrets, and of objects in other namespaces, lie in the snapshot only sealed; and they are in no status, Event, log
// line, figure or Lease. Each value is a canary that is looked for everywhere, however encoded, after all that can go wrong.
import t from 'tap';
import { at, isObject, type JsonObject, textAt, withKey } from '../../../hooks/objects/json.ts';
import { freeNamespace, must, waitFor } from '../../support/client.ts';
import { engineNamespace } from '../../support/install.ts';
import { partial } from '../../support/round-trip.ts';
import { snapshotOf } from '../../support/snapshots.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { change } from '../../support/targets.ts';
import { canary, formsOf } from '../../threats/canaries.ts';

const secret = { kind: 'Secret' };

const holding = (value: string): JsonObject => ({ stringData: { key: value, other: value } });

/** Everything that the engine writes or says, as text, by where it was found. */
async function everyPlace(stage: Stage, others: readonly string[], log: readonly string[]): Promise<Map<string, string>> {
  const { client, namespace, hookUrl } = stage;
  const places = new Map<string, string>([
    ['log', log.join('')],
    ['metrics', await (await fetch(`${hookUrl}/metrics`)).text()],
  ]);
  const list = async (path: string): Promise<void> => void places.set(path, (await client.get(path)).text);
  for (const one of [namespace, ...others, engineNamespace])
    for (const plural of ['configmaps', 'events']) await list(`/api/v1/namespaces/${one}/${plural}`);
  await list(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
  await list(`/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`);
  const { items } = await client.list(`/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions`);
  // What a user writes into content lies in the spec: the README says so.
  for (const item of items)
    places.set(`Transaction ${textAt(item, 'metadata', 'name')}`, JSON.stringify(withKey(item, 'spec', undefined)));
  return places;
}

function findings(places: ReadonlyMap<string, string>, values: readonly string[]): readonly string[] {
  return [...places].flatMap(([place, text]) =>
    values
      .flatMap(formsOf)
      .filter((form) => text.includes(form))
      .map(() => place),
  );
}

t.test('the engine shows values of Secrets to no reader', async (t) => {
  const log: string[] = [];
  const stage = await startStage(t, { logTo: { write: (line) => void log.push(line) } });
  const { client } = stage;
  const elsewhere = await freeNamespace(client, 'elsewhere', t);
  const values = Object.fromEntries(
    ['patched', 'updated', 'deleted', 'far', 'config', 'written', 'refused', 'edited'].map((name) => [name, canary()] as const),
  ) as Record<string, string>;
  const canaryOf = (name: string): string => values[name] ?? '';
  const make = (collection: string, name: string, content: JsonObject): Promise<unknown> =>
    client.create(collection, { metadata: { name }, ...content }).then(must);
  for (const name of ['patched', 'updated', 'deleted']) await make(stage.path('secrets'), name, holding(canaryOf(name)));
  await make(`/api/v1/namespaces/${elsewhere}/secrets`, 'far', holding(canaryOf('far')));
  await make(`/api/v1/namespaces/${elsewhere}/configmaps`, 'config', { data: { key: canaryOf('config') } });
  const written = holding(canaryOf('written'));

  await stage.transaction('good', [
    change('Patch', 'patched', written, secret),
    change('Update', 'updated', written, secret),
    change('Delete', 'deleted', undefined, secret),
    change('Create', 'created', written, secret),
    change('Patch', 'far', written, { ...secret, namespace: elsewhere }),
    change('Patch', 'config', { data: { more: 'yes' } }, { namespace: elsewhere }),
    change('Create', 'plain', { data: { not: 'secret' } }),
  ]);
  t.match(await stage.finished('good'), { phase: 'Committed' });

  await t.test('the snapshot holds sealed values', async (t) => {
    const { data } = await snapshotOf(stage, 'good');
    const entries = isObject(data) ? Object.values(data) : [];
    t.equal(entries.length, 7);
    t.equal(
      entries.filter((entry) => typeof entry === 'string' && entry.startsWith('sealed:')).length,
      6,
      'all but the plain one',
    );
  });

  await t.test('refusals and conflicts do not quote the values', async (t) => {
    const label = { metadata: { labels: { value: `${canaryOf('refused')}!` } } };
    await stage.transaction('refused', [
      change('Create', 'odd', { ...label, ...holding(canaryOf('refused')) }, secret),
      change('Create', 'odder', { [canaryOf('refused')]: 'an unknown field' }, secret),
    ]);
    t.match(await stage.finished('refused'), { phase: 'Failed', message: /Secret \S+\/odd was refused by a dry run/ });

    must(
      await client.patch(stage.path('secrets/patched'), { stringData: { key: canaryOf('edited') } }, 'merge', {
        fieldManager: 'a-person',
      }),
    );
    await stage.annotate('good', { 'tx.janus.io/request-rollback': 'yes', ...partial });
    const status = await stage.phase('good', 'Failed');
    t.match(textAt(status, 'message'), /Secret \S+\/patched was changed by others .*data\.key \(by a-person\)/);
    await stage.finished('good');
  });

  await t.test('the undo restores the values', async (t) => {
    for (const path of [
      stage.path('secrets/updated'),
      stage.path('secrets/deleted'),
      `/api/v1/namespaces/${elsewhere}/secrets/far`,
    ]) {
      const name = path.slice(path.lastIndexOf('/') + 1);
      t.equal(textAt(must(await client.get(path)), 'data', 'key'), Buffer.from(canaryOf(name)).toString('base64'));
    }
  });

  await t.test('no object and no log contains the values', async (t) => {
    const events = async (): Promise<boolean> => (await client.get(stage.path('events'))).text.includes('RollbackConflict');
    await waitFor(events, 'the Events');
    const places = await everyPlace(stage, [elsewhere], log);
    places.delete(`/api/v1/namespaces/${elsewhere}/configmaps`);
    t.same(findings(places, Object.values(values)), []);
    t.ok(log.length > 20 && log.some((line) => line.includes('"resource":"secrets"')), 'the log was there to be looked at');
    const targets = new Map([['secrets', (await client.get(stage.path('secrets'))).text]]);
    t.not(findings(targets, [canaryOf('updated')]).length, 0, 'the search finds an updated value');
    t.ok(at(await stage.read('good'), 'status', 'rollbackRef'));
  });
});
