// Two processes of the hook behind one address, with the shipped settings: calls go to one and the other strictly in turn, and one of them
// stops for a while. What a process that dies, or sends late, leaves is in recovery.test.ts.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { startInTurn } from '../support/in-turn.ts';
import { definitionPath, lockPath, packagePath, stagesPath } from '../support/package-paths.ts';
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

async function publish(name: string, minor = 0): Promise<string> {
  const tag = `v1.${minor}.0`;
  const plurals = ['ones', 'twos', ...(minor > 0 ? ['threes'] : [])];
  const schema = { type: 'object', properties: minor > 0 ? { more: { type: 'string' } } : {} };
  const objects = plurals.map((plural) => definitionOf(plural, `${name}.org`, schema));
  await world.publish({ name, tag, objects });
  const ptx = minor > 0 ? `${name}-${minor}` : name;
  await world.install(ptx, `${source(name)}:${tag}`, { packageName: name });
  return ptx;
}

/** Finished and installed; a status that is written for ever has a version that says so. */
async function installed(t: Test, name: string, plural = `twos.${name}.org`): Promise<JsonObject> {
  const status = await world.finished(name);
  t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
  t.equal(at(status, 'failures') ?? 0, 0);
  t.ok(Number(at(status, 'version')) < 30, `${at(status, 'version')} versions of the status`);
  t.equal((await client.get(definitionPath(plural))).code, 200);
  return status;
}

t.test('two processes that serve calls in turn finish an install', async (t) => {
  await publish('turns');
  await installed(t, 'turns');
});

const changes = [
  { what: 'an install', minor: 0, plural: 'twos.stops.org' },
  { what: 'an update', minor: 1, plural: 'threes.stops.org' },
];
for (const { what, minor, plural } of changes)
  t.test(`a process that stops in the middle of ${what}, and goes on after the end, changes nothing`, async (t) => {
    const ptx = await publish('stops', minor);
    const phase = async (): Promise<string> => textAt(statusOf(await world.read(ptx)), 'phase') ?? '';
    await waitFor(async () => (await phase()) === 'Installing', 'stages to be made', { everyMs: 5 });
    second.process.kill('SIGSTOP');
    const frozen = performance.now();
    const status = await installed(t, ptx, plural);
    const all = async (): Promise<readonly unknown[]> => {
      const found = await Promise.all(
        [stagesPath, packagePath('providerrevisions'), definitionPath()].map(async (path) => (await client.list(path)).items),
      );
      const objects = found.flat().map((one) => [textAt(one, 'metadata', 'uid'), at(one, 'metadata', 'generation')]);
      return [objects, at(must(await client.get(lockPath)), 'packages')];
    };
    const before = await all();
    // A replica that is frozen for a minute has answers of all its requests behind it.
    await waitFor(async () => performance.now() - frozen >= share(0, 60_000), 'the freeze to last', { timeoutMs: 90_000 });
    second.process.kill('SIGCONT');
    await waitFor(async () => (await fetch(`${second.url}/healthz`)).ok, 'it to answer all that it was asked');
    t.same(await all(), before);
    t.same(at(await world.read(ptx), 'status', 'completionTime'), at(status, 'completionTime'));
    await installed(t, await publish(`after-${minor}`));
  });
