// Metacontroller calls again with a parent out of its cache that is older than what it has just stored: recorded from the real
// one. Such a call, and one whose answer is lost, makes no write that a single call would not have made.
import t from 'tap';
import { type JsonObject, textAt, withPath } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { openEngines } from '../../support/engine.ts';
import { readRecordings } from '../../support/metacontroller/recordings.ts';
import { noting } from '../../support/noted-writes.ts';
import { callHook, type Stage, startStage, statusOf } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil, storeStatus } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const names = ['a', 'b', 'c', 'd'];

const green = { data: { color: 'green' } };

async function setUp(stage: Stage, transaction: string): Promise<() => Promise<readonly unknown[]>> {
  const [patched = '', updated = '', deleted = '', created = ''] = names.map((name) => `${transaction}-${name}`);
  await createConfigMaps(stage, [patched, updated, deleted]);
  await stage.transaction(transaction, [
    change('Patch', patched, green),
    change('Update', updated, green),
    change('Delete', deleted),
    change('Create', created, green),
  ]);
  const paths = [patched, updated, deleted, created].map((name) => stage.path(`configmaps/${name}`));
  return () => portraits(stage.client, paths, true);
}

/** What a run takes: locks, one snapshot, the changes, the locks again; and the turns of writers, of which each call may take one. */
function isWhatOneRunTakes(writes: readonly string[]): boolean {
  const count = (start: string): number => writes.filter((write) => write.startsWith(start)).length;
  const locks = [count('create leases'), count('delete leases')];
  const changes = [count('apply configmaps'), count('update configmaps'), count('delete configmaps'), count('create configmaps')];
  return locks.join() === '4,4' && changes.join() === '1,1,1,2' && count('update leases') > 0;
}

/** The recorded call with a parent that lags behind, about a Transaction of this test: its view is as old as possible. */
function outdatedCall(transaction: JsonObject): JsonObject {
  const recorded = readRecordings()[1];
  if (recorded?.file !== '02-sync-duplicate-of-a-stale-parent.json')
    throw new Error(`expected the duplicate, found ${recorded?.file}`);
  const own = ['namespace', 'name', 'uid'];
  const parent = own.reduce(
    (object, key) => withPath(object, ['metadata', key], textAt(transaction, 'metadata', key) ?? ''),
    recorded.parent,
  );
  return { ...recorded.request, parent };
}

t.test('the engine handles a duplicate call with an outdated parent', async (t) => {
  const writes: string[] = [];
  const stage = await startStage(t, { withoutLoop: true, wrap: noting(writes) });

  await t.test('a duplicate whose answer is stored counts as the next call', async (t) => {
    writes.length = 0;
    await setUp(stage, 'stored');
    const call = outdatedCall(await stage.read('stored'));
    t.same(statusOf(call.parent as JsonObject), {}, 'the recorded parent has no status, although one had been stored');
    for (let phase = ''; phase !== 'Committed'; ) {
      await step(stage, 'stored');
      const answer = await callHook(stage.hookUrl, '/sync', call);
      t.equal(answer.code, 200);
      const status = statusOf(must(await storeStatus(stage, 'stored', answer.body)));
      phase = textAt(status, 'phase') ?? '';
    }
    await stepToEnd(stage, 'stored');
    t.ok(isWhatOneRunTakes(writes), writes.join(', '));
  });

  await t.test('the engine makes no write at rest, and answers with the stored status', async (t) => {
    writes.length = 0;
    const before = statusOf(await stage.read('stored'));
    const { body } = await callHook(stage.hookUrl, '/sync', outdatedCall(await stage.read('stored')));
    t.same({ ...statusOf(body), observedGeneration: 1 }, before);
    t.same(writes, []);
  });

  await t.test('the next call makes up for an answer that is never stored', async (t) => {
    writes.length = 0;
    const show = await setUp(stage, 'lost');
    const before = await show();
    for (let phase = ''; phase !== 'Committed'; ) {
      const call = outdatedCall(await stage.read('lost'));
      t.equal((await callHook(stage.hookUrl, '/sync', call)).code, 200);
      phase = (await step(stage, 'lost')).phase;
    }
    await stepToEnd(stage, 'lost');
    t.ok(isWhatOneRunTakes(writes), writes.join(', '));
    await stage.annotate('lost', { 'tx.janus.io/request-rollback': 'yes' });
    for (let phase = ''; phase !== 'RolledBack'; ) {
      await callHook(stage.hookUrl, '/sync', outdatedCall(await stage.read('lost')));
      phase = (await step(stage, 'lost')).phase;
    }
    t.same(await show(), before, 'the undo is unchanged too');
    await stepToEnd(stage, 'lost');
  });

  await t.test('a call about a former Transaction changes nothing for its successor', async (t) => {
    writes.length = 0;
    await setUp(stage, 'successor');
    const former = withPath(await stage.read('successor'), ['metadata', 'uid'], '00000000-0000-0000-0000-000000000000');
    for (const path of ['/sync', '/finalize'] as const) {
      const { code, body } = await callHook(stage.hookUrl, path, outdatedCall(former));
      t.match({ code, body }, { code: 200, body: { status: {}, resyncAfterSeconds: 0 } });
      t.not(body.finalized, true, 'Metacontroller would fail to take its finalizer off');
    }
    t.same(writes, []);
    await stepToEnd(stage, 'successor');
  });

  await t.test('many duplicates at once take at most one step each', async (t) => {
    writes.length = 0;
    await setUp(stage, 'crowd');
    for (let phase = ''; phase !== 'Committed'; ) {
      const call = outdatedCall(await stage.read('crowd'));
      const answers = await Promise.all(Array.from({ length: 5 }, () => callHook(stage.hookUrl, '/sync', call)));
      t.ok(answers.every(({ code }) => code === 200));
      phase = (await step(stage, 'crowd')).phase;
    }
    await stepToEnd(stage, 'crowd');
    t.ok(isWhatOneRunTakes(writes), writes.join(', '));
  });

  await t.test('the API server refuses an answer that is stored late, and no status goes back', async (t) => {
    await setUp(stage, 'late');
    await step(stage, 'late');
    const late = await stage.call('late');
    await step(stage, 'late');
    const before = (await step(stage, 'late')).status;
    t.equal((await storeStatus(stage, 'late', late.body)).code, 422);
    t.same(statusOf(await stage.read('late')), before);
    await stepToEnd(stage, 'late');
  });
});

t.test('a cache that is always behind costs calls, not writes', async (t) => {
  const writes: string[] = [];
  const stage = await startStage(t, { wrap: noting(writes), loop: { kind: 'double', cacheLagMilliseconds: 150 } });
  await setUp(stage, 'lagging');
  t.match(await stage.finished('lagging'), { phase: 'Committed' });
  t.ok(isWhatOneRunTakes(writes), writes.join(', '));
});

const request = { 'tx.janus.io/request-rollback': 'yes' };

// No record shows what the call has sent, and the engine finds it nevertheless.
t.test('any process undoes a change whose answer was lost', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage);
  const [first, second] = [engines.start(), engines.start()];
  const orders = { 'one process': [first, first, first], 'another, then the first': [first, second, first] } as const;
  for (const [title, [sends, begins, goesOn]] of Object.entries(orders)) {
    const name = `lost-${title.length}`;
    const targets = [`${name}-a`, `${name}-b`, `${name}-c`];
    await createConfigMaps(stage, targets);
    const paths = targets.map((target) => stage.path(`configmaps/${target}`));
    const before = await portraits(stage.client, paths, true);
    const changes = [change('Patch', `${name}-a`, green), change('Delete', `${name}-b`), change('Patch', `${name}-c`, green)];
    await stage.transaction(name, changes);
    await stepUntil(first, name, 'Prepared');
    t.equal((await sends.call(name)).code, 200, 'applied, and not stored');
    await stage.annotate(name, request);
    await stepUntil(begins, name, 'RollingBack');
    t.match(await stepToEnd(goesOn, name), { phase: 'RolledBack' }, title);
    t.same(await portraits(stage.client, paths, true), before, `${title}: all is as before`);
  }
});
