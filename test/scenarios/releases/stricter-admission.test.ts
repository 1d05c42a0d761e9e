// What exists may not be admitted again: Kubernetes' own validation is stricter for new objects, a webhook came later, or denies what it
// let pass before. A Delete of it, or a change that recreates it, is refused before the first change, and shows no hidden value.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { startDenyingAdmission } from '../../support/denying-admission.ts';
import { allowIrreversible, commit, partial, portrait, undo, undoAll } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change, recreating } from '../../support/targets.ts';

t.test('the engine tries whether it could create again what a change deletes', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const refusal = async (id: string, changed: JsonObject): Promise<string> => {
    await stage.transaction(id, [change('Create', `${id}-first`, {}), changed]);
    const { status, phase } = await stepToEnd(stage, id);
    const message = textAt(status, 'message') ?? '';
    if (phase !== 'Failed') throw new Error(`expected ${id} to be Failed, it is ${phase}: ${message}`);
    if ((await client.get(path(`configmaps/${id}-first`))).code !== 404) throw new Error(`${id} has written`);
    return message;
  };

  await t.test('an Ingress with two classes, which only an update may give it', async (t) => {
    const ingress = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress' };
    const ingresses = path('networking.k8s.io/v1/ingresses');
    const annotations = { 'kubernetes.io/ingress.class': 'old' };
    const spec = { defaultBackend: { service: { name: 'web', port: { number: 80 } } } };
    must(await client.create(ingresses, { ...ingress, metadata: { name: 'two', annotations }, spec }));
    must(await client.patch(`${ingresses}/two`, { spec: { ingressClassName: 'new' } }));
    const deletion = change('Delete', 'two', undefined, ingress);
    t.match(
      await refusal('two-no', deletion),
      /^nothing was applied: spec\.changes\[1\]: Delete of Ingress\S+ \S+\/two cannot be undone: .*annotations.*kubernetes\.io\/ingress\.class/,
    );
    await commit(stage, 'label', [change('Patch', 'two', { metadata: { labels: { a: 'b' } } }, ingress)]);
    await undoAll(stage, 'label');
    await commit(stage, 'two-yes', [deletion], allowIrreversible);
    t.match(await undo(stage, 'two-yes', partial), { phase: 'Failed', message: /ingress\.class/ });
  });

  await t.test('what the object alone has taken is no hindrance: a node port, a quota', async (t) => {
    const ports = [{ port: 80, protocol: 'TCP' }];
    must(await client.create(path('services'), { metadata: { name: 'port' }, spec: { type: 'NodePort', ports } }));
    must(await client.create(path('secrets'), { metadata: { name: 'counted' } }));
    must(await client.create(path('resourcequotas'), { metadata: { name: 'full' }, spec: { hard: { 'count/secrets': '1' } } }));
    const isCounted = async (): Promise<boolean> =>
      at(must(await client.get(path('resourcequotas/full'))), 'status', 'used', 'count/secrets') === '1';
    await waitFor(isCounted, 'the quota to be counted');
    const paths = ['services/port', 'secrets/counted'].map(path);
    const was = await Promise.all(paths.map((one) => portrait(stage, one, true)));
    await commit(stage, 'taken', [
      change('Delete', 'port', undefined, { kind: 'Service' }),
      change('Delete', 'counted', undefined, { kind: 'Secret' }),
    ]);
    await undoAll(stage, 'taken');
    t.same(await Promise.all(paths.map((one) => portrait(stage, one, true))), was);
    must(await client.delete(path('resourcequotas/full')));
  });

  const admission = await startDenyingAdmission(stage, t);
  const denyingFor = (name: string, status: JsonObject): void =>
    admission.decide((review) => (review.operation === 'CREATE' && review.name === name ? status : undefined));

  for (const [what, code] of [
    ['a code', { code: 403 }],
    ['no code', {}],
  ] as const)
    await t.test(`a webhook that denies what exists with ${what}`, async (t) => {
      const [name, id] = [`denied-${what.replaceAll(' ', '-')}`, what.replaceAll(' ', '-')];
      must(await client.create(path('configmaps'), { metadata: { name }, data: { color: 'blue' } }));
      denyingFor(name, { ...code, message: 'a team is missing' });
      const deletion = change('Delete', name);
      t.match(await refusal(`${id}-no`, deletion), /cannot be undone: .*a team is missing/);
      await commit(stage, `${id}-put`, [change('Update', name, { data: { color: 'green' } })]);
      await commit(stage, `${id}-yes`, [deletion], allowIrreversible);
    });

  await t.test('a webhook that denies what a change would recreate', async (t) => {
    must(await client.create(path('configmaps'), { metadata: { name: 'fixed' }, data: { color: 'blue' }, immutable: true }));
    admission.decide(({ operation, object }) =>
      operation === 'CREATE' && at(object, 'data', 'color') === 'blue' ? { code: 403, message: 'no blue' } : undefined,
    );
    const changed = recreating('fixed', { data: { color: 'green' }, immutable: true });
    t.match(await refusal('fixed-no', changed), /Update of ConfigMap \S+\/fixed cannot be undone: .*no blue/);
    t.equal(at(must(await client.get(path('configmaps/fixed'))), 'data', 'color'), 'blue');
  });

  await t.test('the message shows no value of a Secret', async (t) => {
    must(await client.create(path('secrets'), { metadata: { name: 'hidden' }, stringData: { password: 'hunter2' } }));
    denyingFor('hidden', {
      code: 422,
      reason: 'Invalid',
      message: 'data.password: hunter2 is weak',
      details: { causes: [{ field: 'data[password].hunter2', message: 'hunter2 is weak' }] },
    });
    const message = await refusal('hidden-no', change('Delete', 'hidden', undefined, { kind: 'Secret' }));
    t.match(message, /cannot be undone: .*Invalid \(\.data\.password\[…\]\)/);
    t.notMatch(message, /hunter2/);
  });

  await t.test('a webhook that fails says nothing of it: the Delete is made', async () => {
    must(await client.create(path('configmaps'), { metadata: { name: 'unsure' }, data: { color: 'blue' } }));
    denyingFor('unsure', { code: 500, reason: 'InternalError', message: 'away' });
    await commit(stage, 'unsure', [change('Delete', 'unsure')]);
    admission.decide(() => undefined);
    await undoAll(stage, 'unsure');
  });
});
