// Claims that Kubernetes deletes with their StatefulSet (persistentVolumeClaimRetentionPolicy.whenDeleted: Delete): a Delete is refused
// for them, and an undo deletes no data behind them after the Transaction was Committed.
import t from 'tap';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { ownersOf } from '../../../hooks/transactions/hazards/read-owners.ts';
import { must, waitFor } from '../../support/client.ts';
import { causeOf, isThere } from '../../support/owned.ts';
import { commit, itemsOf, partial, undo } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const apps = { apiVersion: 'apps/v1', kind: 'StatefulSet' };

function content(replicas: number): JsonObject {
  const template = {
    metadata: { labels: { app: 'db' } },
    spec: { containers: [{ name: 'db', image: 'example.org/db:1' }] },
  };
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Mi' } } },
  };
  return {
    spec: {
      replicas,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template,
      volumeClaimTemplates: [claim],
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
    },
  };
}

const claimOf = (name: string): string => `persistentvolumeclaims/data-${name}-0`;

/** The controller of StatefulSets has made itself the owner of the claim. */
async function owned({ client, path }: Stage, name: string): Promise<void> {
  const isOwned = async (): Promise<boolean> => {
    const found = await client.get(path(claimOf(name)));
    return found.code === 200 && ownersOf(found.body).some((owner) => textAt(owner, 'kind') === 'StatefulSet');
  };
  await waitFor(isOwned, 'the claim to be owned');
}

/** As the binder of volumes does. */
async function bind({ client, path, namespace }: Stage, name: string): Promise<void> {
  must(await client.patch(path(claimOf(name)), { spec: { volumeName: `${namespace}-${name}` } }));
}

t.test('claims that go with a StatefulSet', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const make = async (name: string, replicas = 1): Promise<void> => {
    must(await client.create(path('apps/v1/statefulsets'), { ...apps, metadata: { name }, ...content(replicas) }));
  };

  await t.test('refuse its Delete, although no Pod is left', async (t) => {
    await make('kept');
    await owned(stage, 'kept');
    must(await client.patch(path('apps/v1/statefulsets/kept'), { spec: { replicas: 0 } }));
    await waitFor(async () => (await client.get(path('pods/kept-0'))).code === 404, 'the Pod to go');
    await stage.transaction('refused', [change('Delete', 'kept', undefined, apps)]);
    const { status } = await stepToEnd(stage, 'refused');
    t.match(status, { phase: 'Failed', message: /cannot be undone: .*\(.*PersistentVolumeClaim data-kept-0/ });
    t.equal(causeOf(status), 'Irreversible');
    t.ok(await isThere(stage, path(claimOf('kept'))));
  });

  await t.test('are left by the undo of what was Committed, once they are bound', async (t) => {
    await stage.transaction('made', [change('Create', 'made', content(1), apps)]);
    t.match((await stepToEnd(stage, 'made')).status, { phase: 'Committed' });
    await owned(stage, 'made');
    await bind(stage, 'made');
    await stage.annotate('made', { 'tx.janus.io/request-rollback': 'yes', ...partial });
    const { status } = await stepToEnd(stage, 'made');
    t.match(status, { phase: 'Failed' });
    t.match(itemsOf(status)[0], {
      left: true,
      error: {
        reason: 'NotEmpty',
        message: /deletes these claims with it: PersistentVolumeClaim data-made-0; their volumes may hold data/,
      },
    });
    t.ok(await isThere(stage, path('apps/v1/statefulsets/made')));
    t.ok(await isThere(stage, path(claimOf('made'))));
  });

  await t.test('go with the undo of what was Committed, where nothing is behind them', async (t) => {
    await stage.transaction('empty', [change('Create', 'empty', content(1), apps)]);
    t.match((await stepToEnd(stage, 'empty')).status, { phase: 'Committed' });
    await owned(stage, 'empty');
    await stage.annotate('empty', { 'tx.janus.io/request-rollback': 'yes' });
    t.match((await stepToEnd(stage, 'empty')).status, { phase: 'RolledBack' });
  });

  await t.test(
    'that were there before are kept with the StatefulSet, although the same Transaction has changed them',
    async (t) => {
      for (const turn of ['claim', 'set'] as const) {
        const name = `after-${turn}`;
        const spec = { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Mi' } } };
        must(
          await client.create(path('persistentvolumeclaims'), {
            metadata: { name: `data-${name}-0`, labels: { app: 'db' } },
            spec,
          }),
        );
        const patch = change(
          'Patch',
          `data-${name}-0`,
          { metadata: { labels: { seen: 'yes' } } },
          { kind: 'PersistentVolumeClaim' },
        );
        const all = [patch, change('Create', name, content(1), apps)];
        await commit(stage, name, turn === 'claim' ? all : all.toReversed());
        await owned(stage, name);
        const status = await undo(stage, name);
        t.match(status, { phase: 'Committed', undo: { reason: 'UndoRefused', items: [{ reason: 'NotEmpty' }] } }, name);
        t.match(must(await client.get(path(claimOf(name)))), { metadata: { labels: { seen: 'yes' } } });
      }
    },
  );

  await t.test('go with the rollback of what never was Committed, bound or not', async (t) => {
    const second = { data: { a: 'b' } };
    await stage.transaction('never', [change('Create', 'never', content(1), apps), change('Create', 'second', second)]);
    await stepUntil(stage, 'never', 'Prepared');
    must(await client.create(path('configmaps'), { metadata: { name: 'second' } }));
    await stepUntil(stage, 'never', 'Committing');
    await owned(stage, 'never');
    await bind(stage, 'never');
    t.match((await stepToEnd(stage, 'never')).status, { phase: 'RolledBack' });
    t.equal((await client.get(path('apps/v1/statefulsets/never'))).code, 404);
  });
});
