// Gates on the real API server: which objects a gate waits for, how long, and what follows. The status of the objects is written by the test.
import t from 'tap';
import { at, isObject, type Json, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { createInventory } from '../../../server/telemetry/inventory.ts';
import { openCluster } from '../../server/kubernetes/real.ts';
import { must, waitFor } from '../../support/client.ts';
import { type Gadgets, serveGadgets } from '../../support/gadgets.ts';
import { engineNamespace } from '../../support/install.ts';
import { itemsOf, portrait } from '../../support/round-trip.ts';
import { type Stage, startStage, statusOf } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil, storeStatus } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const data = { data: { a: 'b' } };

/** Threads that this process, which is the hook too, has started. */
let threads = 0;
process.on('worker', () => {
  threads += 1;
});

function condition(status: JsonObject, type: string): JsonObject {
  const found = (at(status, 'conditions') as readonly Json[]).find((one) => textAt(one, 'type') === type);
  return isObject(found) ? found : {};
}

async function isThere({ client, path }: Stage, name: string): Promise<boolean> {
  return (await client.get(path(`configmaps/${name}`))).code === 200;
}

interface Place {
  readonly stage: Stage;
  readonly gadgets: Gadgets;
}

/** A gadget with a gate, and a ConfigMap behind it, up to the first look that finds it not ready. */
async function begin({ stage, gadgets }: Place, name: string, gate: JsonObject, spec: JsonObject = {}): Promise<JsonObject> {
  await stage.transaction(name, [gadgets.change('Create', name, gate), change('Create', name, data)], { spec });
  await stepUntil(stage, name, 'Committing');
  return (await step(stage, name)).status;
}

t.test('the engine waits for a gate after a change', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const gadgets = await serveGadgets(t, stage);
  const place = { stage, gadgets };

  await t.test('the engine announces no later change before the object is ready', async (t) => {
    const status = await begin(place, 'ordered', {});
    t.match(itemsOf(status), [
      { state: 'Applied', gate: { since: String } },
      { state: 'Prepared', announced: undefined },
    ]);
    for (const type of ['Ready', 'Reconciling'])
      t.match(condition(status, type), { reason: 'WaitingForGate', message: /Gadget\S* \S+\/ordered/ });
    t.match(status, { current: /^Gadget\S* ordered$/ });
    t.notOk(await isThere(stage, 'ordered'));
    await gadgets.report('ordered', 'False');
    t.match(itemsOf((await step(stage, 'ordered')).status)[0], { gate: { found: /Ready is False/ } });
    const before = statusOf(await stage.read('ordered'));
    t.equal((await step(stage, 'ordered')).status.version, before.version, 'an equal look writes nothing');
    await gadgets.report('ordered', 'True');
    t.match(itemsOf((await step(stage, 'ordered')).status), [
      { gate: { passed: true, found: /Ready is True/ } },
      { announced: true },
    ]);
    t.match(await stepToEnd(stage, 'ordered'), { phase: 'Committed' });
    t.ok(await isThere(stage, 'ordered'));
  });

  await t.test('the wait does not count as age, for any spec.timeout', async (t) => {
    const status = await begin(place, 'long', { timeout: '3h' }, { timeout: '150m' });
    const [started, until] = [textAt(status, 'startTime') ?? '', textAt(status, 'waitingUntil') ?? ''];
    t.equal(Date.parse(until) - Date.parse(started), 150 * 60_000, 'spec.timeout ends it before its own timeout');
    const longAgo = (one: Json): Json =>
      textAt(one, 'type') === 'Reconciling' ? { ...(one as JsonObject), lastTransitionTime: '2020-01-01T00:00:00Z' } : one;
    const conditions = (at(status, 'conditions') as readonly Json[]).map(longAgo);
    await storeStatus(stage, 'long', { status: { ...status, conditions } });
    const cluster = openCluster();
    t.teardown(() => cluster.close());
    const inventory = createInventory(cluster.transport, { engineNamespace, namespaces: [stage.namespace] });
    const found = await inventory.transactions();
    t.same([...(found?.waiting ?? [])], [textAt(await stage.read('long'), 'metadata', 'uid')]);
    t.same(found?.byPhase.get('Committing'), { count: 1, oldest: 0 });
    await stage.annotate('long', { 'tx.janus.io/request-rollback': 'now' });
    t.match(await step(stage, 'long'), { phase: 'RollingBack', status: { waitingUntil: undefined } });
    t.ok(((await inventory.transactions())?.byPhase.get('RollingBack')?.oldest ?? 0) > 86_400, 'what no gate holds up is old');
    await stepToEnd(stage, 'long');
  });

  await t.test('the engine undoes a change whose check fails, and names the expected and the found value', async (t) => {
    const failed = { condition: { type: 'Ready', status: 'False' } };
    await begin(place, 'broken', { failed });
    await gadgets.report('broken', 'False');
    const { phase, status } = await stepToEnd(stage, 'broken');
    t.equal(phase, 'RolledBack');
    t.match(condition(status, 'Succeeded'), {
      status: 'False',
      reason: 'GateFailed',
      message: /expected .*Ready.*found .*Reported.*since 20/,
    });
    t.match(itemsOf(status)[0], { error: { reason: 'GateFailed' } });
    t.equal((await stage.client.get(gadgets.path('broken'))).code, 404);
    t.notOk(await isThere(stage, 'broken'));
  });

  await t.test('the engine undoes a Patch exactly after the time of its gate is over', async (t) => {
    const create = gadgets.change('Create', 'late');
    const { content, target } = create as { content: JsonObject; target: JsonObject };
    const body = { ...content, apiVersion: target.apiVersion ?? '', kind: 'Gadget', metadata: { name: 'late' } };
    must(await stage.client.create(gadgets.path('').slice(0, -1), body, { fieldManager: 'kubectl-create' }));
    await gadgets.report('late', 'False');
    const before = await portrait(stage, gadgets.path('late'));
    await stage.transaction('late', [gadgets.change('Patch', 'late', { timeout: '1s' }, 2)]);
    const { phase, status } = await waitFor(async () => {
      const now = await step(stage, 'late');
      return now.phase === 'RolledBack' && now;
    }, 'the gate to be late');
    t.equal(phase, 'RolledBack');
    t.match(condition(status, 'Succeeded'), { reason: 'GateTimeout', message: /did not become ready within 1s/ });
    t.same(await portrait(stage, gadgets.path('late')), before);
  });

  await t.test('a request takes effect at once during the wait', async (t) => {
    await begin(place, 'asked', {});
    await stage.annotate('asked', { 'tx.janus.io/request-rollback': 'now' });
    t.match(await step(stage, 'asked'), { phase: 'RollingBack' });
    t.match(await stepToEnd(stage, 'asked'), { phase: 'RolledBack' });
  });

  await t.test('the message names the awaited object when spec.timeout ends the wait', async (t) => {
    await begin(place, 'over', {}, { timeout: '2s' });
    await gadgets.report('over', 'False');
    const { status } = await waitFor(async () => {
      const now = await step(stage, 'over');
      return now.phase === 'RolledBack' && now;
    }, 'spec.timeout');
    t.match(condition(status, 'Succeeded'), { reason: 'Timeout', message: /spec.timeout.*Gadget\S* \S+\/over .*found/ });
  });

  for (const [name, reason, act] of [
    ['gone', 'Gone', async () => must(await stage.client.delete(gadgets.path('gone')))],
    [
      'leaving',
      'Terminating',
      async () => {
        must(await stage.client.patch(gadgets.path('leaving'), { metadata: { finalizers: ['example.org/slow'] } }));
        must(await stage.client.delete(gadgets.path('leaving')));
      },
    ],
  ] as const)
    await t.test(`an object that is ${name} will not become ready`, async (t) => {
      await begin(place, name, {});
      await act();
      const { status } = await step(stage, name);
      t.match(condition(status, 'Succeeded'), { status: 'False', reason });
      await stage.client.patch(gadgets.path(name), { metadata: { finalizers: null } });
      t.match(await stepToEnd(stage, name), { phase: 'RolledBack' });
    });

  await t.test('stableFor starts again when the object is not ready once', async (t) => {
    await begin(place, 'flapping', { stableFor: '2s', timeout: '5m' });
    await gadgets.report('flapping', 'True');
    const first = itemsOf((await step(stage, 'flapping')).status)[0];
    t.match(first, { gate: { readySince: String, passed: undefined } });
    await gadgets.report('flapping', 'False');
    t.match(itemsOf((await step(stage, 'flapping')).status)[0], { gate: { readySince: undefined } });
    await gadgets.report('flapping', 'True');
    const passed = await waitFor(async () => {
      const item = itemsOf((await step(stage, 'flapping')).status)[0];
      return at(item, 'gate', 'passed') === true && item;
    }, 'stableFor to be over');
    t.ok(Date.parse(textAt(passed, 'gate', 'readySince') ?? '') >= Date.parse(textAt(first, 'gate', 'readySince') ?? ''));
    t.match(await stepToEnd(stage, 'flapping'), { phase: 'Committed' });
  });

  await t.test('the gate of a Delete waits until the object is gone', async (t) => {
    await begin(place, 'kept', { at: 'Never' });
    await stepToEnd(stage, 'kept');
    must(await stage.client.patch(gadgets.path('kept'), { metadata: { finalizers: ['example.org/slow'] } }));
    await stage.transaction('drop', [gadgets.change('Delete', 'kept', {}), change('Create', 'after-drop', data)]);
    await stepUntil(stage, 'drop', 'Committing');
    await step(stage, 'drop');
    t.notOk(await isThere(stage, 'after-drop'));
    must(await stage.client.patch(gadgets.path('kept'), { metadata: { finalizers: null } }));
    t.match(await stepToEnd(stage, 'drop'), { phase: 'Committed' });
    t.ok(await isThere(stage, 'after-drop'));
  });
});

t.test('the engine evaluates gates at the end', async (t) => {
  const stage = await startStage(t);
  const gadgets = await serveGadgets(t, stage);

  await t.test('spec.gate makes the engine wait for all objects at once', async (t) => {
    const changes = [gadgets.change('Create', 'one'), change('Create', 'config', data), gadgets.change('Create', 'two')];
    await stage.transaction('whole', changes, { spec: { gate: { timeout: '5m' } } });
    const open = (index: number, found: RegExp) => () =>
      stage.read('whole').then((object) => found.test(textAt(itemsOf(statusOf(object))[index], 'gate', 'found') ?? ''));
    await waitFor(open(2, /./), 'the gate of the last change');
    await gadgets.report('one', 'True');
    await waitFor(open(0, /is True/), 'the first to be seen');
    t.match(statusOf(await stage.read('whole')), { phase: 'Committing' });
    await gadgets.report('one', 'False');
    await gadgets.report('two', 'True');
    await waitFor(open(2, /is True/), 'the last to be seen');
    t.match(statusOf(await stage.read('whole')), { phase: 'Committing' }, 'the first is not ready any more');
    await gadgets.report('one', 'True');
    t.match(await stage.finished('whole'), { phase: 'Committed' });
  });

  await t.test('the engine evaluates a gate again that has passed before', async (t) => {
    await stage.transaction('again', [gadgets.change('Create', 'early', {}), gadgets.change('Create', 'end', { at: 'AtEnd' })]);
    const says = (index: number, found: RegExp): Promise<unknown> =>
      waitFor(
        async () => found.test(textAt(itemsOf(statusOf(await stage.read('again')))[index], 'gate', 'found') ?? ''),
        `gate ${index} to say ${found}`,
      );
    await says(0, /./);
    await gadgets.report('early', 'True');
    await says(1, /./);
    await gadgets.report('early', 'False');
    await gadgets.report('end', 'True');
    await says(1, /is True/);
    t.match(statusOf(await stage.read('again')), { phase: 'Committing' });
    await gadgets.report('early', 'True');
    t.match(await stage.finished('again'), { phase: 'Committed' });
  });

  await t.test('a Transaction without an object to wait for is Committed at once', async (t) => {
    await stage.transaction('plain', [change('Create', 'plain', data)], { spec: { gate: {} } });
    t.match(await stage.finished('plain'), { phase: 'Committed', items: [{ gate: { passed: true } }] });
  });

  await t.test('the engine omits a change whose gate is Never', async (t) => {
    await stage.transaction('never', [gadgets.change('Create', 'ignored', { at: 'Never' })], { spec: { gate: {} } });
    const status = await stage.finished('never');
    t.match(status, { phase: 'Committed', items: [{ gate: undefined }] });
  });

  await t.test('the first expression starts the thread of expressions, other gates do not', async (t) => {
    t.equal(threads, 0);
    const ready = { expression: 'object.data.a == "b"' };
    await stage.transaction('cel', [{ ...change('Create', 'cel', data), gate: { ready } }]);
    t.match(await stage.finished('cel'), { phase: 'Committed', items: [{ gate: { passed: true } }] });
    t.equal(threads, 1);
  });
});
