// A kind that cannot be listed holds up nothing for long, and is named: an undo of what never was Committed goes on without it, one of
// what was Committed leaves what would be deleted, a Delete is refused.
import t from 'tap';
import { textAt } from '../../../hooks/objects/json.ts';
import { breakSomeKind } from '../../support/broken-kind.ts';
import { must } from '../../support/client.ts';
import { openEngines } from '../../support/engine.ts';
import { ownControlPlane } from '../../support/own-control-plane.ts';
import { causeOf, isThere } from '../../support/owned.ts';
import { allowIrreversible, commit, itemsOf, partial } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { type Stepped, step, stepTo, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

// A kind that cannot be listed is in the way of others' undos.
await ownControlPlane(t);

const blue = { data: { color: 'blue' } };

t.test('a kind that cannot be listed', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const short = { spec: { timeout: '16s' } };
  await createConfigMaps(stage, ['deleted', 'meant', 'due', 'changed']);
  await stage.transaction('committed', [change('Create', 'made', blue), change('Patch', 'changed', blue)], short);
  t.match((await stepToEnd(stage, 'committed')).status, { phase: 'Committed' });
  await stage.transaction('asked', [change('Create', 'asked', blue)], { spec: { timeout: '40s' } });
  t.match((await stepToEnd(stage, 'asked')).status, { phase: 'Committed' });
  await stage.transaction('stopped', [change('Create', 'first', blue), change('Create', 'second', blue)], short);
  await stepUntil(stage, 'stopped', 'Prepared');
  must(await client.create(path('configmaps'), { metadata: { name: 'second' } }));
  const gate = { ready: { field: { path: '.data.ready', value: 'yes' } }, timeout: '1s' };
  await stage.transaction('gated', [{ ...change('Create', 'gated', blue), gate }], { spec: { timeout: '40s' } });
  await stepTo(stage, 'gated', 'its gate to open', ({ status }) => itemsOf(status)[0]?.gate !== undefined);
  await stage.transaction('due', [change('Create', 'before', blue), change('Delete', 'due')], { spec: { timeout: '60s' } });
  await stepUntil(stage, 'due', 'Prepared');
  const broken = await breakSomeKind(stage);
  t.teardown(broken.remove);
  const named = (text: string): RegExp => new RegExp(text.replaceAll('KIND', broken.name.replaceAll('.', '\\.')));

  await t.test('is waited for, and then not, by the undo of a Create that never was Committed', async (t) => {
    const waits = named('listing KIND to find what would be deleted with ConfigMap .*/first failed');
    await stepTo(stage, 'stopped', 'the kind to be named', ({ status }) => waits.test(textAt(status, 'message') ?? ''));
    const { status } = await stepToEnd(stage, 'stopped');
    t.match(status, { phase: 'RolledBack' });
    t.match(itemsOf(status)[0], { rolledBack: true, note: named('may have been deleted with it, listing them fails: KIND$') });
    t.equal((await client.get(path('configmaps/first'))).code, 404);
  });

  await t.test('nor holds it up the rollback of what was applied whole, and whose gate failed', async (t) => {
    const { status } = await stepToEnd(stage, 'gated');
    t.match(status, { phase: 'RolledBack', message: /gated did not become ready within 1s/ });
    t.match(itemsOf(status)[0], { rolledBack: true, note: named('listing them fails: KIND$') });
  });

  await t.test(
    'refuses a Delete of another kind when it is due, in a process without the first list: what was changed is undone',
    async (t) => {
      const { status } = await stepToEnd((await openEngines(t, stage)).start(), 'due');
      t.match(status, {
        phase: 'RolledBack',
        message: named('Delete of ConfigMap .*/due cannot be undone: .*listing KIND fails'),
      });
      t.equal(causeOf(status), 'Irreversible');
      t.ok(await isThere(stage, path('configmaps/due')));
      t.equal((await client.get(path('configmaps/before'))).code, 404);
    },
  );

  await t.test('refuses a Delete of another kind at the checks, but not one that is meant', async (t) => {
    await stage.transaction('deleting', [change('Delete', 'deleted')], short);
    const { status } = await stepToEnd(stage, 'deleting');
    t.match(status, { phase: 'Failed', message: named('nothing was applied: .*listing KIND fails .*allow-irreversible=true') });
    t.equal(causeOf(status), 'Irreversible');
    t.ok(await isThere(stage, path('configmaps/deleted')));
    await commit(stage, 'meant', [change('Delete', 'meant')], allowIrreversible);
    t.equal((await client.get(path('configmaps/meant'))).code, 404);
  });

  await t.test('gets a requested undo refused: its locks are given back meanwhile', async (t) => {
    await stage.annotate('asked', { 'tx.janus.io/request-rollback': '1' });
    const isReturned = ({ status }: Stepped): boolean => textAt(status, 'locksReturnedAt') !== undefined;
    const waiting = await stepTo(stage, 'asked', 'the locks to be given back', isReturned);
    t.match(waiting.status, { phase: 'Committed', message: named('waiting to undo: .*listing KIND fails') });
    t.same(await stage.leases(), []);
    const resting = await step(stage, 'asked');
    t.ok(resting.resyncAfterSeconds > 0 && resting.resyncAfterSeconds <= 10, 'the next try comes after 10 s');
    t.same(await stage.leases(), []);
    const { status } = await stepToEnd(stage, 'asked');
    t.match(status, { phase: 'Committed', undo: { reason: 'UndoRefused', items: [{ verdict: 'Blocked' }] } });
    t.match(textAt(status, 'undo', 'message'), named('listing KIND fails .*tx.janus.io/undo-unlisted=KIND .*--unlisted KIND'));
    t.equal(textAt(status, 'locksReturnedAt'), undefined);
    t.ok(await isThere(stage, path('configmaps/asked')));
  });

  await t.test('is excepted by name, and no other kind is', async (t) => {
    for (const [value, kind, why] of [
      ['2', 'configmaps', 'names configmaps, which can be listed, is not served, or is not needed; it may name KIND$'],
      ['3', `${broken.name},nothings.example.org`, 'names nothings.example.org, which .*; it may name KIND$'],
      ['4', 'Thing kind', 'names Thing kind, which is no kind: write PLURAL'],
    ] as const) {
      await stage.annotate('asked', { 'tx.janus.io/request-rollback': value, 'tx.janus.io/undo-unlisted': kind });
      const { status } = await stepToEnd(stage, 'asked');
      t.match(status, { phase: 'Committed', message: named(`request-rollback="${value}" has no effect: .*${why}`) });
    }
    t.ok(await isThere(stage, path('configmaps/asked')));
    await stage.annotate('asked', { 'tx.janus.io/request-rollback': '5', 'tx.janus.io/undo-unlisted': broken.name });
    const { status } = await stepToEnd(stage, 'asked');
    t.match(status, { phase: 'RolledBack' });
    t.match(itemsOf(status)[0], { rolledBack: true, note: named('listing them fails: KIND$') });
    t.equal((await client.get(path('configmaps/asked'))).code, 404);
  });

  await t.test('keeps what was Committed, and nothing else, until it can be listed', async (t) => {
    await stage.annotate('committed', { 'tx.janus.io/request-rollback': 'yes', ...partial });
    const { status } = await stepToEnd(stage, 'committed');
    t.match(status, { phase: 'Failed' });
    const message = named('ConfigMap .*/made was created by this Transaction, .*listing KIND fails');
    t.match(itemsOf(status), [{ left: true, error: { message } }, { rolledBack: true }]);
    t.notMatch(itemsOf(status)[0], { error: { reason: 'RollbackTimeout' } });
    t.ok(await isThere(stage, path('configmaps/made')));
    await broken.repair();
    await stage.annotate('committed', { 'tx.janus.io/retry-rollback': 'yes' });
    t.match((await stepToEnd(stage, 'committed')).status, { phase: 'RolledBack' });
    t.equal((await client.get(path('configmaps/made'))).code, 404);
  });
});
