// One file of plain manifests installs and upgrades, under one field manager for all releases, and each release is undone exactly.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { inAllOnly } from '../../support/selection.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { portraits } from '../../support/targets.ts';
import { applied, fill, installed, paths } from './application.ts';

const shared = { spec: { fieldManager: 'app' } };
const undo = { 'tx.janus.io/request-rollback': '1' };

async function commit(stage: Stage, name: string, version: 1 | 2): Promise<void> {
  await stage.transaction(name, applied(version), shared);
  const status = await stage.finished(name);
  if (textAt(status, 'phase') !== 'Committed') throw new Error(`${name}: ${textAt(status, 'message')}`);
}

async function undone(stage: Stage, name: string): Promise<void> {
  await stage.annotate(name, undo);
  await stage.phase(name, 'RolledBack');
  await stage.finished(name);
}

/** Nothing is written, and each blocked object names the later Transaction. */
async function refused(t: Test, stage: Stage, later: string, blocked: number): Promise<void> {
  const before = await portraits(stage.client, paths(stage));
  await stage.annotate('release-1', undo);
  const status = await waitFor(async () => {
    const found = at(await stage.read('release-1'), 'status') as JsonObject;
    return at(found, 'undo') === undefined ? undefined : found;
  }, 'the answer');
  t.match(status, { phase: 'Committed', undo: { reason: 'UndoRefused', counts: { blocked } } });
  for (const item of at(status, 'undo', 'items') as readonly object[])
    t.match(item, {
      verdict: 'Blocked',
      reason: 'LaterTransaction',
      message: new RegExp(`${stage.namespace}/${later}`),
    });
  t.same(await portraits(stage.client, paths(stage)), before, 'nothing is lost');
}

async function dropsWhatIsNotNamed(t: Test, stage: Stage): Promise<void> {
  const [deployment, service, configMap] = await Promise.all(
    ['apps/v1/deployments/app-0', 'services/app-0', 'configmaps/app-0'].map(async (path) =>
      must(await stage.client.get(stage.path(path))),
    ),
  );
  const containers = at(deployment, 'spec', 'template', 'spec', 'containers') as readonly object[];
  t.match(containers, [{ env: [{ name: 'MODE' }] }]);
  t.notMatch(containers, [{ env: [{ name: 'MODE' }, { name: 'DEBUG' }] }], 'the environment variable is gone');
  t.equal((at(service, 'spec', 'ports') as readonly object[]).length, 1, 'the port is gone');
  t.equal(at(configMap, 'metadata', 'labels', 'tier'), undefined, 'the label is gone');
}

t.test('the engine installs thirty manifests', async (t) => {
  await t.test('the engine installs and upgrades in an empty namespace, and undoes each release exactly', async (t) => {
    const stage = await startStage(t);
    const show = () => portraits(stage.client, paths(stage));
    const nothing = await show();
    t.equal(nothing.length, 30);
    await commit(stage, 'release-1', 1);
    const installed = await show();
    const status = await stage.finished('release-1');
    t.match(at(status, 'items'), [{ note: /not sent/ }], 'what generators leave is not sent, and said');
    await commit(stage, 'release-2', 2);
    await dropsWhatIsNotNamed(t, stage);
    await undone(stage, 'release-2');
    t.same(await show(), installed, 'as release 1 left it, with the entry of the manager');
    await undone(stage, 'release-1');
    t.same(await show(), nothing);
  });

  await t.test('the engine restores a Namespace and its objects that controllers have touched', async (t) => {
    const stage = await startStage(t);
    const namespace = `${stage.namespace}-new`;
    t.teardown(() => stage.client.delete(`/api/v1/namespaces/${namespace}`));
    await stage.transaction('install', installed(namespace), shared);
    t.match(await stage.finished('install'), { phase: 'Committed' });
    const deployment = `/apis/apps/v1/namespaces/${namespace}/deployments/app-0`;
    const isSeen = async () => at(must(await stage.client.get(deployment)), 'status', 'observedGeneration') !== undefined;
    await waitFor(isSeen, 'its controller');
    await undone(stage, 'install');
    t.equal((await stage.client.get(`/api/v1/namespaces/${namespace}`)).code, 404);
  });

  await t.test('the engine patches and upgrades in a full namespace, and undoes each release exactly', inAllOnly, async (t) => {
    const stage = await startStage(t);
    const show = () => portraits(stage.client, paths(stage));
    await fill(stage);
    const before = await show();
    await commit(stage, 'release-1', 1);
    const installed = await show();
    await commit(stage, 'release-2', 2);
    await undone(stage, 'release-2');
    t.same(await show(), installed);
    await undone(stage, 'release-1');
    t.same(await show(), before);
  });

  await t.test('the engine refuses to undo an earlier release, names the later one, and loses nothing', inAllOnly, async (t) => {
    const stage = await startStage(t);
    const show = () => portraits(stage.client, paths(stage));
    const nothing = await show();
    await commit(stage, 'release-1', 1);
    const installed = await show();
    await commit(stage, 'release-2', 2);
    await refused(t, stage, 'release-2', 30);
    await undone(stage, 'release-2');
    t.same(await show(), installed);
    await stage.annotate('release-1', { 'tx.janus.io/request-rollback': '2' });
    await stage.phase('release-1', 'RolledBack');
    t.same(await show(), nothing, 'in the right one it is exact');
  });

  await t.test('the engine refuses to undo an earlier install of an unchanged version', inAllOnly, async (t) => {
    const stage = await startStage(t);
    const show = () => portraits(stage.client, paths(stage));
    await fill(stage);
    const before = await show();
    await commit(stage, 'release-1', 1);
    const installed = await show();
    await commit(stage, 'again', 1);
    await refused(t, stage, 'again', 30);
    await undone(stage, 'again');
    t.same(await show(), installed);
    await stage.annotate('release-1', { 'tx.janus.io/request-rollback': '2' });
    await stage.phase('release-1', 'RolledBack');
    t.same(await show(), before);
  });
});
