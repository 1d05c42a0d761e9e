// A change is not sent so late that its lock could be another's before it has taken effect. A lock counts as held with half of its
// life left, which may be less than a write can take: then it is sent while there is time for it, or not at all.
import t from 'tap';
import type { Cluster } from '../../../hooks/objects/cluster.ts';
import { must, waitFor } from '../../support/client.ts';
import { openEngines } from '../../support/engine.ts';
import { startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const hour = 3_600_000;

t.test('the engine does not send a write that was held until its lock could be taken', async (t) => {
  const plain = await startStage(t, { withoutLoop: true });
  let isHeld = true;
  const answers: unknown[] = [];
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    async send(write, isLate) {
      if (!isHeld || write.verb !== 'apply') return cluster.send(write, isLate);
      await waitFor(() => isLate?.() === true, 'the write to be late');
      const answer = await cluster.send(write, isLate);
      answers.push(answer);
      return answer;
    },
  });
  // The call itself goes on for an hour; of the 30 s of the lock a write may take 25.
  const stage = (await openEngines(t, plain)).start({ wrap, timing: { stepDeadline: hour, writeTimeout: 25_000 } });
  await createConfigMaps(stage, ['late']);
  const painted = [change('Patch', 'late', { data: { color: 'green' } })];
  await stage.transaction('slow', painted, { spec: { lockTimeout: '30s' } });
  await stepUntil(stage, 'slow', 'Prepared');
  t.match(await step(stage, 'slow'), { phase: 'Prepared', status: { progress: '0/1' } });
  t.match(answers, [{ kind: 'failed' }], 'it was cut off');
  t.notMatch(must(await stage.client.get(stage.path('configmaps/late'))), { data: { color: 'green' } });
  isHeld = false;
  t.match((await stepToEnd(stage, 'slow')).status, { phase: 'Committed' }, 'with its lock renewed it is made');
});
