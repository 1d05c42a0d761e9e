// Locks in trouble: expired, deleted by hand, lost. An expired lock of a Transaction that may have written changes is not taken over. A
// Transaction that has lost a lock writes nothing more to its object, and undoes its changes.
import t from 'tap';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { ageLeases, deleteLeases, leaseOf, leases } from '../../support/leases.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const holderOf = async (stage: Stage, target: string): Promise<string> =>
  (textAt((await leaseOf(stage, target)).lease, 'spec', 'holderIdentity') ?? '').split('/')[1] ?? '';

const paint = (color: string, ...names: readonly string[]): readonly JsonObject[] =>
  names.map((name) => change('Patch', name, { data: { [color]: 'yes' } }));

t.test('locks', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const show = (...names: readonly string[]): Promise<readonly unknown[]> =>
    portraits(
      stage.client,
      names.map((name) => stage.path(`configmaps/${name}`)),
    );
  const data = async (name: string): Promise<unknown> => (await stage.client.get(stage.path(`configmaps/${name}`))).body.data;

  await t.test('one of two Transactions that find an expired lock gets it', async (t) => {
    await createConfigMaps(stage, ['b']);
    await stage.transaction('expired', paint('red', 'b'));
    await stepUntil(stage, 'expired', 'Preparing');
    await ageLeases(stage, 'b');
    const names = ['heir-0', 'heir-1', 'heir-2'];
    for (const name of names) await stage.transaction(name, paint(name, 'b'));
    const steps = await Promise.all(names.map((name) => step(stage, name)));
    t.same(steps.map(({ phase }) => phase).sort(), ['Pending', 'Pending', 'Preparing']);
    for (const { phase, status } of steps.filter(({ phase }) => phase === 'Pending'))
      t.match(status, { phase, message: /is locked by Transaction \S+\/heir-\d/ });
    await Promise.all(names.map((name) => stepToEnd(stage, name)));
    await stepToEnd(stage, 'expired');
    t.match(await data('b'), { 'heir-0': 'yes', 'heir-1': 'yes', 'heir-2': 'yes', red: undefined });
  });

  await t.test('the engine renews a lock that expired but was not taken, and the Transaction goes on', async (t) => {
    await createConfigMaps(stage, ['c0', 'c1']);
    await stage.transaction('away', paint('red', 'c0', 'c1'));
    await stepUntil(stage, 'away', 'Committing');
    await ageLeases(stage, 'c0', 'c1');
    t.match((await stepToEnd(stage, 'away')).status, { phase: 'Committed' });
  });

  await t.test('the engine undoes the changes if a lock is lost in the middle of them', async (t) => {
    await createConfigMaps(stage, ['d0', 'd1', 'd2']);
    const before = await show('d0', 'd1', 'd2');
    await stage.transaction('loser', paint('red', 'd0', 'd1', 'd2'));
    await stepUntil(stage, 'loser', 'Committing');
    await deleteLeases(stage, 'd1');
    await stage.transaction('winner', paint('green', 'd1'));
    await stepUntil(stage, 'winner', 'Preparing');
    t.equal(await holderOf(stage, 'd1'), 'winner');
    t.match((await stepUntil(stage, 'loser', 'RollingBack')).status, {
      message: /the lock of spec\.changes\[1\] was taken by another Transaction or deleted/,
    });
    t.match((await stepToEnd(stage, 'winner')).status, { phase: 'Committed' });
    t.match((await stepToEnd(stage, 'loser')).status, {
      phase: 'RolledBack',
      message: /the lock of spec\.changes\[1\] was taken/,
    });
    const after = await show('d0', 'd1', 'd2');
    t.same([after[0], after[2]], [before[0], before[2]]);
    t.match(await data('d1'), { green: 'yes', red: undefined }, 'what the other has written stays');
  });

  await t.test('a lock that a user has deleted counts as lost', async (t) => {
    await createConfigMaps(stage, ['e0', 'e1']);
    const before = await show('e0', 'e1');
    await stage.transaction('robbed', paint('red', 'e0', 'e1'));
    await stepUntil(stage, 'robbed', 'Committing');
    await deleteLeases(stage, 'e1');
    t.match((await stepToEnd(stage, 'robbed')).status, { phase: 'RolledBack' });
    t.same(await show('e0', 'e1'), before);
  });

  await t.test('the engine does not release a lock that names another holder at the end', async (t) => {
    await createConfigMaps(stage, ['i0', 'i1']);
    await stage.transaction('careful', paint('red', 'i0', 'i1'));
    await stepUntil(stage, 'careful', 'Committed');
    const { path } = await leaseOf(stage, 'i1');
    must(await stage.client.patch(path, { spec: { holderIdentity: `${stage.namespace}/somebody/else` } }));
    t.match((await stepToEnd(stage, 'careful')).status, { phase: 'Committed' });
    t.equal(await holderOf(stage, 'i1'), 'somebody');
    await t.rejects(leaseOf(stage, 'i0'), 'its own is given back');
    must(await stage.client.delete(path));
  });

  await t.test('an undo waits for a lock that it lost, and goes on', async (t) => {
    await createConfigMaps(stage, ['f0', 'f1']);
    const [, untouched] = await show('f0', 'f1');
    await stage.transaction('undone', paint('red', 'f0', 'f1'));
    await stepUntil(stage, 'undone', 'Committing');
    await stage.annotate('undone', { 'tx.janus.io/request-rollback': 'yes' });
    await stepUntil(stage, 'undone', 'RollingBack');
    await deleteLeases(stage, 'f0');
    await stage.transaction('between', paint('green', 'f0'));
    await stepUntil(stage, 'between', 'Committed');
    for (let count = 0; count < 4; count += 1) await step(stage, 'undone');
    t.match(await stage.read('undone'), { status: { phase: 'RollingBack', message: /is locked by Transaction \S+\/between/ } });
    await stepToEnd(stage, 'between');
    t.match((await stepToEnd(stage, 'undone')).status, { phase: 'RolledBack' });
    t.match(await data('f0'), { green: 'yes', red: undefined });
    t.same((await show('f1'))[0], untouched);
  });

  for (const lockWait of ['0s', '1s']) {
    await t.test(`a Transaction that waits ${lockWait} for a lock fails, names the holder, and releases its locks`, async (t) => {
      const own = (suffix: string): string => `g${lockWait}-${suffix}`;
      await createConfigMaps(stage, [own('a'), own('b'), own('c')]);
      await stage.transaction(own('holder'), paint('red', own('b')));
      await stepUntil(stage, own('holder'), 'Preparing');
      await stage.transaction(own('hasty'), paint('green', own('c'), own('b'), own('a')), { spec: { lockWait } });
      const { status } = await stepToEnd(stage, own('hasty'));
      const who = new RegExp(
        `ConfigMap ${stage.namespace}/${own('b')} is locked by Transaction ${stage.namespace}/${own('holder')}`,
      );
      t.match(status, { phase: 'Failed', message: who });
      const held = (await stage.leases()).filter((name) => name.includes(`-${own('')}`));
      t.equal(held.length, 1, `only the holder holds a lock: ${held.join(', ')}`);
      await stepToEnd(stage, own('holder'));
    });
  }

  await t.test('an undo that gets no locks leaves the Transaction Committed, and holds no lock', async (t) => {
    await createConfigMaps(stage, ['h0', 'h1', 'h2']);
    await stage.transaction('done', paint('red', 'h0', 'h1', 'h2'), { spec: { lockWait: '1s' } });
    await stepToEnd(stage, 'done');
    await stage.transaction('in-the-way', paint('green', 'h1'));
    await stepUntil(stage, 'in-the-way', 'Preparing');
    await stage.annotate('done', { 'tx.janus.io/request-rollback': 'yes' });
    await step(stage, 'done');
    const { status } = await stepToEnd(stage, 'done');
    t.match(status, {
      phase: 'Committed',
      message: /"yes" has no effect: ConfigMap \S+\/h1 is locked by Transaction \S+\/in-the-way/,
    });
    t.equal((await stage.leases()).length, 1, 'only the other holds a lock');
    await stepToEnd(stage, 'in-the-way');
    await stage.annotate('done', { 'tx.janus.io/request-rollback': 'once more' });
    t.match((await stepUntil(stage, 'done', 'RolledBack')).status, { phase: 'RolledBack' });
    await stepToEnd(stage, 'done');
    t.match(await data('h1'), { green: 'yes', red: undefined });
  });

  await t.test('a Transaction takes over an expired lock that has neither labels nor times', async (t) => {
    await createConfigMaps(stage, ['c']);
    await stage.transaction('before', paint('green', 'c'));
    await stepUntil(stage, 'before', 'Preparing');
    const [lease = ''] = await stage.leases();
    await stepToEnd(stage, 'before');
    t.teardown(() => stage.client.delete(`${leases}/${lease}`));
    must(
      await stage.client.create(leases, {
        metadata: { name: lease },
        spec: { holderIdentity: 'somebody', leaseDurationSeconds: 1 },
      }),
    );
    await stage.transaction('after', paint('red', 'c'));
    t.match((await stepToEnd(stage, 'after')).status, { phase: 'Committed' });
    t.equal((await stage.client.get(`${leases}/${lease}`)).code, 404, 'and is given back');
  });
  t.same(await stage.leases(), []);
});
