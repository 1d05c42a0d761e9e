// An answer is never stored: no record shows what its call has sent, and the engine finds it nevertheless.
import t from 'tap';
import { openEngines } from '../../support/engine.ts';
import { startStage } from '../../support/stage.ts';
import { stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const green = { data: { color: 'green' } };
const request = { 'tx.janus.io/request-rollback': 'yes' };

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
