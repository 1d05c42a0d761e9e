// A Deployment whose status and annotations are written all the time: by the controller manager, and by a writer of the
// test. None of that is a conflict.
import t, { type Test } from 'tap';
import { at, isList, type JsonObject, textAt, withPath } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { comparable, type Stage, startStage } from '../../support/stage.ts';
import { change } from '../../support/targets.ts';

const kind = { apiVersion: 'apps/v1', kind: 'Deployment' };

function content(image: string, replicas: number): JsonObject {
  const container = { name: 'web', image, env: [{ name: 'MODE', value: 'blue' }] };
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } };
  return { spec: { replicas, selector: { matchLabels: { app: 'web' } }, template } };
}

t.test('a controller writes the status of a Deployment often', async (t) => {
  const stage = await startStage(t);
  const { client } = stage;
  const path = stage.path('apps/v1/deployments/web');

  t.beforeEach(async () => {
    const object = { ...kind, metadata: { name: 'web' }, ...content('example.org/web:1', 1) };
    must(await client.create(stage.path('apps/v1/deployments'), object, { fieldManager: 'kubectl-create' }));
    await waitFor(async () => isSettled(must(await client.get(path))), 'the controller manager to have taken it up');
  });
  t.afterEach(async () => {
    must(await client.delete(path));
    await waitFor(async () => (await client.get(path)).code === 404, 'the Deployment to be gone');
  });

  const show = async (isNew = false): Promise<unknown> => comparable(must(await client.get(path)), isNew);
  const undo = async (name: string): Promise<void> => {
    await stage.annotate(name, { 'tx.janus.io/request-rollback': 'yes' });
    await stage.phase(name, 'RolledBack');
    await stage.finished(name);
  };

  await t.test('the engine patches the Deployment and undoes the Patch', async (t) => {
    const before = await show();
    keepWriting(t, stage, path);
    const patched = { spec: { template: { spec: { containers: [{ name: 'web', image: 'example.org/web:2' }] } } } };
    await stage.transaction('patched', [change('Patch', 'web', patched, kind), change('Create', 'beside', { data: { a: 'b' } })]);
    t.match(await stage.finished('patched'), { phase: 'Committed', message: 'all 2 changes are applied' });
    t.equal(imageOf(must(await client.get(path))), 'example.org/web:2');
    await undo('patched');
    t.same(withoutWriter(await show()), before);
  });

  await t.test('the engine updates the Deployment and undoes the Update', async (t) => {
    const before = await show();
    keepWriting(t, stage, path);
    await stage.transaction('updated', [change('Update', 'web', content('example.org/web:3', 2), kind)]);
    t.match(await stage.finished('updated'), { phase: 'Committed' });
    t.equal(imageOf(must(await client.get(path))), 'example.org/web:3');
    await undo('updated');
    t.same(withoutWriter(await show()), before);
  });

  await t.test('the engine deletes and restores the Deployment, although its ReplicaSet is lost', async (t) => {
    const before = await show(true);
    keepWriting(t, stage, path);
    const deletion = [change('Delete', 'web', undefined, kind)];
    await stage.transaction('delete-owner', deletion);
    t.match(await stage.finished('delete-owner'), { phase: 'Failed', message: /allow-irreversible/ });
    await stage.transaction('deleted', deletion, { annotations: { 'tx.janus.io/allow-irreversible': 'true' } });
    t.match(await stage.finished('deleted'), { phase: 'Committed' });
    t.equal((await client.get(path)).code, 404);
    await undo('deleted');
    await waitFor(async () => isSettled(must(await client.get(path))), 'the controller manager to have taken it up again');
    t.same(withoutWriter(await show(true)), before);
  });

  await t.test('the undo deletes a created Deployment although a controller has written its status', async (t) => {
    must(await client.delete(path));
    await waitFor(async () => (await client.get(path)).code === 404, 'the Deployment to be gone');
    await stage.transaction('created', [change('Create', 'web', content('example.org/web:1', 1), kind)]);
    t.match(await stage.finished('created'), { phase: 'Committed' });
    keepWriting(t, stage, path);
    await waitFor(async () => isSettled(must(await client.get(path))), 'the controller manager to have taken it up');
    await undo('created');
    t.equal((await client.get(path)).code, 404);
    must(
      await client.create(stage.path('apps/v1/deployments'), {
        ...kind,
        metadata: { name: 'web' },
        ...content('example.org/web:1', 1),
      }),
    );
  });
  t.same(await stage.leases(), []);
});

function isSettled(deployment: JsonObject): boolean {
  const revision = at(deployment, 'metadata', 'annotations', 'deployment.kubernetes.io/revision');
  return revision !== undefined && isList(at(deployment, 'status', 'conditions'));
}

function imageOf(deployment: JsonObject): unknown {
  const containers = at(deployment, 'spec', 'template', 'spec', 'containers');
  return isList(containers) ? textAt(containers[0], 'image') : undefined;
}

const writer = 'busy-writer';

/** ms; busier than any controller, and with room for a write of another client now and then. */
const pause = 100;

/** Writes status, one write after the other, until the test ends. */
function keepWriting(t: Test, { client }: Stage, path: string): void {
  let isOn = true;
  let count = 0;
  const written = (async () => {
    for (; isOn; count += 1) {
      const condition = { type: 'Busy', status: 'True', reason: `Write${count}`, message: `write ${count}` };
      await client.patch(`${path}/status`, { status: { conditions: [condition] } }, 'strategic', { fieldManager: writer });
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  })();
  t.teardown(async () => {
    isOn = false;
    await written;
  });
}

/** The writer's own entry may stay: it never owned anything but status. */
function withoutWriter(shown: unknown): unknown {
  const object = shown as JsonObject;
  const entries = at(object, 'managedFields') as readonly string[];
  return withPath(
    object,
    ['managedFields'],
    entries.filter((entry) => !entry.includes(`"manager":"${writer}"`)),
  );
}
