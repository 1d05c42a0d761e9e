// Many package transactions at once: the order in which they take the Lock, and what the deletion of finished ones costs. Requests are
// counted, since time depends on the machine.
import t from 'tap';
import { at, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { createDriver } from '../support/package-driver.ts';
import { definitionPath, lockPath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { share } from '../support/selection.ts';

t.setTimeout(1_800_000);

const world = await startPackageWorld(t, { isByHand: true });
const { client, source } = world;
const driver = createDriver(t, world);
await world.publish({ name: 'one', tag: 'v1.0.0', objects: [definitionOf('ones', 'crowd.example.org')] });
await world.publish({ name: 'two', tag: 'v1.0.0', objects: [definitionOf('twos', 'crowd.example.org')] });

const install = (name: string, of = 'one'): Promise<JsonObject> =>
  world.install(name, `${source(of)}:v1.0.0`, { packageName: of });
const names = async (): Promise<readonly string[]> =>
  (await client.list(ptxPath())).items.map((one) => textAt(one, 'metadata', 'name') ?? '');
const read = async (name: string): Promise<JsonObject> => must(await client.get(ptxPath(name)));
const phaseOf = async (name: string): Promise<string> => textAt(statusOf(await read(name)), 'phase') ?? '';
const heldBy = async (): Promise<string> =>
  textAt(must(await client.get(lockPath)), 'metadata', 'annotations', 'pkg.crossplane.io/current-transaction') ?? '';

/** Calls about the package transaction until its condition Validated has this reason and message. */
async function stepUntil(name: string, reason: string, message: RegExp): Promise<void> {
  const isSo = async (): Promise<boolean> => {
    const found = conditionIn(statusOf(await driver.step(name)), 'Validated');
    if (found?.reason === reason && message.test(found.message ?? '')) return true;
    throw new Error(JSON.stringify(found));
  };
  await waitFor(isSo, `${name} to be ${reason}`, { timeoutMs: 120_000 });
}

async function setStatus(name: string, changes: JsonObject): Promise<void> {
  const found = await read(name);
  const version = Number(at(found, 'status', 'version') ?? 0) + 1;
  must(await client.update(`${ptxPath(name)}/status`, { ...found, status: { ...statusOf(found), ...changes, version } }));
}

async function untilHeld(name: string): Promise<void> {
  const isHeld = async (): Promise<boolean> => {
    await driver.step(name);
    return (await heldBy()) === name;
  };
  await waitFor(isHeld, `${name} to hold the Lock`, { timeoutMs: 120_000 });
}

/** Calls until it has ended. The driver would let time pass until its stages go, and nobody waits so long for the first in the queue. */
async function finish(name: string): Promise<void> {
  const isOver = async (): Promise<boolean> => {
    const status = statusOf(await driver.step(name));
    if (status.phase === 'Succeeded') return true;
    throw new Error(JSON.stringify(status));
  };
  await waitFor(isOver, `${name} to succeed`, { timeoutMs: 300_000 });
}

t.test('the Lock is a queue: the lowest number goes first, then the oldest', async (t) => {
  await install('holder');
  await untilHeld('holder');
  await install('a');
  await stepUntil('a', 'WaitingForLock', /^Waiting for package transaction holder, which holds the Lock$/);
  for (const name of ['b', 'c', 'tried']) {
    await install(name);
    await stepUntil(name, 'WaitingForLock', /^Waiting for the Lock$/);
  }
  // It has a number, since it took the Lock for an earlier try.
  await setStatus('tried', { transactionNumber: 1, failures: 1, retryTime: '2026-01-01T00:00:00Z' });
  await finish('holder');
  t.equal(await heldBy(), '');
  await stepUntil('a', 'WaitingForLock', /^Waiting for package transaction tried, which takes the Lock first$/);
  await stepUntil('c', 'WaitingForLock', /^Waiting for the Lock$/);
  t.equal(await heldBy(), '');
  await untilHeld('tried');
  await finish('tried');
  await stepUntil('b', 'WaitingForLock', /transaction a, /);
  await stepUntil('c', 'WaitingForLock', /^Waiting for the Lock$/);
  await untilHeld('a');
  await finish('a');
});

t.test('one that pauses, or that waits for a registry, keeps nobody from the Lock', async (t) => {
  await setStatus('b', { transactionNumber: 2, retryTime: '2099-01-01T00:00:00Z' });
  await untilHeld('c');
  await finish('c');
  t.equal(await phaseOf('c'), 'Succeeded');
  await setStatus('b', { retryTime: '2026-01-01T00:00:00Z' });
  const conditions = listAt(statusOf(await read('b')), 'conditions').map((one) =>
    textAt(one, 'type') === 'Validated' ? { ...(one as JsonObject), reason: 'Resolving' } : one,
  );
  await setStatus('b', { conditions });
  await install('d');
  await untilHeld('d');
  await finish('d');
  await finish('b');
  t.equal(await phaseOf('b'), 'Succeeded', 'nobody is left behind');
});

const reads = (): readonly string[] => driver.acts.filter(({ kind }) => kind === 'read').map(({ what }) => what);

/** The package transaction is being deleted, and waits for the hook. */
async function leave(name: string): Promise<void> {
  must(await client.patch(ptxPath(name), { metadata: { finalizers: ['test.janus.io/hook'] } }));
  must(await client.delete(ptxPath(name)));
}

t.test('a finished one that owns nothing is let go with one read: itself', async (t) => {
  await world.install('refused', `${source('none')}:v1.0.0`, { packageName: 'none', retryLimit: 1 });
  t.match(await driver.drive('refused'), { phase: 'Failed' });
  const spec = { change: 'Delete', delete: { source: source('none') }, retryLimit: 1 };
  const deletion = { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', metadata: { name: 'deletion' }, spec };
  must(await client.create(ptxPath(), deletion));
  await driver.drive('deletion');
  for (const name of ['refused', 'deletion']) {
    await leave(name);
    await driver.drive(name);
    t.same(reads(), ['get Transaction'], name);
    t.notOk((await names()).includes(name));
  }
});

t.test('one that owns objects gives them to owners that stay', async (t) => {
  await leave('d');
  await driver.drive('d');
  t.notOk((await names()).includes('d'));
  t.equal((await client.get(definitionPath('ones.crowd.example.org'))).code, 200);
});

const many = share(60, 300);

/** Package transactions that have failed, as the hook stores them. */
async function createFinished(count: number): Promise<void> {
  const create = async (index: number): Promise<void> => {
    const name = `old-${index}`;
    await world.install(name, `${source('none')}:v1.0.0`, { packageName: `none-${index}` });
    const outcome = { kind: 'Failed', step: 'Validation', reason: 'MissingDependency', message: 'none', isFinal: true };
    await setStatus(name, { phase: 'Failed', failures: 1, outcome, completionTime: '2026-01-01T00:00:00Z' });
    must(
      await client.patch(ptxPath(name), { metadata: { finalizers: ['metacontroller.io/compositecontroller-janus-packages'] } }),
    );
  };
  for (let from = 0; from < count; from += 10)
    await Promise.all(Array.from({ length: Math.min(10, count - from) }, (_, index) => create(from + index)));
}

/** Requests for lists of the kinds of packages, and of objects that packages install. */
async function lists(): Promise<number> {
  const lines = (await client.get('/metrics')).text
    .split('\n')
    .filter(
      (line) =>
        /^apiserver_request_total\{/.test(line) &&
        /verb="LIST"/.test(line) &&
        /group="(pkg\.crossplane\.io|apiextensions\.k8s\.io|tx\.janus\.io)"/.test(line),
    );
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

t.test(`${many} finished ones beyond the history: a call deletes a few of them`, async (t) => {
  await createFinished(many);
  must(await client.patch(lockPath, { metadata: { annotations: { 'pkg.crossplane.io/transaction-history-limit': '3' } } }));
  await install('last', 'two');
  await driver.drive('last');
  const deleted = driver.acts.map(({ kind, what }) =>
    kind === 'answer' ? 'answer' : what === 'delete Transaction' ? 'delete' : '',
  );
  const perCall = deleted
    .join('')
    .split('answer')
    .map((one) => one.split('delete').length - 1);
  t.ok(Math.max(...perCall) <= 20, `${perCall.filter((one) => one > 0)} deletions in the calls`);
  const terminating = (await client.list(ptxPath())).items.filter(
    (one) => at(one, 'metadata', 'deletionTimestamp') !== undefined,
  );
  t.ok(terminating.length >= many - 3, `${terminating.length} are being deleted`);
});

t.test('an install beside their deletion: no list for any of them', async (t) => {
  const before = await lists();
  await world.startPackageLoop(world.hook.url);
  await install('beside');
  t.equal(conditionIn(await world.finished('beside'), 'Ready')?.status, 'True');
  const areGone = async (): Promise<boolean> => {
    const left = (await names()).filter((name) => name.startsWith('old-'));
    if (left.length <= 3) return true;
    throw new Error(`${left.length} are left`);
  };
  await waitFor(areGone, 'the finished ones to go', { timeoutMs: 300_000 });
  const more = (await lists()) - before;
  t.ok(more < 120, `${more} lists, of the install, its history, and Metacontroller`);
});
