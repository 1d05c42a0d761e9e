// Snapshots that are meant to use the engine up: nothing is expanded, parsed or counted before it is known to be ours.
import { brotliCompressSync, constants } from 'node:zlib';
import t from 'tap';
import type { Cluster } from '../../hooks/objects/cluster.ts';
import { must } from '../support/client.ts';
import { openEngines } from '../support/engine.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { stepToEnd, stepUntil } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';
import { dataOf, type Forged, plant } from './snapshots/forging.ts';

const megabyte = 1024 * 1024;
const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const targets = Array.from({ length: 12 }, (_, index) => index);
const targetOf = (transaction: string, index: number): string => `${transaction}-target-${index}`;

function entry({ namespace }: Stage, transaction: string, index: number, prior: string): string {
  const target = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: targetOf(transaction, index) };
  const resource = {
    group: '',
    version: 'v1',
    plural: 'configmaps',
    kind: 'ConfigMap',
    namespaced: true,
    statusSubresource: false,
  };
  return [JSON.stringify({ index, type: 'Patch', target, resource, approximate: false }), prior, '', ''].join('\n');
}

interface Bomb {
  readonly name: string;
  readonly forged: (stage: Stage, transaction: string) => Forged;
}

const bombs: readonly Bomb[] = [
  {
    name: 'twelve entries of 60 MB',
    forged: (stage, transaction) => ({
      texts: targets.map((index) => {
        const text = entry(stage, transaction, index, `{"data":{"a":"${'x'.repeat(60 * megabyte)}"}}`);
        return `compressed:${brotliCompressSync(text, quick).toString('base64')}`;
      }),
    }),
  },
  {
    name: '20 000 levels',
    forged: (stage, transaction) => ({
      texts: targets.map((index) => entry(stage, transaction, index, `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`)),
    }),
  },
  { name: 'a thousand parts', forged: () => ({ texts: ['{}'], parts: 1_000 }) },
  { name: 'a million parts', forged: () => ({ texts: ['{}'], parts: 1_000_000 }) },
];

/** Counts the reads of what may be parts of a snapshot. */
function counting(): { readonly wrap: (cluster: Cluster) => Cluster; readonly reads: () => number } {
  let reads = 0;
  return {
    reads: () => reads,
    wrap: (cluster) => ({
      ...cluster,
      get: (location, identity) => {
        if (location.resource.kind === 'ConfigMap' && location.name.includes('-rollback')) reads += 1;
        return cluster.get(location, identity);
      },
    }),
  };
}

const peak = (): number => process.resourceUsage().maxRSS / 1024;

t.test('a snapshot that is made to exhaust the engine does not stop it', async (t) => {
  const bare = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, bare);
  for (const [index, { name, forged }] of bombs.entries())
    await t.test(name, async (t) => {
      const { wrap, reads } = counting();
      const stage = engines.start({ wrap });
      const transaction = `bomb-${index}`;
      const names = targets.map((target) => targetOf(transaction, target));
      await createConfigMaps(bare, names);
      await stage.transaction(
        transaction,
        names.map((name) => change('Patch', name, { data: { color: 'green' } })),
      );
      await stepUntil(stage, transaction, 'Preparing');
      await plant(stage, transaction, forged(stage, transaction));
      const [before, readBefore] = [peak(), reads()];
      const { status } = await stepUntil(stage, transaction, 'Prepared');
      t.ok(peak() - before < 200, `memory grows by ${Math.round(peak() - before)} MB`);
      t.ok(reads() - readBefore < 12, `${reads() - readBefore} reads of ConfigMaps`);
      t.match(status, { phase: 'Prepared' });
      t.match((await stepToEnd(stage, transaction)).status, { phase: 'Committed' });
      await stage.annotate(transaction, { 'tx.janus.io/request-rollback': 'yes' });
      await stepUntil(stage, transaction, 'RolledBack');
      await stepToEnd(stage, transaction);
      t.match(await dataOf(stage, `configmaps/${names[0]}`), { color: 'blue' });
    });
  await t.test('the engine answers each request about the snapshot, and lets its Transaction be deleted', async (t) => {
    await createConfigMaps(bare, ['let-go-target-0']);
    await bare.transaction('let-go', [change('Patch', 'let-go-target-0', { data: { color: 'green' } })]);
    await stepUntil(bare, 'let-go', 'Preparing');
    await plant(bare, 'let-go', { texts: [entry(bare, 'let-go', 0, `${'['.repeat(20_000)}${']'.repeat(20_000)}`)] });
    await bare.annotate('let-go', { 'tx.janus.io/request-rollback': 'yes' });
    t.match((await stepToEnd(bare, 'let-go')).status, { phase: 'Failed' });
    must(await bare.client.get(bare.path('configmaps/let-go-rollback')));
  });
});
