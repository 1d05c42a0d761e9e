// An expired lock (L7, L8): a Transaction takes it over only if its holder is gone, has ended, or has announced no change.
import t from 'tap';
import type { Cluster } from '../../../hooks/objects/cluster.ts';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { openEngines } from '../../support/engine.ts';
import { ageLeases } from '../../support/leases.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil, stepUntilGone } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const paint = (color: string, ...names: readonly string[]): readonly JsonObject[] =>
  names.map((name) => change('Patch', name, { data: { [color]: 'yes' } }));

const pathOf = ({ namespace }: Stage, name: string): string =>
  `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions/${name}`;

const wayOut =
  'let the engine serve that Transaction, or (delete it and )?remove its finalizer \\(changes that it has applied stay\\)';

/** Holders that may have written changes. `why`: as the status of the Transaction that waits says it. */
const keepers: readonly {
  readonly what: string;
  readonly why: string;
  readonly make: (stage: Stage, name: string) => Promise<unknown>;
  readonly wrap?: (cluster: Cluster, name: string) => Cluster;
}[] = [
  { what: 'unfinished', why: 'which has not ended although its lock has expired', make: async () => undefined },
  {
    what: 'terminating',
    why: 'which is being deleted and has not ended although its lock has expired',
    make: (stage, name) => stage.client.delete(pathOf(stage, name)),
  },
  {
    what: 'unreadable',
    why: 'which cannot be read although its lock has expired',
    make: async () => undefined,
    wrap: (cluster, name) => ({
      ...cluster,
      get: async (location, identity) => {
        const answer = await cluster.get(location, identity);
        return location.name === name && location.resource.plural === 'transactions' ? forbidden : answer;
      },
    }),
  },
];

const forbidden = {
  kind: 'failed',
  failure: { kind: 'refused', code: 403, reason: 'Forbidden', message: 'for the test', fields: [], definitive: true },
} as const;

t.test('expired locks', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage);
  const show = (...names: readonly string[]): Promise<readonly unknown[]> =>
    portraits(
      stage.client,
      names.map((name) => stage.path(`configmaps/${name}`)),
    );
  const data = async (name: string): Promise<unknown> => (await stage.client.get(stage.path(`configmaps/${name}`))).body.data;

  await t.test('a Transaction takes over an expired lock of a holder that has announced nothing (L7, L8)', async (t) => {
    await createConfigMaps(stage, ['a0', 'a1']);
    await stage.transaction('slow', paint('red', 'a0', 'a1'));
    await stepUntil(stage, 'slow', 'Preparing');
    await ageLeases(stage, 'a0', 'a1');
    await stage.transaction('next', paint('green', 'a1', 'a0'));
    await stepUntil(stage, 'next', 'Preparing');
    await stepUntil(stage, 'slow', 'Prepared');
    t.match((await stepToEnd(stage, 'next')).status, { phase: 'Committed' });
    const before = await show('a0', 'a1');
    const { status } = await stepToEnd(stage, 'slow');
    t.match(status, {
      phase: 'RolledBack',
      message: /the lock of spec\.changes\[0\] was taken by another Transaction or deleted/,
    });
    t.same(await show('a0', 'a1'), before);
  });

  await t.test(
    'a holder that announces its changes after it was read keeps the lock, because it renews the lock (L8)',
    async (t) => {
      await createConfigMaps(stage, ['k']);
      await stage.transaction('renewing', paint('red', 'k'));
      await stepUntil(stage, 'renewing', 'Preparing');
      await ageLeases(stage, 'k');
      await stage.transaction('late', paint('green', 'k'));
      let takeovers = 0;
      const racing = engines.start({
        timing: { stepDeadline: 600_000 },
        wrap: (cluster) => ({
          ...cluster,
          send: async (write, isLate) => {
            if (write.verb === 'update' && takeovers === 0) {
              takeovers += 1;
              await stepUntil(stage, 'renewing', 'Committed');
            }
            return cluster.send(write, isLate);
          },
        }),
      });
      const { status } = await step(racing, 'late');
      t.equal(takeovers, 1, 'the takeover was sent after the holder had renewed the lock');
      t.match(status, { phase: 'Pending', message: /is locked by Transaction \S+\/renewing$/ });
      await stepToEnd(stage, 'renewing');
      t.match((await stepToEnd(stage, 'late')).status, { phase: 'Committed' });
      t.match(await data('k'), { red: 'yes', green: 'yes' });
    },
  );

  for (const { what, why, make, wrap } of keepers) {
    await t.test(
      `the lock of a holder that is ${what} is waited for; the end names the holder and the way out (L7)`,
      async (t) => {
        const [a, b, holder, waiting] = ['a', 'b', 'holder', 'waiting'].map((suffix) => `${what}-${suffix}`) as [
          string,
          string,
          string,
          string,
        ];
        await createConfigMaps(stage, [a, b]);
        await stage.transaction(holder, paint('red', a, b));
        await stepUntil(stage, holder, 'Committing');
        await ageLeases(stage, a, b);
        await make(stage, holder);
        await stage.transaction(waiting, paint('green', b, a), { spec: { lockWait: '1s' } });
        const before = await show(a, b);
        const engine = wrap === undefined ? stage : engines.start({ wrap: (cluster) => wrap(cluster, holder) });
        const who = `is locked by Transaction ${stage.namespace}/${holder}, ${why}`;
        t.match((await step(engine, waiting)).status, {
          phase: 'Pending',
          message: new RegExp(`^waiting until .*${who}; ${wayOut}$`),
        });
        const { status } = await stepToEnd(engine, waiting);
        const end = new RegExp(`${who}; waited longer than spec\\.lockWait \\(1s\\); ${wayOut}$`);
        t.match(status, { phase: 'Failed', message: end, conditions: [{}, { reason: 'LockHeld' }] });
        t.same(await show(a, b), before, 'nothing was written');
        if (what === 'terminating') await stepUntilGone(stage, holder);
        else t.match((await stepToEnd(stage, holder)).status, { phase: 'Committed' }, 'the holder goes on');
      },
    );
  }

  await t.test('the undo of a Transaction waits for an expired lock of another that has not ended', async (t) => {
    await createConfigMaps(stage, ['u']);
    await stage.transaction('below', paint('red', 'u'));
    await stepToEnd(stage, 'below');
    await stage.transaction('above', paint('green', 'u'));
    await stepUntil(stage, 'above', 'Prepared');
    await ageLeases(stage, 'u');
    await stage.annotate('below', { 'tx.janus.io/request-rollback': 'yes' });
    const { status } = await step(stage, 'below');
    t.match(status, {
      phase: 'Committed',
      message: new RegExp(`is locked by Transaction \\S+/above, which has not ended .*; ${wayOut}$`),
    });
    await stepToEnd(stage, 'above');
    t.match((await stepUntil(stage, 'below', 'RolledBack')).status, { phase: 'RolledBack' });
    await stepToEnd(stage, 'below');
    t.match(await data('u'), { green: 'yes', red: undefined });
  });

  await t.test(
    'after its finalizer is removed, the expired locks of a Transaction are taken over, and its changes stay',
    async (t) => {
      await createConfigMaps(stage, ['m0', 'm1']);
      await stage.transaction('dropped', paint('red', 'm0', 'm1'));
      await stepUntil(stage, 'dropped', 'Committing');
      await ageLeases(stage, 'm0', 'm1');
      must(await stage.client.delete(pathOf(stage, 'dropped')));
      must(await stage.client.patch(pathOf(stage, 'dropped'), { metadata: { finalizers: null } }));
      await stage.transaction('dropped', paint('blue', 'n'));
      await stage.transaction('heir', paint('green', 'm1', 'm0'));
      t.match((await stepToEnd(stage, 'heir')).status, { phase: 'Committed' }, 'a namesake with another uid is not the holder');
      t.match(await data('m0'), { red: 'yes', green: 'yes' });
    },
  );
  t.same(await stage.leases(), []);
});
