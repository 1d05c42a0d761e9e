// ConfigMaps of other users that claim to be parts of a snapshot, each as large as the API server stores it: of short keys, a megabyte takes ten
// in the engine. The deletion of their Transaction takes in only a few of them at a time.
import t from 'tap';
import type { Cluster } from '../../hooks/objects/cluster.ts';
import { textAt } from '../../hooks/objects/json.ts';
import { inTurn } from '../../hooks/objects/requests/in-turn.ts';
import { must } from '../support/client.ts';
import { openEngines } from '../support/engine.ts';
import { snapshotNamesOf, snapshotParts } from '../support/snapshots.ts';
import { startStage } from '../support/stage.ts';
import { stepToEnd, stepUntilGone } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';

/** Bytes that an engine may take in one answer to a list. */
const mostBytes = 1024 * 1024;
/** Whole ConfigMaps that it may take in before it deletes them. */
const mostWhole = 4;

t.test('the engine survives claims that are larger than its memory', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  await createConfigMaps(stage, ['c']);
  const sizes: number[] = [];
  const taken: number[] = [];
  let whole = 0;
  const noting = (cluster: Cluster): Cluster => ({
    ...cluster,
    listMetadata: async (...args) => {
      const answer = await cluster.listMetadata(...args);
      if (answer.kind === 'ok') sizes.push(answer.size);
      return answer;
    },
    get: async (location, identity) => {
      const answer = await cluster.get(location, identity);
      if (location.resource.kind === 'ConfigMap' && location.name.includes('-rollback-') && answer.kind === 'ok') whole += 1;
      return answer;
    },
    send: (...args) => {
      taken.push(whole);
      whole = 0;
      return cluster.send(...args);
    },
  });
  const engines = await openEngines(t, stage);
  const engine = engines.start({ wrap: noting });
  const transaction = await stage.transaction('claimed', [change('Patch', 'c', { data: { color: 'green' } })]);
  t.match((await stepToEnd(engine, 'claimed')).status, { phase: 'Committed' });

  const labels = { 'tx.janus.io/transaction-uid': textAt(transaction, 'metadata', 'uid') ?? '' };
  const annotations = { 'example.org/large': 'x'.repeat(255 * 1024) };
  const [base = ''] = await snapshotNamesOf(stage, 'claimed');
  const claims = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((part) => `${base}-${part}`);
  const finalizers = ['tx.janus.io/snapshot'];
  await inTurn([...claims, 'elsewhere'], async (name) =>
    must(await client.create(path('configmaps'), { metadata: { name, labels, annotations, finalizers } })),
  );
  const [before, sent] = [sizes.length, taken.length];
  must(await client.delete(`/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/claimed`));
  await stepUntilGone(engine, 'claimed');
  t.ok(sizes.length > before && Math.max(...sizes) <= mostBytes, `no list is larger than it may be: ${Math.max(...sizes)}`);
  t.ok(Math.max(...taken.slice(sent)) <= mostWhole, `few are taken in at once: ${taken.slice(sent).join(' ')}`);
  t.same(await snapshotParts(stage, 'claimed'), [], 'all with names that the key gives are gone');
  t.equal((await client.get(path('configmaps/elsewhere'))).code, 200, 'and no other');
});
