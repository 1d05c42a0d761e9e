// Many kinds, with what the API server generates, defaults and keeps in lists with keys: each is patched, updated and deleted, and
// comes back to the last managed field.
import t, { type Test } from 'tap';
import { must } from '../../support/client.ts';
import { withoutGenerated } from '../../support/generated.ts';
import { type Kind, kinds } from '../../support/kinds.ts';
import { everyNth } from '../../support/selection.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { change, portraits } from '../../support/targets.ts';

function collectionOf(stage: Stage, { apiVersion, plural, clusterScoped }: Kind): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return clusterScoped === true ? `${root}/${plural}` : `${root}/namespaces/${stage.namespace}/${plural}`;
}

t.test('an undo restores each kind exactly', async (t) => {
  const stage = await startStage(t);
  t.jobs = 4;
  await Promise.all(everyNth(3, kinds).map((kind) => t.test(kind.kind, (t) => run(t, stage, kind))));
  t.same(await stage.leases(), []);
});

async function run(t: Test, stage: Stage, kind: Kind): Promise<void> {
  const { client } = stage;
  const collection = collectionOf(stage, kind);
  const prefix = `${stage.namespace}-${kind.kind}`.toLowerCase();
  const changes = [
    { type: 'Patch', content: { metadata: { labels: { painted: 'yes' } }, ...kind.patch } },
    ...(kind.update === undefined ? [] : [{ type: 'Update', content: kind.update }]),
    { type: 'Delete', content: undefined },
  ];
  const named = changes.map((one) => ({ ...one, name: `${prefix}-${one.type}`.toLowerCase() }));
  for (const { name } of named) {
    t.teardown(() => client.delete(`${collection}/${name}`));
    const object = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name, labels: { team: 'shop' } }, ...kind.object };
    must(await client.create(collection, object, { fieldManager: 'kubectl-create' }));
  }
  const show = async (): Promise<unknown> =>
    Object.fromEntries(
      await Promise.all(
        named.map(
          async ({ type, name }) =>
            [type, withoutGenerated((await portraits(client, [`${collection}/${name}`], type === 'Delete'))[0])] as const,
        ),
      ),
    );
  const before = await show();
  const target = { kind: kind.kind, apiVersion: kind.apiVersion };
  await stage.transaction(
    prefix,
    named.map(({ type, name, content }) => change(type, name, content, target)),
    { annotations: { 'tx.janus.io/allow-irreversible': 'true' } },
  );
  const status = await stage.finished(prefix);
  t.match(status, { phase: 'Committed' });
  if (status.phase !== 'Committed') return;
  await stage.annotate(prefix, { 'tx.janus.io/request-rollback': 'yes' });
  await stage.phase(prefix, 'RolledBack');
  t.same(await show(), before);
  await stage.finished(prefix);
}
