// The undo of many Deletes looks at the Transactions of all namespaces once in a call, and reads whole only those that may change its
// objects. It still finds the one that is in its way.
import t from 'tap';
import type { Cluster, ListOptions } from '../../../hooks/objects/cluster.ts';
import { at, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { itemsOf } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

interface Seen {
  /** Lists of the metadata of all Transactions that began. */
  lists: number;
  /** Names of Transactions that were read whole, besides the one that the call is about. */
  readonly whole: string[];
}

function watched(seen: Seen): (cluster: Cluster) => Cluster {
  return (cluster) => ({
    ...cluster,
    listMetadata: (resource, namespace, identity, options) => {
      if (resource.plural === 'transactions') note(seen, namespace, options);
      return cluster.listMetadata(resource, namespace, identity, options);
    },
  });
}

function note(seen: Seen, namespace: string | undefined, { whole, name, from }: ListOptions): void {
  if (whole === true) seen.whole.push(`${namespace}/${name}`);
  else if (from === undefined) seen.lists += 1;
}

const names = ['a', 'b', 'c', 'd', 'e', 'f'];

t.test('the undo of Deletes beside other Transactions', async (t) => {
  const seen: Seen = { lists: 0, whole: [] };
  const stage = await startStage(t, { withoutLoop: true, wrap: watched(seen) });
  const rollback = async (name: string, value: string) => {
    [seen.lists, seen.whole.length] = [0, 0];
    await stage.annotate(name, { 'tx.janus.io/request-rollback': value });
    return (await stepToEnd(stage, name)).status;
  };
  const ofStage = () => seen.whole.filter((name) => name.startsWith(`${stage.namespace}/`));
  await createConfigMaps(stage, [...names, 'other', 'elsewhere']);
  for (const other of ['other', 'elsewhere']) {
    await stage.transaction(`patches-${other}`, [change('Patch', other, { data: { color: 'blue' } })]);
    t.match((await stepToEnd(stage, `patches-${other}`)).status, { phase: 'Committed' });
  }
  await stage.transaction(
    'deletes',
    names.map((name) => change('Delete', name)),
  );
  t.match((await stepToEnd(stage, 'deletes')).status, { phase: 'Committed' });

  await t.test('is refused because of a Transaction that created one of the objects', async (t) => {
    await stage.transaction('creates', [change('Create', 'c', { data: { color: 'green' } })]);
    t.match((await stepToEnd(stage, 'creates')).status, { phase: 'Committed' });
    const status = await rollback('deletes', 'first');
    t.match(status, { phase: 'Committed', undo: { reason: 'UndoRefused' } });
    t.match(textAt(status, 'undo', 'message'), /c was later created by Transaction .*\/creates/);
    t.equal(seen.lists, 1, 'one list for six Deletes');
    t.same(ofStage(), [`${stage.namespace}/creates`], 'this process knows what the others change');
  });

  await t.test('lists once for each call, and restores everything', async (t) => {
    t.match(await rollback('creates', 'yes'), { phase: 'RolledBack' });
    const status = await rollback('deletes', 'second');
    t.match(status, { phase: 'RolledBack' });
    t.same(
      itemsOf(status).map((item) => at(item, 'rolledBack')),
      names.map(() => true),
    );
    for (const name of names) must(await stage.client.get(stage.path(`configmaps/${name}`)));
    t.ok(seen.lists > 0 && seen.lists <= 1 + names.length, `${seen.lists} lists for the survey and six calls`);
    t.equal(new Set(ofStage()).size, 1, 'it reads only the Transaction of the object whole');
  });
});
