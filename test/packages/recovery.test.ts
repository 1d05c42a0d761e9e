// Processes die, answers are lost, a holder is removed, the Lock is edited: the final state is as if nothing had happened. Here each kind of
// request and each kind of answer meets each kind of fault once; `npm run faults -- --packages` tries every single one alone.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import {
  deletion,
  failing,
  failingUpdate,
  install,
  openSite,
  refused,
  type Story,
  update,
  violationsOf,
} from '../faults/packages/stories.ts';
import { must, waitFor } from '../support/client.ts';
import { createDriver } from '../support/package-driver.ts';
import type { Act, Fault, Plan } from '../support/package-faults.ts';
import { definitionPath, lockPath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

// Only a guard: many installs follow one another here.
t.setTimeout(1_200_000);

const site = await openSite(t);
const { world, driver, oracle } = site;
const { client, source } = world;
const plurals = ['ones', 'twos'];

let count = 0;
const freeName = (): string => {
  count += 1;
  return `k${count}`;
};

/** At the first act of each kind in each phase: so one story meets the fault at all of its places, one after the other. */
function atEach(fault: Fault, ...kinds: readonly Act['kind'][]): Plan & { readonly met: ReadonlySet<string> } {
  const met = new Set<string>();
  const plan = ({ kind, what, phase }: Act): Fault | undefined => {
    const place = `${phase}: ${what}`;
    if (!kinds.includes(kind) || met.has(place)) return undefined;
    met.add(place);
    return fault;
  };
  return Object.assign(plan, { met });
}

async function survives(story: Story, fault: Fault, ...kinds: readonly Act['kind'][]): Promise<void> {
  await t.test(`${story.id}: ${fault} at each kind of ${kinds.join(' and ')}`, async (t) => {
    const plan = atEach(fault, ...kinds);
    t.same(await violationsOf(site, story, freeName(), plan), []);
    t.ok(plan.met.size > 0, 'the fault was met');
    t.comment([...plan.met].join(', '));
  });
}

await survives(install, 'dies after', 'write', 'registry');
await survives(install, 'dies before', 'answer');
await survives(install, 'late', 'write');
await survives(update, 'dies after', 'write');
await survives(failingUpdate, 'dropped', 'write');
await survives(refused, '503', 'write');
await survives(deletion, 'dies after', 'write', 'read');

t.test(
  'calls in turn: finished two calls, and at most 2 s, after the Lock is written, also if a process dies then',
  async (t) => {
    const isAnswer = ({ kind, phase }: Act): boolean => kind === 'answer' && phase === 'Verifying';
    for (const dies of [false, true]) {
      const plan: Plan = (act) => (dies && isAnswer(act) && act.what.endsWith('Releasing') && !isDead ? died() : undefined);
      let isDead = false;
      const died = (): Fault => {
        isDead = true;
        return 'dies before';
      };
      t.same(await violationsOf(site, install, freeName(), plan), []);
      t.equal(isDead, dies);
      const written = driver.acts.findIndex(
        ({ kind, what, phase }) => kind === 'write' && phase === 'Verifying' && /Lock/.test(what),
      );
      const done = driver.acts.findIndex(({ what }) => what === 'Releasing -> Succeeded');
      const answers = driver.acts.slice(written, done).filter(({ kind }) => kind === 'answer');
      t.ok(written > 0 && done > written);
      t.equal(answers.length, dies ? 2 : 1, 'then the call that releases the Lock ends it');
      t.ok(answers.reduce((sum, { wait = 0 }) => sum + wait, 0) <= 2, 'and nothing else is waited for');
    }
  },
);

t.test('a process that is frozen before a write, and sends it after the end, changes nothing', async (t) => {
  for (const story of [install, update, failing, deletion]) {
    const plan = atEach('frozen', 'write');
    t.same(await violationsOf(site, story, freeName(), plan), [], story.id);
    const frozen = [...plan.met].filter((place) => place.includes('create Transaction'));
    t.ok(frozen.length > 0, frozen.join(', '));
    t.ok(driver.landed.length >= plan.met.size);
    t.same(
      driver.landed.filter((one) => one.startsWith('create Transaction') && one !== 'create Transaction: exists'),
      [],
      `${story.id}: the names of stages are taken`,
    );
  }
});

t.test('deleted while a process is frozen before it creates the stage that was announced: the stage is never made', async (t) => {
  const name = freeName();
  await install.begin(site, name);
  let deleted: Promise<unknown> | undefined;
  await driver.drive(name, ({ what, phase, kind }) => {
    if (phase !== 'Installing' || kind !== 'write' || what !== 'create Transaction') return undefined;
    if (deleted !== undefined) return 'dies before';
    deleted = client.delete(ptxPath(name));
    return 'frozen';
  });
  t.equal((await client.get(ptxPath(name))).code, 404);
  t.same(driver.landed, ['create Transaction: exists'], 'its name was taken');
  t.same(await oracle.notInstalled(name, plurals), []);
});

t.test('two processes serve every call at once', async (t) => {
  const two = { ...site, driver: createDriver(t, world, { isAtOnce: true }) };
  t.same(await violationsOf(two, install, freeName(), atEach('dies after', 'write')), []);
  t.same(await violationsOf(two, failing, freeName()), []);
});

t.test('the engine installs a package with more objects than one call can read', async (t) => {
  const name = freeName();
  const hasty = createDriver(t, world, { deadline: 1 });
  const many = Array.from({ length: 20 }, (_, index) => `many${index}s`);
  await world.publish({ name, tag: 'v1.0.0', objects: many.map((plural) => definitionOf(plural, `${name}.org`)) });
  await world.install(name, `${source(name)}:v1.0.0`, { packageName: name, retryLimit: 1 });
  t.equal(conditionIn(await hasty.drive(name), 'Ready')?.status, 'True');
  t.same(await oracle.installed(name, many), []);
  const answers = hasty.acts.filter(({ kind }) => kind === 'answer').map(({ what }) => what);
  for (const phase of ['Validating', 'Verifying'])
    t.ok(answers.filter((what) => what === `${phase} -> ${phase}`).length >= 2, `${phase} takes several calls`);
});

/** Calls until the status is so. */
async function reach(name: string, isThere: (status: JsonObject) => boolean): Promise<void> {
  await waitFor(async () => isThere(statusOf(await driver.step(name))), `${name} to get there`, { everyMs: 20 });
}

t.test('the engine rolls back and releases a package transaction that is deleted in any phase', async (t) => {
  const phases = ['Waiting', 'Validating', 'Preparing', 'RollingBack', 'Verifying', 'Releasing'];
  for (const phase of phases) {
    const name = freeName();
    await (phase === 'RollingBack' ? failing : install).begin(site, name);
    if (phase !== 'Waiting') await reach(name, (status) => textAt(status, 'phase') === phase);
    must(await client.delete(ptxPath(name)));
    await driver.drive(name);
    t.equal((await client.get(ptxPath(name))).code, 404, `${phase}: gone`);
    site.refuse();
    // Once the Lock is written it is done.
    if (['Releasing', 'Succeeded'].includes(phase))
      t.ok((await oracle.sources()).includes(source(name)), `${phase}: it was done`);
    else t.same(await oracle.notInstalled(name, plurals), [], phase);
  }
});

t.test('a finished package transaction is deleted when no late request can create a stage', async (t) => {
  const name = freeName();
  await install.begin(site, name);
  await reach(name, (status) => textAt(status, 'phase') === 'Succeeded');
  must(await client.delete(ptxPath(name)));
  t.match(statusOf(await driver.step(name)), { phase: 'Succeeded' });
  t.equal((await client.get(ptxPath(name))).code, 200, 'its stages are young');
  await driver.drive(name);
  t.equal((await client.get(ptxPath(name))).code, 404);
  t.same(await oracle.atRest(), []);
});

t.test('21: a holder that is removed by force is undone before another takes the Lock', async (t) => {
  const [gone, next] = [freeName(), freeName()];
  await install.begin(site, gone);
  await reach(gone, (status) => at(status, 'committed') === 3);
  t.equal((await client.get(definitionPath(`ones.${gone}.org`))).code, 200, 'half of it is there');
  must(await client.delete(ptxPath(gone)));
  must(await client.patch(ptxPath(gone), { metadata: { finalizers: null } }));
  await install.begin(site, next);
  const status = await driver.drive(next);
  t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
  t.equal((await client.get(definitionPath(`ones.${gone}.org`))).code, 404, 'nothing of the former one is installed');
  t.notOk((await oracle.sources()).includes(source(gone)));
  t.same(await oracle.atRest(), [], 'no stage of it is left');
});

t.test('23, d: the engine rolls back if a user edits the held Lock, and keeps the entry of the user', async (t) => {
  const name = freeName();
  await install.begin(site, name);
  await reach(name, (status) => at(status, 'committed') === 2);
  const live = await oracle.lock();
  const theirs = { name: 'theirs-1', source: 'registry.example.org/acme/theirs', version: 'v1.0.0', dependencies: [] };
  must(await client.update(lockPath, { ...live, packages: [...(at(live, 'packages') as readonly JsonObject[]), theirs] }));
  const status = await driver.drive(name);
  t.equal(conditionIn(status, 'Installed')?.status, 'False', JSON.stringify(status));
  t.match(conditionIn(status, 'Installed')?.message, /changed by somebody else/);
  t.ok((await oracle.sources()).includes('registry.example.org/acme/theirs'), 'nothing is overwritten');
  t.same(await oracle.notInstalled(name, plurals), [], 'rolled back');
});

t.test('39: a package transaction ends without the controller manager: nothing relies on the garbage collector', async (t) => {
  await world.plane.halt('kube-controller-manager');
  for (const story of [failing, deletion]) t.same(await violationsOf(site, story, freeName(), () => undefined), [], story.id);
});
