// Two processes undo one change. One fences its target when the other has finished, and dies before it removes its mark. The
// mark goes with the Transaction, and what another Transaction has kept of it comes back with no undo.
import t, { type Test } from 'tap';
import type { Cluster } from '../../../hooks/objects/cluster.ts';
import { textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { type Engines, openEngines } from '../../support/engine.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil, stepUntilGone } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const green = { data: { color: 'green' } };

/** It dies when it sends its target more than so many writes. */
function dyingAfter(most: number, reading: () => Promise<unknown> = async () => undefined): (cluster: Cluster) => Cluster {
  let writes = 0;
  return (cluster) => ({
    ...cluster,
    get: async (location, identity) => {
      if (identity.kind === 'serviceAccount') await reading();
      return cluster.get(location, identity);
    },
    send: async (write, isLate) => {
      if (write.identity.kind === 'serviceAccount' && ++writes > most) throw new Error('it died');
      return cluster.send(write, isLate);
    },
  });
}

interface Marked {
  readonly stage: Stage;
  readonly engines: Engines;
  readonly type: string;
  readonly name: string;
}

/** The Transaction has ended, nothing of its change was ever made, and a mark of its undo is in the object. */
async function leaveMark(t: Test, { stage, engines, type, name }: Marked): Promise<void> {
  await stage.transaction(name, [change(type, name, type === 'Delete' ? undefined : green)]);
  const dying = engines.start({ wrap: dyingAfter(0), record: () => undefined });
  await stepUntil(dying, name, 'Prepared');
  await dying.call(name);
  await stage.annotate(name, { 'tx.janus.io/request-rollback': 'yes' });
  const undoing = engines.start();
  const observed = async (): Promise<string | undefined> => {
    await step(undoing, name);
    return textAt(await stage.read(name), 'status', 'rollbackObservedAt');
  };
  await waitFor(observed, 'the window to begin');
  const isDone = async (): Promise<void> => void (await stepToEnd(undoing, name));
  let done: Promise<void> | undefined;
  const late = engines.start({
    wrap: dyingAfter(1, () => {
      done ??= isDone();
      return done;
    }),
    record: () => undefined,
  });
  await late.call(name);
  t.match((await stage.read(name)).status, { phase: 'RolledBack' });
  t.match(JSON.stringify(must(await stage.client.get(stage.path(`configmaps/${name}`)))), /janus-restore-/, 'the mark is there');
}

t.test('the engine removes a mark when the Transaction is deleted', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage);
  for (const type of ['Patch', 'Update', 'Delete'] as const)
    await t.test(type, async (t) => {
      const name = `marked-${type.toLowerCase()}`;
      const paths = [stage.path(`configmaps/${name}`)];
      await createConfigMaps(stage, [name]);
      const before = await portraits(stage.client, paths, true);
      await leaveMark(t, { stage, engines, type, name });
      must(await stage.client.delete(stage.path(`tx.janus.io/v1alpha1/transactions/${name}`)));
      await stepUntilGone(engines.start(), name);
      t.same(await portraits(stage.client, paths, true), before, 'no trace of the engine is left');
    });
});

t.test('the undo of another Transaction does not restore a mark whose Transaction no longer exists', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage);
  const paths = [stage.path('configmaps/kept')];
  await createConfigMaps(stage, ['kept']);
  const before = await portraits(stage.client, paths, true);
  await leaveMark(t, { stage, engines, type: 'Patch', name: 'kept' });
  await stage.transaction('next', [change('Delete', 'kept')]);
  const engine = engines.start();
  t.match((await stepToEnd(engine, 'next')).status, { phase: 'Committed' });
  must(await stage.client.delete(stage.path('tx.janus.io/v1alpha1/transactions/kept')));
  await stepUntilGone(engine, 'kept');
  await stage.annotate('next', { 'tx.janus.io/request-rollback': 'yes' });
  t.match((await stepToEnd(engine, 'next')).status, { phase: 'RolledBack' });
  t.same(await portraits(stage.client, paths, true), before, 'no trace of the engine is left');
});
