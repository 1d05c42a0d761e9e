// Objects whose annotations are as large as they may be: a user who creates many of them stops no Delete of other users, and fills no memory.
import t from 'tap';
import type { Cluster } from '../../hooks/objects/cluster.ts';
import { inTurn } from '../../hooks/objects/requests/in-turn.ts';
import { must } from '../support/client.ts';
import { openEngines } from '../support/engine.ts';
import { hangOn } from '../support/owned.ts';
import { startStage } from '../support/stage.ts';
import { stepToEnd } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';

/** The API server takes 256 KiB of annotations. */
const large = { annotations: { 'example.org/large': 'x'.repeat(255 * 1024) } };

/** Bytes that an engine may take in one answer to a list. */
const mostBytes = 1024 * 1024;

t.test('three hundred objects with large metadata do not stop a Delete', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  await createConfigMaps(stage, ['deleted', 'parent']);
  const names = Array.from({ length: 300 }, (_, index) => `large-${index}`);
  await inTurn(names, async (name) => must(await client.create(path('configmaps'), { metadata: { name, ...large } })));
  await hangOn(stage, 'zz-child', must(await client.get(path('configmaps/parent'))));
  const sizes: number[] = [];
  const engines = await openEngines(t, stage);
  const noting = (cluster: Cluster): Cluster => ({
    ...cluster,
    listMetadata: async (...args) => {
      const answer = await cluster.listMetadata(...args);
      if (answer.kind === 'ok') sizes.push(answer.size);
      return answer;
    },
  });
  const engine = engines.start({ wrap: noting });

  await stage.transaction('deleting', [change('Delete', 'deleted')]);
  t.match((await stepToEnd(engine, 'deleting')).status, { phase: 'Committed' });
  await stage.transaction('refused', [change('Delete', 'parent')]);
  t.match((await stepToEnd(engine, 'refused')).status, { phase: 'Failed', message: /\(ConfigMap zz-child\)/ });
  t.ok(Math.max(...sizes) <= mostBytes, `no answer is larger than a page may be: ${Math.max(...sizes)}`);
});
