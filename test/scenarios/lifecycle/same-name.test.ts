// Transactions that share a name, one after the other: neither takes the field manager or the snapshot of the other for its own.
import t from 'tap';
import { must } from '../../support/client.ts';
import { engineNamespace } from '../../support/install.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd, stepUntil, stepUntilGone } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const green = { data: { color: 'green' } };
const leases = `/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`;

function pathOf({ namespace }: Stage, name: string): string {
  return `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions/${name}`;
}

async function data({ client, path }: Stage, name: string): Promise<unknown> {
  return must(await client.get(path(`configmaps/${name}`))).data;
}

t.test('two Transactions use one name, one after the other', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });

  await t.test('the engine keeps the fields of both Transactions', async (t) => {
    await createConfigMaps(stage, ['a']);
    await stage.transaction('same', [change('Patch', 'a', { data: { first: 'yes' } })]);
    await stepToEnd(stage, 'same');
    must(await stage.client.delete(pathOf(stage, 'same')));
    await stepUntilGone(stage, 'same');
    await stage.transaction('same', [change('Patch', 'a', { data: { second: 'yes' } })]);
    await stepToEnd(stage, 'same');
    t.match(await data(stage, 'a'), { first: 'yes', second: 'yes' });
    await stage.annotate('same', { 'tx.janus.io/request-rollback': 'yes' });
    await stepUntil(stage, 'same', 'RolledBack');
    await stepToEnd(stage, 'same');
    t.match(await data(stage, 'a'), { first: 'yes', second: undefined });
  });

  await t.test('a Transaction does not adopt the snapshot of a predecessor with its name', async (t) => {
    await createConfigMaps(stage, ['b']);
    const [before] = await portraits(stage.client, [stage.path('configmaps/b')]);
    await stage.transaction('former', [change('Patch', 'b', { data: { color: 'red' } })]);
    await stepUntil(stage, 'former', 'Prepared');
    for (const lease of await stage.leases()) must(await stage.client.delete(`${leases}/${lease}`));
    must(await stage.client.patch(pathOf(stage, 'former'), { metadata: { finalizers: null } }));
    must(await stage.client.delete(pathOf(stage, 'former')));
    await stage.transaction('former', [change('Patch', 'b', green)]);
    const { status } = await stepToEnd(stage, 'former');
    t.match(status, { phase: 'Committed', rollbackRef: { name: /^former-rollback-[0-9a-f]{20}$/ } });
    await stage.annotate('former', { 'tx.janus.io/request-rollback': 'yes' });
    await stepUntil(stage, 'former', 'RolledBack');
    await stepToEnd(stage, 'former');
    t.same((await portraits(stage.client, [stage.path('configmaps/b')]))[0], before);
  });
});
