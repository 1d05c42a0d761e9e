// A search that takes longer than a call goes on in the next call, and ends: around deleted and created objects, and among
// all Transactions. Time is made to pass by a clock of the test's own: each page of a list takes seconds of it.
import t from 'tap';
import type { Clock, Cluster, ListAnswer } from '../../../hooks/objects/cluster.ts';
import { textAt } from '../../../hooks/objects/json.ts';
import { clock as real } from '../../../server/clock.ts';
import { must } from '../../support/client.ts';
import { type Engines, openEngines } from '../../support/engine.ts';
import { causeOf, hangOn, isThere } from '../../support/owned.ts';
import { itemsOf } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepTo, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const blue = { data: { color: 'blue' } };

interface Slow {
  readonly stage: Stage;
  /** Names of the kinds of the pages that were asked for, in order. */
  readonly pages: string[];
  /** The next page that goes on with a list is refused: its version was compacted away. */
  expire(): void;
}

const expired: ListAnswer = {
  kind: 'failed',
  failure: { kind: 'refused', code: 410, reason: 'Expired', message: 'too old', fields: [], definitive: true },
};

/** An engine to which each page of `slow` takes `seconds`, and has one object. */
function slowEngine(engines: Engines, seconds: number, slow: (kind: string) => boolean = () => true): Slow {
  let passed = 0;
  let isExpiring = false;
  const pages: string[] = [];
  const clock: Clock = { ...real, monotonic: () => real.monotonic() + passed };
  const page = (from: string | undefined): ListAnswer | undefined => {
    passed += seconds * 1_000;
    const isRefused = isExpiring && from !== undefined;
    if (isRefused) isExpiring = false;
    return isRefused ? expired : undefined;
  };
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    listMetadata: async (...args) => {
      const [resource, namespace, identity, options] = args;
      if (resource.kind === 'Lease' || !slow(resource.kind)) return cluster.listMetadata(...args);
      pages.push(resource.kind);
      return page(options.from) ?? cluster.listMetadata(resource, namespace, identity, { ...options, limit: 1 });
    },
  });
  return {
    stage: engines.start({ wrap, clock }),
    pages,
    expire: () => {
      isExpiring = true;
    },
  };
}

const isOf = (kind: string) => (other: string) => other === kind;

t.test('a search that takes longer than a call goes on in the next call', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const engines = await openEngines(t, stage);

  await t.test('the process that continues a search of many kinds around a Delete ends it', async (t) => {
    await createConfigMaps(stage, ['deleted']);
    await stage.transaction('deleting', [change('Delete', 'deleted')]);
    const slow = slowEngine(engines, 1);
    t.match((await stepToEnd(slow.stage, 'deleting')).status, { phase: 'Committed' });
    t.equal((await client.get(path('configmaps/deleted'))).code, 404);
  });

  await t.test('a search of many objects of a kind reads each page once, and finds each object', async (t) => {
    await createConfigMaps(stage, ['parent', ...Array.from({ length: 40 }, (_, index) => `many-${index}`)]);
    await hangOn(stage, 'zz-child', must(await client.get(path('configmaps/parent'))));
    await stage.transaction('refused', [change('Delete', 'parent')]);
    const { stage: slow, pages } = slowEngine(engines, 1, isOf('ConfigMap'));
    const { status } = await stepToEnd(slow, 'refused');
    t.match(status, { phase: 'Failed', message: /Kubernetes would also delete the objects that it owns \(ConfigMap zz-child\)/ });
    t.equal(causeOf(status), 'Irreversible');
    const there = (await client.list(path('configmaps'))).items.length;
    t.equal(pages.length, there, 'each object is read once, although they took many calls');
  });

  await t.test('the engine starts the list of a kind again when its token expires', async (t) => {
    await createConfigMaps(stage, ['expiring']);
    await stage.transaction('expiring', [change('Delete', 'expiring')]);
    const slow = slowEngine(engines, 1, isOf('ConfigMap'));
    await stepTo(slow.stage, 'expiring', 'the look to be under way', () => slow.pages.length > 5);
    slow.expire();
    t.match((await stepToEnd(slow.stage, 'expiring')).status, { phase: 'Committed' });
  });

  await t.test('the next process starts the search again when its process dies', async (t) => {
    await createConfigMaps(stage, ['lost']);
    await stage.transaction('lost', [change('Delete', 'lost')]);
    const first = slowEngine(engines, 1, isOf('ConfigMap'));
    await step(first.stage, 'lost');
    await stepTo(first.stage, 'lost', 'the look to be under way', () => first.pages.length > 5);
    t.match((await stepToEnd(slowEngine(engines, 1, isOf('ConfigMap')).stage, 'lost')).status, { phase: 'Committed' });
  });

  await t.test('the search before a Delete finds a dependent that appeared before the search began', async (t) => {
    await createConfigMaps(stage, ['due']);
    await stage.transaction('due', [change('Delete', 'due')]);
    await stepUntil(stage, 'due', 'Prepared');
    const child = await hangOn(stage, 'zz-late', must(await client.get(path('configmaps/due'))));
    const { status } = await stepToEnd(slowEngine(engines, 1, isOf('ConfigMap')).stage, 'due');
    t.match(status, { phase: 'RolledBack', message: /\(ConfigMap zz-late\)/ });
    t.ok(await isThere(stage, child));
  });

  await t.test('the search among all Transactions in an undo goes on too', async (t) => {
    await createConfigMaps(stage, ['patched']);
    await stage.transaction('patched', [change('Patch', 'patched', blue)]);
    t.match((await stepToEnd(stage, 'patched')).status, { phase: 'Committed' });
    for (let index = 0; index < 20; index += 1)
      await stage.transaction(`other-${index}`, [change('Create', `other-${index}`, blue)]);
    // Any of them may have deleted it.
    must(await client.delete(path('configmaps/patched')));
    await stage.annotate('patched', { 'tx.janus.io/request-rollback': 'yes' });
    const { stage: slow, pages } = slowEngine(engines, 1, isOf('Transaction'));
    const { status } = await stepToEnd(slow, 'patched');
    t.match(itemsOf(status)[0], { error: { reason: 'Gone' } }, textAt(status, 'message') ?? '');
    t.ok(pages.length > 20, 'all were read');
    t.equal(new Set(pages).size, 1);
  });
});
