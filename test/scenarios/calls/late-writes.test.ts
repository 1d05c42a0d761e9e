// A write that lands late: it was sent, its caller is gone, and an admission webhook kept it waiting until the undo had begun.
// No trace of it may be left, and it may not destroy the work of another writer.
import t, { type Test } from 'tap';
import type { Answer, Cluster } from '../../../hooks/objects/cluster.ts';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { serverTimeResolution } from '../../../hooks/objects/time.ts';
import { must, waitFor } from '../../support/client.ts';
import { type Engines, openEngines } from '../../support/engine.ts';
import { type HeldWrite, type SlowAdmission, startSlowAdmission } from '../../support/slow-admission.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const green = { data: { color: 'green', size: 'large' } };

/** The first and the second engine know nothing of each other, as after a crash. */
interface Late {
  readonly first: Stage;
  readonly second: Stage;
  readonly admission: SlowAdmission;
  /** Version of the object; undefined while it is not there. */
  readonly version: (name: string) => Promise<string | undefined>;
  readonly show: (name: string) => Promise<unknown>;
}

async function setUp(t: Test): Promise<Late> {
  const stage = await startStage(t, { withoutLoop: true });
  const engines: Engines = await openEngines(t, stage, { stepDeadline: 6_000, writeTimeout: 14_000 });
  const admission = await startSlowAdmission(stage, t);
  return {
    first: engines.start(),
    second: engines.start(),
    admission,
    version: async (name) =>
      textAt((await stage.client.get(stage.path(`configmaps/${name}`))).body, 'metadata', 'resourceVersion'),
    show: async (name) => (await portraits(stage.client, [stage.path(`configmaps/${name}`)], true))[0],
  };
}

t.test('the engine undoes a change whose write lands late', async (t) => {
  const late = await setUp(t);
  t.jobs = 4;
  await Promise.all(['Update', 'Patch', 'Delete'].map((type) => t.test(type, (t) => showItMisses(t, late, type))));
});

/** What names a version is made to miss: the undo waits for nothing, whoever makes it. */
async function showItMisses(t: Test, { first, second, admission, version, show }: Late, type: string): Promise<void> {
  const name = `late-${type.toLowerCase()}`;
  await createConfigMaps(first, [name]);
  const before = { object: await show(name), version: await version(name) };
  await first.transaction(name, [change(type, name, type === 'Delete' ? undefined : green)]);
  await stepUntil(first, name, 'Prepared');

  const held = admission.hold(name);
  const lost = first.call(name);
  await held.arrived;
  await second.annotate(name, { 'tx.janus.io/request-rollback': 'yes' });
  await stepUntil(second, name, 'RollingBack');
  t.equal(await version(name), before.version, 'nothing has landed yet');
  t.match((await stepToEnd(second, name)).status, { phase: 'RolledBack' });
  const undone = await version(name);
  t.not(undone, before.version, 'the undo has moved the version');
  t.same(await show(name), before.object, 'and nothing else');

  held.release();
  await lost;
  t.equal(await version(name), undone, 'it has missed');
  t.same(await show(name), before.object);
}

/** How the answer of one change of a window is lost, and who goes on. */
const lostInWindows = [
  { type: 'Patch', goesOn: 'this process', isUndone: false },
  { type: 'Update', goesOn: 'another', isUndone: false },
  { type: 'Create', goesOn: 'another', isUndone: false },
  { type: 'Delete', goesOn: 'this process', isUndone: false },
  { type: 'Patch', goesOn: 'another', isUndone: true },
  { type: 'Delete', goesOn: 'this process', isUndone: true },
] as const;

t.test('the engine undoes a window in which one write lands late', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const limits = { stepDeadline: 20_000, writeTimeout: 30_000, callBudget: 10_000, readAge: 1_000 };
  const engines = await openEngines(t, stage, limits);
  const admission = await startSlowAdmission(stage, t);
  t.jobs = lostInWindows.length;
  await Promise.all(
    lostInWindows.map((row, index) =>
      t.test(`${row.type}, ${row.goesOn} ${row.isUndone ? 'undoes it' : 'goes on'}`, (t) =>
        showItIsMadeOnce(t, { stage, engines, admission, name: `window-${index}` }, row),
      ),
    ),
  );
});

interface Windowed {
  readonly stage: Stage;
  readonly engines: Engines;
  readonly admission: SlowAdmission;
  readonly name: string;
}

async function showItIsMadeOnce(
  t: Test,
  { stage, engines, admission, name }: Windowed,
  { type, goesOn, isUndone }: (typeof lostInWindows)[number],
): Promise<void> {
  const targets = Array.from({ length: 5 }, (_, index) => `${name}-${index}`);
  const middle = `${name}-2`;
  const given = type === 'Create' ? targets.filter((target) => target !== middle) : targets;
  await createConfigMaps(stage, given);
  const paths = targets.map((target) => stage.path(`configmaps/${target}`));
  const look = () => portraits(stage.client, paths, true);
  const versions = () => versionsOf(stage, paths);
  const before = await look();
  const changes = targets.map((target) => change('Patch', target, green));
  await stage.transaction(name, changes.with(2, change(type, middle, madeBy(type))));
  const late: Promise<Answer>[] = [];
  const held = admission.hold(middle);
  const first = engines.start({ wrap: (cluster) => givingUp(cluster, middle, { held, late }) });
  await stepUntil(first, name, 'Prepared');
  t.match((await first.call(name)).body, { status: { progress: '2/5' } }, 'this answer is lost as well');
  const made = await versions();

  if (isUndone) await stage.annotate(name, { 'tx.janus.io/request-rollback': 'yes' });
  const next = goesOn === 'another' ? engines.start() : first;
  t.equal((await stepToEnd(next, name)).phase, isUndone ? 'RolledBack' : 'Committed');
  const after = await versions();
  if (!isUndone) t.same(after.slice(0, 2), made.slice(0, 2), 'what was made is not made again');
  held.release();
  t.match(await Promise.all(late), [{ kind: 'failed' }], 'it has missed');
  t.same(await versions(), after);
  const left = await look();
  if (isUndone) t.same(left, before);
  else t.match(left[2], madeBy(type));
}

/** The object once it is changed; undefined once it is deleted. */
function madeBy(type: string): JsonObject | undefined {
  return type === 'Delete' ? undefined : green;
}

function versionsOf({ client }: Stage, paths: readonly string[]): Promise<readonly (string | undefined)[]> {
  return Promise.all(paths.map(async (path) => textAt((await client.get(path)).body, 'metadata', 'resourceVersion')));
}

/** The first write to that object is sent, and held; who sent it does not wait for the answer. */
function givingUp(
  cluster: Cluster,
  target: string,
  { held, late }: { readonly held: HeldWrite; readonly late: Promise<Answer>[] },
): Cluster {
  const failure = { kind: 'transient', code: 0, reason: 'Timeout', message: 'no answer', fields: [], definitive: false } as const;
  return {
    ...cluster,
    send: async (write, isLate) => {
      const isHeld = write.identity.kind === 'serviceAccount' && write.location.name === target && late.length === 0;
      if (!isHeld) return cluster.send(write, isLate);
      late.push(cluster.send(write, isLate));
      await held.arrived;
      return { kind: 'failed', failure };
    },
  };
}

t.test('an engine that fences an object and dies hides no conflict', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage);
  const path = stage.path('configmaps/fenced');
  await createConfigMaps(stage, ['fenced']);
  await stage.transaction('fenced', [change('Patch', 'fenced', green)]);
  const first = engines.start();
  await stepUntil(first, 'fenced', 'Prepared');
  await first.call('fenced');
  t.match(must(await stage.client.get(path)), green, 'the API server created it, and no answer arrived');
  must(await stage.client.patch(path, { data: { color: 'red' } }, 'merge', { fieldManager: 'their-tool' }));
  await stage.annotate('fenced', { 'tx.janus.io/request-rollback': 'yes' });
  let writes = 0;
  const dying = engines.start({
    wrap: (cluster) => ({
      ...cluster,
      send: async (write, isLate) => {
        if (write.identity.kind === 'serviceAccount' && writes > 0) throw new Error('it died');
        if (write.identity.kind === 'serviceAccount') writes += 1;
        return cluster.send(write, isLate);
      },
    }),
    record: () => undefined,
  });
  await stepUntil(dying, 'fenced', 'RollingBack');
  while (writes === 0) await step(dying, 'fenced');
  t.match(JSON.stringify(must(await stage.client.get(path))), /janus-restore-fenced/, 'the mark is there');
  const { status } = await stepToEnd(engines.start(), 'fenced');
  t.match(status, { phase: 'Failed', items: [{ left: true, error: { reason: 'RollbackConflict', message: /by their-tool/ } }] });
  const left = must(await stage.client.get(path));
  t.match(left, { data: { color: 'red', size: 'large' } });
  t.notMatch(JSON.stringify(left), /janus-restore/, 'the mark is not');
});

t.test('a fence that lands after the window leaves no mark', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const timing = { stepDeadline: 6_000, writeTimeout: 14_000 };
  const engines = await openEngines(t, stage, timing);
  const admission = await startSlowAdmission(stage, t);
  await createConfigMaps(stage, ['late-fence']);
  const paths = [stage.path('configmaps/late-fence')];
  const before = await portraits(stage.client, paths, true);
  await stage.transaction('late-fence', [change('Patch', 'late-fence', green)]);
  const dying = engines.start({
    wrap: (cluster) => ({
      ...cluster,
      send: async (write, isLate) => {
        if (write.identity.kind === 'serviceAccount') throw new Error('it died');
        return cluster.send(write, isLate);
      },
    }),
    record: () => undefined,
  });
  await stepUntil(dying, 'late-fence', 'Prepared');
  await dying.call('late-fence');
  await stage.annotate('late-fence', { 'tx.janus.io/request-rollback': 'yes' });
  const late: Promise<Answer>[] = [];
  const held = admission.hold('late-fence');
  const undoing = engines.start({ wrap: (cluster) => givingUp(cluster, 'late-fence', { held, late }) });
  const observed = async (): Promise<string | undefined> => {
    await step(undoing, 'late-fence');
    return textAt(await stage.read('late-fence'), 'status', 'rollbackObservedAt');
  };
  const begin = Date.parse(await waitFor(observed, 'the window to begin'));
  const end = begin + timing.stepDeadline + timing.writeTimeout + serverTimeResolution;
  await waitFor(() => Date.now() > end - 3_000, 'the window to be nearly over');
  const isUnderWay = async (): Promise<boolean> => {
    await step(undoing, 'late-fence');
    return late.length === 1;
  };
  t.ok(await waitFor(isUnderWay, 'the fence to be under way'));
  await waitFor(() => Date.now() > end + 1_000, 'the window to be over');
  t.match((await stepToEnd(undoing, 'late-fence')).status, { phase: 'RolledBack' });
  held.release();
  t.match(await Promise.all(late), [{ kind: 'failed', failure: { kind: 'stale' } }], 'it has missed');
  t.same(await portraits(stage.client, paths, true), before, 'no trace of the engine is left');
});

t.test('the engine undoes a Create that lands after the undo has begun', async (t) => {
  const { first, second, admission, version } = await setUp(t);
  await first.transaction('created', [change('Create', 'created', green)]);
  await stepUntil(first, 'created', 'Prepared');
  const held = admission.hold('created');
  const lost = first.call('created');
  await held.arrived;
  await second.annotate('created', { 'tx.janus.io/request-rollback': 'yes' });
  await stepUntil(second, 'created', 'RollingBack');
  const isWaiting = {
    phase: 'RollingBack',
    message: /^waiting until .*: a write to ConfigMap .*created may still be in flight$/,
  };
  await step(second, 'created');
  t.match((await step(second, 'created')).status, isWaiting);
  t.equal(await version('created'), undefined, 'nothing has landed yet');

  held.release();
  await lost;
  t.not(await version('created'), undefined, 'it has landed');
  t.not(textAt(await second.read('created'), 'status', 'phase'), 'RolledBack', 'while the undo is under way');
  t.match((await stepToEnd(second, 'created')).status, { phase: 'RolledBack' });
  t.equal(await version('created'), undefined, 'nothing of it is left');
});

t.test('a replica undoes a change whose late write another replica has sent', async (t) => {
  const { first, second, admission, version, show } = await setUp(t);
  await createConfigMaps(first, ['replicas']);
  const before = await show('replicas');
  await first.transaction('replicas', [change('Patch', 'replicas', green)]);
  await stepUntil(second, 'replicas', 'Prepared');
  const held = admission.hold('replicas');
  const lost = first.call('replicas');
  await held.arrived;
  await second.annotate('replicas', { 'tx.janus.io/request-rollback': 'yes' });
  t.match((await stepToEnd(second, 'replicas')).status, { phase: 'RolledBack' });
  const undone = await version('replicas');
  held.release();
  await lost;
  t.equal(await version('replicas'), undone, 'it has missed');
  t.same(await show('replicas'), before, 'nothing of it is left');
});

t.test('the API server gives up on a write', async (t) => {
  const { first, admission, version } = await setUp(t);

  await t.test('the engine retries the write, because it had no effect', async (t) => {
    await createConfigMaps(first, ['abandoned']);
    await first.transaction('abandoned', [change('Patch', 'abandoned', green)]);
    await stepUntil(first, 'abandoned', 'Prepared');
    const before = await version('abandoned');
    const held = admission.hold('abandoned');
    const tried = await step(first, 'abandoned');
    t.match(tried, { phase: 'Prepared', status: { message: /^waiting: Patch of ConfigMap .* failed \(/ } });
    await held.abandoned;
    held.release();
    t.equal(await version('abandoned'), before);
    t.match((await stepToEnd(first, 'abandoned')).status, { phase: 'Committed' });
  });
});

t.test('a write of an undo lands late and destroys nothing', async (t) => {
  const { first, second, admission, show } = await setUp(t);

  await t.test('the late write changes nothing after another engine has finished the undo and a user has gone on', async (t) => {
    await createConfigMaps(first, ['undone']);
    const before = await show('undone');
    await first.transaction('undone', [change('Patch', 'undone', green)]);
    await stepToEnd(first, 'undone');
    await first.annotate('undone', { 'tx.janus.io/request-rollback': 'yes' });
    await stepUntil(first, 'undone', 'RollingBack');
    const held: HeldWrite = admission.hold('undone');
    const lost = first.call('undone');
    await held.arrived;
    t.match((await stepToEnd(second, 'undone')).status, { phase: 'RolledBack' });
    t.same(await show('undone'), before);
    must(await first.client.patch(first.path('configmaps/undone'), { data: { theirs: 'yes' } }));
    held.release();
    await lost;
    await waitFor(async () => (await show('undone')) !== undefined, 'the object to be read');
    t.match(await show('undone'), { data: { color: 'blue', applied: 'yes', theirs: 'yes' } }, 'theirs is not lost to it');
    t.notMatch(JSON.stringify(await show('undone')), /janus/, 'no trace of the engine is left');
  });
});
