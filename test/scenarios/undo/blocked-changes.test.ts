// An undo that cannot go on with one change goes on with the others: each gets its try.
import t from 'tap';
import { at, isList, type Json, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { partial } from '../../support/round-trip.ts';
import { startSlowAdmission } from '../../support/slow-admission.ts';
import { startStage } from '../../support/stage.ts';
import { step, stepTo, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const green = { data: { color: 'green' } };
const request = { 'tx.janus.io/request-rollback': 'yes' };

t.test('an object that a finalizer keeps does not delay other Transactions', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  await createConfigMaps(stage, ['first', 'second']);
  const paths = ['first', 'second'].map((name) => stage.path(`configmaps/${name}`));
  const before = await portraits(stage.client, paths);
  const kept = { ...green, metadata: { finalizers: ['test.janus.io/kept'] } };
  const changes = [change('Patch', 'first', green), change('Patch', 'second', green), change('Create', 'kept', kept)];
  await stage.transaction('kept', changes, { spec: { timeout: '10m' } });
  await stepToEnd(stage, 'kept');
  await stage.annotate('kept', request);
  await stepUntil(stage, 'kept', 'RollingBack');
  const items = (status: Json): readonly Json[] => at(status, 'items') as readonly Json[];
  for (;;) {
    const { status } = await step(stage, 'kept');
    if (items(status).filter((item) => at(item, 'rolledBack') === true).length === 2) break;
  }
  t.same(await portraits(stage.client, paths), before, 'the others are as before');
  const waiting = await step(stage, 'kept');
  t.match(waiting.status, {
    phase: 'RollingBack',
    message: /kept is being deleted; waiting until it is gone: finalizers keep it \(test\.janus\.io\/kept\)/,
  });
  const version = at(waiting.status, 'version');
  t.equal(at((await step(stage, 'kept')).status, 'version'), version, 'waiting writes nothing');
  must(await stage.client.patch(stage.path('configmaps/kept'), { metadata: { finalizers: null } }));
  t.match((await stepToEnd(stage, 'kept')).status, { phase: 'RolledBack' });
});

t.test('the engine finishes one of two blocked undos although the other one stays blocked', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  await createConfigMaps(stage, ['before']);
  const kept = { ...green, metadata: { finalizers: ['test.janus.io/kept'] } };
  await stage.transaction('two', [
    change('Patch', 'before', green),
    change('Create', 'one', kept),
    change('Create', 'other', kept),
  ]);
  await stepToEnd(stage, 'two');
  await stage.annotate('two', request);
  await stepUntil(stage, 'two', 'RollingBack');
  let now = await step(stage, 'two');
  for (let version: Json | undefined; at(now.status, 'version') !== version; now = await step(stage, 'two'))
    version = at(now.status, 'version');
  t.match(now.status, { message: /^2 changes cannot be undone yet: / });
  must(await stage.client.patch(stage.path('configmaps/one'), { metadata: { finalizers: null } }));
  for (let tries = 0; tries < 4 && !isRestored(now.status, 1); tries += 1) now = await step(stage, 'two');
  t.ok(isRestored(now.status, 1), 'the one that can go on does, though it is not the last');
  must(await stage.client.patch(stage.path('configmaps/other'), { metadata: { finalizers: null } }));
  t.match((await stepToEnd(stage, 'two')).status, { phase: 'RolledBack' });
});

function isRestored(status: Json, index: number): boolean {
  const items = at(status, 'items');
  return isList(items) && at(items[index], 'rolledBack') === true;
}

t.test('the engine treats a denial that reads like a conflict as a denial', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const admission = await startSlowAdmission(stage, t);
  const denials = { 404: 'NotFound', 409: 'Conflict' } as const;

  for (const [code, reason] of Object.entries(denials)) {
    const denial = { code: Number(code), reason, message: `not today: ${code}` };
    await t.test(`of an undo, with ${code}`, async (t) => {
      const names = [`a-${code}`, `b-${code}`];
      await createConfigMaps(stage, names);
      const before = await portraits(stage.client, [stage.path(`configmaps/a-${code}`)]);
      await stage.transaction(
        `undo-${code}`,
        names.map((name) => change('Patch', name, green)),
      );
      await stepToEnd(stage, `undo-${code}`);
      admission.deny(`b-${code}`, denial);
      await stage.annotate(`undo-${code}`, { ...request, ...partial });
      await stepUntil(stage, `undo-${code}`, 'RollingBack');
      const { status } = await stepUntil(stage, `undo-${code}`, 'Failed');
      t.match(at(status, 'items'), [{ rolledBack: true }, { left: true, error: { message: new RegExp(`not today: ${code}`) } }]);
      t.same(await portraits(stage.client, [stage.path(`configmaps/a-${code}`)]), before, 'the other one is undone');
      admission.deny(`b-${code}`);
      await stage.annotate(`undo-${code}`, { 'tx.janus.io/retry-rollback': 'yes' });
      await stepUntil(stage, `undo-${code}`, 'RollingBack');
      t.match((await stepToEnd(stage, `undo-${code}`)).status, { phase: 'RolledBack' });
    });

    await t.test(`of a change, with ${code}`, async (t) => {
      const names = [`c-${code}`, `d-${code}`];
      await createConfigMaps(stage, names);
      admission.deny(`d-${code}`, denial);
      await stage.transaction(
        `change-${code}`,
        names.map((name) => change('Update', name, green)),
      );
      const { status } = await stepToEnd(stage, `change-${code}`);
      t.match(status, { phase: 'RolledBack', message: new RegExp(`not today: ${code}`) });
      t.notOk(textAt(at(status, 'items'), '1', 'left'));
    });

    await t.test(`of a Create, with ${code}`, async (t) => {
      admission.deny(`e-${code}`, { ...denial, ...(reason === 'Conflict' ? { reason: 'AlreadyExists' } : {}) });
      await stage.transaction(`create-${code}`, [change('Create', `e-${code}`, green)]);
      t.match((await stepToEnd(stage, `create-${code}`)).status, {
        phase: 'RolledBack',
        message: new RegExp(`not today: ${code}`),
      });
    });
  }
});

t.test('a denial that reads like an outage delays no other Transaction', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const admission = await startSlowAdmission(stage, t);
  for (const code of [401, 408, 429, 503])
    await t.test(`with ${code}`, async (t) => {
      const [tx, first, second] = [`trouble-${code}`, `f-${code}`, `s-${code}`];
      await createConfigMaps(stage, [first, second]);
      await stage.transaction(tx, [change('Patch', first, green), change('Patch', second, green)], { spec: { timeout: '10m' } });
      await stepToEnd(stage, tx);
      admission.deny(second, { code, message: `not today: ${code}` });
      await stage.annotate(tx, { ...request, ...partial });
      await stepUntil(stage, tx, 'RollingBack');
      const { status } = await stepTo(stage, tx, 'the other one to be undone', (now) => isRestored(now.status, 0));
      t.match(status, { phase: 'RollingBack', items: [{}, { waiting: /failed \(/ }] });
      admission.deny(second);
      t.match((await stepToEnd(stage, tx)).status, { phase: 'RolledBack' });
    });
});
