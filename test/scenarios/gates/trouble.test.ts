// Gates while the API server is slow.
import t from 'tap';
import { textAt } from '../../../hooks/model/json.ts';
import { waitFor } from '../../support/client.ts';
import { itemsOf } from '../../support/round-trip.ts';
import { startSlowAdmission } from '../../support/slow-admission.ts';
import { startStage } from '../../support/stage.ts';
import { step, stepUntil } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const data = { data: { a: 'b' } };

t.test('the time of a gate begins once the write is made', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const admission = await startSlowAdmission(stage, t);
  const gate = { timeout: '1s', ready: { field: { path: '.data.b' } } };
  await stage.transaction('slow', [{ ...change('Create', 'slow', data), gate }]);
  await stepUntil(stage, 'slow', 'Prepared');
  const held = admission.hold('slow');
  const stepped = step(stage, 'slow');
  await held.arrived;
  const sent = Date.now();
  await waitFor(async () => Date.now() > sent + 2_000, 'the write to take longer than the gate');
  const released = new Date().toISOString().slice(0, 19);
  held.release();
  const since = textAt(itemsOf((await stepped).status)[0], 'gate', 'since') ?? '';
  t.ok(since.slice(0, 19) >= released, `${since}, released ${released}`);
});
