// Two processes of the hook behind one address, with the shipped settings: calls go to one and the other strictly in turn, and one of them
// stops for a while. What a process that dies, or sends late, leaves is in recovery.test.ts.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { startInTurn } from '../support/in-turn.ts';
import { definitionPath, lockPath, stagesPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { share } from '../support/selection.ts';

t.setTimeout(600_000);

const world = await startPackageWorld(t, { isByHand: true });
const { client, source } = world;
const second = await world.startHook();
const patience = 1_000; // ms
const front = await startInTurn(
  () => [world.hook.url, second.url],
  (count, number) => number % count,
  patience,
);
t.teardown(() => front.close());
await world.startPackageLoop(front.address);

async function publish(name: string): Promise<void> {
  await world.publish({ name, tag: 'v1.0.0', objects: ['ones', 'twos'].map((plural) => definitionOf(plural, `${name}.org`)) });
  await world.install(name, `${source(name)}:v1.0.0`, { packageName: name });
}

/** Finished and installed; a status that is written for ever has a version that says so. */
async function installed(t: Test, name: string): Promise<JsonObject> {
  const status = await world.finished(name);
  t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
  t.ok(Number(at(status, 'version')) < 30, `${at(status, 'version')} versions of the status`);
  t.equal((await client.get(definitionPath(`twos.${name}.org`))).code, 200);
  return status;
}

t.test('two processes that serve calls in turn finish an install', async (t) => {
  await publish('turns');
  await installed(t, 'turns');
});

t.test('a process that stops in the middle and goes on after the end changes nothing', async (t) => {
  await publish('stops');
  const phase = async (): Promise<string> => textAt(statusOf(await world.read('stops')), 'phase') ?? '';
  await waitFor(async () => (await phase()) === 'Installing', 'stages to be made', { everyMs: 5 });
  second.process.kill('SIGSTOP');
  const frozen = performance.now();
  const status = await installed(t, 'stops');
  const all = async (): Promise<readonly unknown[]> => {
    const stages = (await client.list(stagesPath)).items.map(({ metadata }) => [
      textAt(metadata, 'name'),
      textAt(metadata, 'uid'),
    ]);
    return [stages, at(must(await client.get(lockPath)), 'packages')];
  };
  const before = await all();
  // A replica that is frozen for a minute has answers of all its requests behind it.
  await waitFor(async () => performance.now() - frozen >= share(0, 60_000), 'the freeze to last', { timeoutMs: 90_000 });
  second.process.kill('SIGCONT');
  await waitFor(async () => (await fetch(`${second.url}/healthz`)).ok, 'it to answer all that it was asked');
  t.same(await all(), before);
  t.same(at(await world.read('stops'), 'status', 'completionTime'), at(status, 'completionTime'));
  await publish('after');
  await installed(t, 'after');
});
