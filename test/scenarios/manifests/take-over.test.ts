// An object that another app applied is refused, unless the release takes it over by name. What an Apply takes from other field managers
// is in its status, and in the plan.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { plan } from '../../../hooks/transactions/inspect.ts';
import { must } from '../../support/client.ts';
import { planParts } from '../../support/planning.ts';
import { itemsOf, portrait, undoAll } from '../../support/round-trip.ts';
import { account, startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const mark = 'tx.janus.io/applied-by';
const stage = await startStage(t, { withoutLoop: true });
const { client, path, namespace } = stage;

const config = (name: string, data: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});
const applied = (content: JsonObject): JsonObject => ({ type: 'Apply', content });

async function ended(name: string, changes: readonly JsonObject[], spec: JsonObject): Promise<JsonObject> {
  await stage.transaction(name, changes, { spec });
  return (await stepToEnd(stage, name)).status;
}

async function released(t: Test, name: string, content: JsonObject, spec: JsonObject): Promise<JsonObject> {
  const status = await ended(name, [applied(content)], spec);
  t.match(status, { phase: 'Committed' }, textAt(status, 'message') ?? '');
  return status;
}

type Release = readonly [content: JsonObject, spec: JsonObject];

async function refused(t: Test, name: string, [content, spec]: Release, message: RegExp): Promise<void> {
  const where = path(`configmaps/${textAt(content, 'metadata', 'name')}`);
  const before = await portrait(stage, where);
  const status = await ended(name, [applied(content)], spec);
  t.match(status, { phase: 'Failed', message });
  const succeeded = (at(status, 'conditions') as readonly JsonObject[]).find(({ type }) => type === 'Succeeded');
  t.equal(succeeded?.reason, 'OtherApp');
  t.same(await portrait(stage, where), before, 'nothing is written');
  t.same(await stage.leases(), [], 'no lock is left');
}

const planOf = (changes: readonly JsonObject[], spec: JsonObject) =>
  plan(planParts(t, stage), {
    metadata: { name: 'planned', namespace },
    spec: { serviceAccountName: account, changes, ...spec },
  });

t.test('an object that another app applied', async (t) => {
  await released(t, 'pay-1', config('shared', { color: 'blue', size: 'small' }), { fieldManager: 'payments' });
  const before = await portrait(stage, path('configmaps/shared'));
  const ours = config('shared', { color: 'green' });
  const shop = { fieldManager: 'shop' };

  await t.test('is refused with the name of that app', async (t) => {
    await refused(t, 'shop-1', [ours, shop], /ConfigMap .*shared was applied by another app, payments: .*takeOver: \[payments\]/);
    const found = await planOf([applied(ours)], shop);
    t.match(found, { verdict: 'refused', refusal: [{ index: 0, reason: 'OtherApp', message: /payments/ }] });
  });

  await t.test('is refused if takeOver names an app that applied nothing', async (t) => {
    await refused(t, 'shop-2', [ours, { ...shop, takeOver: ['billing'] }], /another app, payments/);
    const wanted = { fieldManager: 'payments', takeOver: ['billing'] };
    await refused(t, 'pay-2', [ours, wanted], /takeOver: billing has applied none of the objects, payments did/);
    const alone = await ended('alone', [applied(config('none', { a: '1' }))], { ...shop, takeOver: ['billing'] });
    t.match(alone, { phase: 'Failed', message: /billing has applied none of the objects, no app did/ });
    t.equal((await client.get(path('configmaps/none'))).code, 404);
  });

  await t.test('a release takes it over by name, and the undo gives it back', async (t) => {
    const status = await released(t, 'shop-3', ours, { ...shop, takeOver: ['payments'] });
    t.match(itemsOf(status), [{ took: { count: 1, texts: ['color "blue" (payments)'] } }]);
    await released(t, 'shop-4', config('shared', { color: 'red' }), shop);
    await refused(t, 'pay-3', [ours, { fieldManager: 'payments' }], /another app, shop/);
    const [where, last] = [path('configmaps/shared'), await portrait(stage, path('configmaps/shared'))];
    const back = await ended('back', [], { ...shop, changes: undefined as never, rollback: { to: '' } });
    t.match(back, { phase: 'Committed' }, textAt(back, 'message') ?? '');
    t.same(await portrait(stage, where), before, 'a rollback takes back what was taken over');
    await undoAll(stage, 'back');
    t.same(await portrait(stage, where), last, 'its undo overwrites the mark of the other app again');
    for (const name of ['shop-4', 'shop-3']) await undoAll(stage, name);
    t.same(await portrait(stage, where), before);
    await released(t, 'pay-4', config('shared', { color: 'white' }), { fieldManager: 'payments' });
  });

  await t.test('a Patch of it, and an Apply without a field manager of an app, are not refused', async (t) => {
    const patch = change('Patch', 'shared', { data: { color: 'black' } });
    t.match(await ended('hotfix', [patch], shop), { phase: 'Committed' });
    t.match(await ended('by-itself', [applied(ours)], {}), { phase: 'Committed' });
  });
});

t.test('a forged mark refuses, and never allows', async (t) => {
  await released(t, 'forged-1', config('forged', { color: 'blue' }), { fieldManager: 'payments' });
  const holder = textAt(must(await client.get(path('configmaps/forged'))), 'metadata', 'annotations', mark) ?? '';
  const annotations = { [mark]: `${holder.replace(/\/.*/, '')}/shop-1/1234` };
  must(await client.patch(path('configmaps/forged'), { metadata: { annotations } }, 'merge', { fieldManager: 'kubectl-edit' }));
  const ours = config('forged', { color: 'green' });
  await refused(t, 'forged-2', [ours, { fieldManager: 'shop' }], /another app, kubectl-edit/);
  await refused(t, 'forged-3', [ours, { fieldManager: 'shop', takeOver: ['payments'] }], /another app, kubectl-edit/);
});

t.test('the status and the plan name what an Apply took', async (t) => {
  const containers = (image: string): JsonObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'api' },
    spec: {
      ...{ replicas: 0, selector: { matchLabels: { app: 'api' } } },
      template: { metadata: { labels: { app: 'api' } }, spec: { containers: [{ name: 'api', image }] } },
    },
  });
  const spec = { fieldManager: 'shop' };
  await released(t, 'api-1', containers('1.3'), spec);
  const hotfix = { spec: { template: { spec: { containers: [{ name: 'api', image: '1.4-hotfix' }] } } } };
  must(await client.patch(path('apps/v1/deployments/api'), hotfix, 'strategic', { fieldManager: 'kubectl-set' }));
  const took = { count: 1, texts: ['image "1.4-hotfix" (kubectl-set)'] };
  t.match((await planOf([applied(containers('1.4'))], spec)).changes, [{ took }]);
  t.match(itemsOf(await released(t, 'api-2', containers('1.4'), spec)), [{ took, tookFieldsFrom: ['kubectl-set'] }]);
  const again = await released(t, 'api-3', containers('1.5'), spec);
  t.equal(itemsOf(again)[0]?.took, undefined, 'a release takes nothing from the release before it');
});

t.test('of a Secret only the field manager is named', async (t) => {
  const secret = (value: string): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'keys' },
    data: { 'api-token': Buffer.from(value).toString('base64') },
  });
  must(await client.create(path('secrets'), secret('former'), { fieldManager: 'a-person' }));
  t.match((await planOf([applied(secret('next'))], { fieldManager: 'shop' })).changes, [
    { took: { count: 1, texts: ['(a-person)'] } },
  ]);
  const status = await released(t, 'keys-1', secret('next'), { fieldManager: 'shop' });
  t.same(itemsOf(status)[0]?.took, { count: 1, texts: ['(a-person)'] });
});
