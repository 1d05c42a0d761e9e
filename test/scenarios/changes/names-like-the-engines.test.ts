// What users name as the engine might name its own: it is theirs, made and undone as any other.
import t from 'tap';
import { at, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { commit, undoAll } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const names = ['mine-rollback', 'mine-rollback-0', 'mine-rollback-1', 'mine-rollback-99'];
// Until snapshots have names that only the engine's key gives.

t.test('a Create of a ConfigMap under the names of snapshots', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  await createConfigMaps(stage, ['there']);
  const paths = ['there', ...names].map((name) => path(`configmaps/${name}`));
  const before = await portraits(client, paths);
  const content = (name: string) => ({ data: { name } });
  const patch = change('Patch', 'there', { data: { color: 'green' } });
  const status = await commit(stage, 'mine', [patch, ...names.map((name) => change('Create', name, content(name)))]);
  for (const name of names) t.match(must(await client.get(path(`configmaps/${name}`))), content(name));
  const snapshot = textAt(status, 'rollbackRef', 'name') ?? '';
  t.notOk(names.includes(snapshot), 'the snapshot has another name');
  t.ok(at(must(await client.get(path(`configmaps/${snapshot}`))), 'immutable'), 'and is there');
  await undoAll(stage, 'mine');
  t.same(await portraits(client, paths), before, 'undone exactly');
});

t.test('a ConfigMap of somebody under the name of a snapshot is a target as any other', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  await createConfigMaps(stage, ['there', ...names]);
  const paths = ['there', ...names].map((name) => path(`configmaps/${name}`));
  const before = await portraits(client, paths);
  const changes = ['there', ...names].map((name) => change('Patch', name, { data: { color: 'green' } }));
  await commit(stage, 'mine', changes);
  await undoAll(stage, 'mine');
  t.same(await portraits(client, paths), before);
});
