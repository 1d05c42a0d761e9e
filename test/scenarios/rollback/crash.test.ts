// The engine dies before and after each write of a rollback. The next engine ends the rollback, or takes it back on request: the objects are
// as after the release that stays, or as before the rollback, managedFields included.
import t, { type Test } from 'tap';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { dying, untilDeathOrEnd, type WritePoint, writesOf } from '../../support/death.ts';
import { type Engines, openEngines } from '../../support/engine.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd, stepUntil } from '../../support/stepping.ts';
import { portraits } from '../../support/targets.ts';

const applied = (name: string, data: JsonObject): JsonObject => ({
  type: 'Apply',
  content: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data },
});

const removed = (name: string): JsonObject => ({ type: 'Delete', target: { apiVersion: 'v1', kind: 'ConfigMap', name } });

interface Run {
  readonly stage: Stage;
  readonly engines: Engines;
  readonly id: string;
  readonly point: WritePoint;
}

async function release(stage: Stage, name: string, manager: string, changes: readonly JsonObject[]): Promise<void> {
  await stage.transaction(name, changes, { spec: { fieldManager: manager } });
  const { phase, status } = await stepToEnd(stage, name);
  if (phase !== 'Committed') throw new Error(`${name}: ${String(status.message)}`);
}

async function edited({ client, path }: Stage, name: string): Promise<void> {
  must(await client.patch(path(`configmaps/${name}`), { data: { theirs: 'yes' } }, 'merge', { fieldManager: 'their-tool' }));
}

async function dieAndGoOn(t: Test, { stage, engines, id, point }: Run, takesBack: boolean): Promise<void> {
  const [a, b, c] = ['a', 'b', 'c'].map((name) => `${id}-${name}`) as [string, string, string];
  const show = () =>
    portraits(
      stage.client,
      [a, b, c].map((name) => stage.path(`configmaps/${name}`)),
      true,
    );
  const alive = engines.start();
  // They end in one second: the first has a place of its own in the order.
  await release(alive, `${id}-1`, id, [applied(a, { v: '1', only: 'one' }), applied(b, { v: '1' })]);
  const first = await show();
  await release(alive, `${id}-2`, id, [applied(a, { v: '2' }), removed(b), applied(c, { v: '2' })]);
  await release(alive, `${id}-3`, id, [applied(a, { v: '3', more: 'yes' }), applied(c, { v: '3' })]);
  const before = await show();
  const name = `${id}-back`;
  await stage.transaction(name, [], { spec: { fieldManager: id, changes: undefined as never, rollback: { to: `${id}-1` } } });
  await untilDeathOrEnd(engines.start({ wrap: dying((write) => [a, b, c].includes(write.location.name), point) }), name);
  if (takesBack) await stage.annotate(name, { 'tx.janus.io/request-rollback': 'yes' });
  const { phase, status } = await stepToEnd(engines.start(), name);
  t.equal(phase, takesBack ? 'RolledBack' : 'Committed', String(status.message));
  t.same(await show(), takesBack ? before : first);
}

const points = [1, 2, 3, 4, 5].flatMap((write): readonly WritePoint[] => [
  { write, side: 'before' },
  { write, side: 'after' },
]);

t.test('a rollback goes on after a crash', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage, { callBudget: 5_000 });
  t.jobs = 4;
  const cases = points.flatMap((point) => [true, false].map((takesBack) => ({ point, takesBack })));
  await Promise.all(
    cases.map(({ point, takesBack }) => {
      const what = `${point.side} write ${point.write}, then it is ${takesBack ? 'taken back' : 'ended'}`;
      const id = `${point.side}-${point.write}-${takesBack ? 'back' : 'on'}`;
      return t.test(what, (t) => dieAndGoOn(t, { stage, engines, id, point }, takesBack));
    }),
  );
  t.same(await stage.leases(), []);
});

t.test('somebody writes beside a half made rollback', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage);
  const alive = engines.start();
  await release(alive, 'one', 'shop', [applied('a', { v: '1' })]);
  await release(alive, 'two', 'shop', [applied('a', { v: '2' })]);
  await stage.transaction('back', [], { spec: { fieldManager: 'shop', changes: undefined as never, rollback: { to: 'one' } } });
  await untilDeathOrEnd(engines.start({ wrap: dying(writesOf('a'), { write: 1, side: 'after' }) }), 'back');
  await edited(stage, 'a');
  await stepUntil(alive, 'back', 'Committed');
  const object = must(await stage.client.get(stage.path('configmaps/a')));
  t.match(object, { data: { v: '1', theirs: 'yes' } });
  const managers = ((object.metadata as JsonObject).managedFields as readonly JsonObject[]).map(({ manager }) => manager);
  t.same([...managers].sort(), ['shop', 'their-tool']);
});
