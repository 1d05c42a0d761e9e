// The two halves of a change that recreates its object: what a stored status announces, what a crash, another replica, a stranger or a
// finalizer between the halves come to, and what refuses it.
import t, { type Test } from 'tap';
import type { Write } from '../../../hooks/objects/cluster.ts';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { dying, happening, untilDeath, writesOf } from '../../support/death.ts';
import { type Engines, openEngines } from '../../support/engine.ts';
import { causeOf, hangOn, isThere } from '../../support/owned.ts';
import { allowIrreversible, commit, itemsOf, partial, portrait, undo, undoAll } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepTo, stepToEnd, stepUntil, stepUntilGone } from '../../support/stepping.ts';
import { change, recreating } from '../../support/targets.ts';

const fixed = { immutable: true, data: { a: '1' } };
const next = { immutable: true, data: { a: '2' } };

async function give({ client, path }: Stage, name: string, metadata: JsonObject = {}): Promise<JsonObject> {
  return must(
    await client.create(path('configmaps'), { metadata: { name, ...metadata }, ...fixed }, { fieldManager: 'by-hand' }),
  );
}

async function live({ client, path }: Stage, name: string): Promise<JsonObject> {
  return must(await client.get(path(`configmaps/${name}`)));
}

type Verb = Write['verb'];

interface Point {
  readonly verb: Verb;
  readonly side: 'before' | 'after';
  readonly way: 'forward' | 'backward';
}

const points: readonly Point[] = (['forward', 'backward'] as const).flatMap((way) =>
  (['delete', 'create'] as const).flatMap((verb) => (['before', 'after'] as const).map((side) => ({ verb, side, way }))),
);

/** The engine dies there, and another one ends what it has begun: forward, then back. */
async function dieAt(t: Test, stage: Stage, engines: Engines, { verb, side, way }: Point): Promise<void> {
  const name = `${way}-${side}-${verb}`;
  const former = await give(stage, name);
  await give(stage, `${name}-beside`);
  const was = await portrait(stage, stage.path(`configmaps/${name}`), true);
  const beside = await portrait(stage, stage.path(`configmaps/${name}-beside`));
  await stage.transaction(name, [recreating(name, next)]);
  const mortal = engines.start({ wrap: dying(writesOf(name, verb), { write: 1, side }) });
  if (way === 'forward') await untilDeath(mortal, name);
  t.match(await stepToEnd(engines.start(), name), { phase: 'Committed', status: { items: [{ deleted: true }] } });
  const made = await live(stage, name);
  t.same([at(made, 'data', 'a'), textAt(made, 'metadata', 'uid') === textAt(former, 'metadata', 'uid')], ['2', false]);
  await stage.annotate(name, { 'tx.janus.io/request-rollback': 'yes' });
  if (way === 'backward') await untilDeath(mortal, name);
  t.match(await stepToEnd(engines.start(), name), { phase: 'RolledBack' });
  t.same(await portrait(stage, stage.path(`configmaps/${name}`), true), was);
  t.same(await portrait(stage, stage.path(`configmaps/${name}-beside`)), beside, 'the object beside it is unchanged');
}

t.test('the engine recreates an object in two halves: a Delete and a Create', async (t) => {
  const stage = await startStage(t, { withoutLoop: true, timing: { callBudget: 5_000 } });
  const engines = await openEngines(t, stage, { callBudget: 5_000, readAge: 1_000, writeTimeout: 2_000 });
  const { client, path } = stage;

  await t.test('a stored status announces the Create, and the engine sends it with the changes that follow', async (t) => {
    const former = await give(stage, 'halves');
    await stage.transaction('halves', [
      change('Create', 'first', { data: {} }),
      recreating('halves', next),
      change('Create', 'last', { data: {} }),
    ]);
    const between = await stepTo(stage, 'halves', 'the first half', ({ status }) => at(itemsOf(status)[1], 'deleted') === true);
    t.match(between.status, { phase: 'Committing', items: [{ committed: true }, { announced: true }, { announced: true }] });
    t.notOk(itemsOf(between.status)[1]?.committed);
    t.equal((await client.get(path('configmaps/halves'))).code, 404);
    const calls = stage.reports.length;
    t.match(await stepUntil(stage, 'halves', 'Committed'), { phase: 'Committed' });
    t.equal(stage.reports.length, calls + 1, 'one call makes the second half and the change after it');
    t.not(textAt(await live(stage, 'halves'), 'metadata', 'uid'), textAt(former, 'metadata', 'uid'));
    await undoAll(stage, 'halves');
  });

  await t.test('another engine goes on after the first one dies', async (t) => {
    t.jobs = 2;
    await Promise.all(
      points.map((point) => t.test(`${point.side} ${point.verb}, ${point.way}`, (t) => dieAt(t, stage, engines, point))),
    );
  });

  await t.test('an undo between the halves restores the former object', async (t) => {
    await give(stage, 'stopped');
    const was = await portrait(stage, path('configmaps/stopped'), true);
    await stage.transaction('stopped', [recreating('stopped', next)]);
    await stepTo(stage, 'stopped', 'the first half', ({ status }) => at(itemsOf(status)[0], 'deleted') === true);
    await undoAll(stage, 'stopped');
    t.same(await portrait(stage, path('configmaps/stopped'), true), was);
  });

  await t.test('the engine restores the former object if the Transaction is deleted between the halves', async (t) => {
    await give(stage, 'deleted');
    await stage.transaction('deleted', [recreating('deleted', next)]);
    await stepTo(stage, 'deleted', 'the first half', ({ status }) => at(itemsOf(status)[0], 'deleted') === true);
    t.notOk(await isThere(stage, path('configmaps/deleted')));
    await client.delete(`/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/deleted`);
    await stepUntilGone(stage, 'deleted');
    t.match(await live(stage, 'deleted'), fixed);
  });

  await t.test('the new object and the undo keep annotations that other writers add before the Delete', async (t) => {
    await give(stage, 'noted');
    const where = path('configmaps/noted');
    const note = { metadata: { annotations: { 'example.org/seen': 'yes' } } };
    const annotate = async (): Promise<void> =>
      void must(await client.patch(where, note, 'merge', { fieldManager: 'their-tool' }));
    await stage.transaction('noted', [recreating('noted', next)]);
    const engine = engines.start({ wrap: happening(writesOf('noted', 'delete'), { write: 1, side: 'before' }, annotate) });
    t.match(await stepToEnd(engine, 'noted'), { phase: 'Committed' });
    t.match(await live(stage, 'noted'), { ...next, ...note });
    await undoAll(stage, 'noted');
    t.match(await live(stage, 'noted'), { ...fixed, ...note });
  });

  await t.test('content that another writer changes before the Delete is a conflict', async (t) => {
    await give(stage, 'edited');
    const relabel = () => client.patch(path('configmaps/edited'), { metadata: { labels: { theirs: 'yes' } } });
    await stage.transaction('edited', [recreating('edited', next)]);
    const engine = engines.start({ wrap: happening(writesOf('edited', 'delete'), { write: 1, side: 'before' }, relabel) });
    const { phase, status } = await stepToEnd(engine, 'edited');
    t.same([phase, causeOf(status)], ['RolledBack', 'Conflict']);
    t.match(await live(stage, 'edited'), { ...fixed, metadata: { labels: { theirs: 'yes' } } });
  });

  await t.test('an object that a user creates between the halves is a conflict, and the engine keeps it', async (t) => {
    await give(stage, 'taken');
    const theirs = { metadata: { name: 'taken' }, data: { whose: 'theirs' } };
    const take = () => client.create(path('configmaps'), theirs, { fieldManager: 'stranger' });
    await stage.transaction('taken', [recreating('taken', next)]);
    const engine = engines.start({ wrap: happening(writesOf('taken', 'create'), { write: 1, side: 'before' }, take) });
    const { phase, status } = await stepToEnd(engine, 'taken');
    t.same([phase, causeOf(status)], ['Failed', 'AlreadyExists']);
    t.match(itemsOf(status)[0], { left: true, error: { reason: 'Recreated', message: /ConfigMap .*taken.* was recreated/ } });
    t.match(await live(stage, 'taken'), { data: { whose: 'theirs' } });
    must(await client.delete(path('configmaps/taken')));
    await stage.annotate('taken', { 'tx.janus.io/retry-rollback': 'yes' });
    t.match(await stepToEnd(engine, 'taken'), { phase: 'RolledBack' });
    t.match(await live(stage, 'taken'), fixed);
  });

  await t.test('the engine waits for a former object that a finalizer keeps, then creates the new one', async (t) => {
    const former = await give(stage, 'kept', { finalizers: ['example.org/clean-up'] });
    t.teardown(() => client.patch(path('configmaps/kept'), { metadata: { finalizers: null } }));
    await stage.transaction('kept', [recreating('kept', { ...next, metadata: { finalizers: null } })]);
    await stepTo(stage, 'kept', 'the first half', ({ status }) => at(itemsOf(status)[0], 'deleted') === true);
    const waiting = await step(stage, 'kept');
    const message =
      /waiting to create ConfigMap .*kept.* again until the former one is gone: finalizers keep it \(example.org\/clean-up\)/;
    t.match(waiting, { phase: 'Committing', status: { message } });
    t.ok(waiting.resyncAfterSeconds > 0);
    t.equal(textAt(await live(stage, 'kept'), 'metadata', 'uid'), textAt(former, 'metadata', 'uid'));
    must(await client.patch(path('configmaps/kept'), { metadata: { finalizers: null } }));
    t.match(await stepToEnd(stage, 'kept'), { phase: 'Committed' });
    t.match(await live(stage, 'kept'), next);
    await undoAll(stage, 'kept');
    t.match(await live(stage, 'kept'), { ...fixed, metadata: { finalizers: ['example.org/clean-up'] } });
  });

  await t.test('the status names an object that a finalizer keeps beyond spec.timeout, and a retry restores it', async (t) => {
    await give(stage, 'stuck', { finalizers: ['example.org/clean-up'] });
    t.teardown(() => client.patch(path('configmaps/stuck'), { metadata: { finalizers: null } }));
    await stage.transaction('stuck', [change('Create', 'stuck-beside', { data: { a: 'b' } }), recreating('stuck', next)], {
      spec: { timeout: '3s' },
    });
    const { phase, status } = await stepToEnd(stage, 'stuck');
    t.same([phase, causeOf(status)], ['Failed', 'Timeout']);
    t.match(itemsOf(status)[1], { left: true, error: { message: /stuck.* is being deleted; .* finalizers keep it/ } });
    t.equal((await client.get(path('configmaps/stuck-beside'))).code, 404, 'all else is undone');
    must(await client.patch(path('configmaps/stuck'), { metadata: { finalizers: null } }));
    await stage.annotate('stuck', { 'tx.janus.io/retry-rollback': 'yes' });
    t.match(await stepToEnd(stage, 'stuck'), { phase: 'RolledBack' });
    t.match(await live(stage, 'stuck'), fixed);
  });

  await t.test('the undo keeps a new object that has dependents of other writers', async (t) => {
    await give(stage, 'upon');
    await commit(stage, 'upon', [recreating('upon', { data: { a: '2' } })]);
    must(await client.patch(path('configmaps/upon'), { data: { theirs: 'yes' } }, 'merge', { fieldManager: 'their-tool' }));
    const status = await undo(stage, 'upon', partial);
    t.match(itemsOf(status)[0], { left: true, error: { reason: 'ForeignContent' } });
    t.match(await live(stage, 'upon'), { data: { a: '2', theirs: 'yes' } });
  });

  await t.test('pre-flight refuses to recreate an object with dependents, unless an annotation allows it', async (t) => {
    const dependent = await hangOn(stage, 'dependent', await give(stage, 'owner'));
    await stage.transaction('refused', [recreating('owner', next)]);
    const { phase, status } = await stepToEnd(stage, 'refused');
    t.same([phase, causeOf(status)], ['Failed', 'Irreversible']);
    t.ok(await isThere(stage, dependent));
    await commit(stage, 'allowed', [recreating('owner', next)], allowIrreversible);
    t.match(await live(stage, 'owner'), next);
  });

  await t.test('a dependent that appears before the Delete is sent stops the Delete', async (t) => {
    const owner = await give(stage, 'late-owner');
    await stage.transaction('late-owner', [recreating('late-owner', next)]);
    await stepUntil(stage, 'late-owner', 'Prepared');
    const dependent = await hangOn(stage, 'late-dependent', owner);
    const { phase, status } = await stepToEnd(stage, 'late-owner');
    t.same([phase, causeOf(status)], ['RolledBack', 'Irreversible']);
    t.ok(await isThere(stage, dependent));
    t.equal(textAt(await live(stage, 'late-owner'), 'metadata', 'uid'), textAt(owner, 'metadata', 'uid'));
  });

  t.same(await stage.leases(), []);
});

t.test('recreating an object needs the rights for both halves', async (t) => {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'update', 'list'] }];
  const stage = await startStage(t, { withoutLoop: true, rules });
  await give(stage, 'guarded');
  await stage.transaction('guarded', [recreating('guarded', next)]);
  const { phase, status } = await stepToEnd(stage, 'guarded');
  t.same([phase, causeOf(status)], ['Failed', 'Forbidden']);
  t.match(textAt(status, 'message'), /configmaps/);
  t.match(await live(stage, 'guarded'), fixed);
});
