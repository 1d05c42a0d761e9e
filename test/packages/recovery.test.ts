// A process dies before and after each of its writes, and before each of its answers is stored; the next one goes on. What is left is as
// if nothing had happened.
import t, { type Test } from 'tap';
import { at, isList, type JsonObject, textAt } from '../../hooks/model/json.ts';
import { must, waitFor } from '../support/client.ts';
import { startAdmission } from '../support/denying-admission.ts';
import { createDriver, type Death, type Driver } from '../support/package-driver.ts';
import {
  conditionIn,
  definitionPath,
  lockPath,
  packagePath,
  ptxPath,
  stagesPath,
  startPackageWorld,
  statusOf,
} from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

// Only a guard: many installs follow one another here.
t.setTimeout(1_200_000);

const world = await startPackageWorld(t, { isByHand: true });
const { client, source } = world;
const driver = createDriver(t, world);
const account = client.asServiceAccount('janus-packages', 'janus-packages');
const admission = await startAdmission(
  {
    client,
    name: 'packages',
    user: 'system:serviceaccount:janus-packages:janus-packages',
    rule: { apiGroups: ['apiextensions.k8s.io', 'pkg.crossplane.io'], apiVersions: ['*'], resources: ['*'] },
    probe: () => account.create(definitionPath(), definitionOf('probes', 'probe.org') as JsonObject, { dryRun: 'All' }),
  },
  t,
);

const finalizer = { metadata: { finalizers: ['test.janus.io/held'] } };

/** Creates it with a finalizer, as Metacontroller's is: the driver removes it. */
async function install(name: string, retryLimit = 1): Promise<void> {
  await world.publish({
    name,
    tag: 'v1.0.0',
    requires: {},
    objects: [definitionOf('ones', `${name}.org`), definitionOf('twos', `${name}.org`)],
  });
  await world.install(name, `${source(name)}:v1.0.0`, { packageName: name, retryLimit });
  must(await client.patch(ptxPath(name), finalizer));
}

const lock = async (): Promise<JsonObject> => must(await client.get(lockPath));

async function sources(): Promise<readonly string[]> {
  const packages = at(await lock(), 'packages');
  return (isList(packages) ? packages : []).map((one) => textAt(one, 'source') ?? '');
}

const nextNumber = async (): Promise<number> =>
  Number(textAt(await lock(), 'metadata', 'annotations', 'pkg.crossplane.io/next-transaction-number') ?? '1');

async function made(name: string): Promise<readonly string[]> {
  const paths = [definitionPath(), packagePath('providers'), packagePath('providerrevisions'), stagesPath];
  const all = [...paths, '/api/v1/namespaces/janus-packages/configmaps'].map(
    async (path) => (await client.list(path, { labelSelector: `pkg.crossplane.io/transaction=${name}` })).items,
  );
  return (await Promise.all(all)).flat().map((item) => `${textAt(item, 'kind') ?? ''}${textAt(item, 'metadata', 'name')}`);
}

async function isInstalled(t: Test, name: string, what: string): Promise<void> {
  t.ok((await sources()).includes(source(name)), `${what}: in the Lock`);
  const found = await made(name);
  t.equal(found.length, 4, `${what}: two CRDs, a Provider, a revision, and nothing else: ${found}`);
  const [revision] = (await client.list(packagePath('providerrevisions'), { labelSelector: `pkg.crossplane.io/package=${name}` }))
    .items;
  t.equal(textAt(revision, 'spec', 'desiredState'), 'Active', what);
  const crd = must(await client.get(definitionPath(`ones.${name}.org`)));
  t.match(
    crd,
    { metadata: { ownerReferences: [{ kind: 'ProviderRevision', controller: true }, { kind: 'Transaction' }] } },
    what,
  );
  t.equal(
    textAt(await lock(), 'metadata', 'annotations', 'pkg.crossplane.io/current-transaction'),
    undefined,
    `${what}: released`,
  );
}

async function isNotInstalled(t: Test, name: string, what: string): Promise<void> {
  t.notOk((await sources()).includes(source(name)), `${what}: not in the Lock`);
  t.same(await made(name), [], `${what}: nothing is left`);
  t.equal((await client.get(definitionPath(`ones.${name}.org`))).code, 404, what);
  t.equal(
    textAt(await lock(), 'metadata', 'annotations', 'pkg.crossplane.io/current-transaction'),
    undefined,
    `${what}: released`,
  );
}

let count = 0;
const freeName = (): string => {
  count += 1;
  return `k${count}`;
};

const isEach = process.env.JANUS_EACH_DEATH === 'true';

/**
 * Where the process dies: after a write, which is before the answer that follows from it, and before an answer is stored. One for each
 * kind of act; with JANUS_EACH_DEATH=true at every write and every answer of the story, before and after.
 */
function deathsOf({ writes, answers }: Driver): readonly Death[] {
  const numbers = (story: readonly string[], isChosen: (text: string) => boolean): readonly number[] =>
    story.flatMap((text, number) => (isEach || isChosen(text) ? [number] : []));
  const [seen, isNew] = [new Set<string>(), (text: string): boolean => !seen.has(text) && seen.add(text).size > 0];
  const isFirst = (text: string): boolean => isNew(text.replace(/ [^ ]*$/, '')) || /^(create Transaction|update)/.test(text);
  const written = numbers(writes, isFirst).map((number): Death => ({ at: 'after write', number }));
  const unsent = isEach ? written.map(({ number }): Death => ({ at: 'before write', number })) : [];
  return [...unsent, ...written, ...numbers(answers, isNew).map((number): Death => ({ at: 'before answer', number }))];
}

function refuseTwos(): void {
  admission.decide(({ name, dryRun, operation }) =>
    name.startsWith('twos.') && !dryRun && operation === 'CREATE' ? { code: 403, message: 'not today' } : undefined,
  );
}

/** Calls until the status is so. */
async function reach(name: string, isThere: (status: JsonObject) => boolean): Promise<void> {
  await waitFor(async () => isThere(statusOf(await driver.step(name))), `${name} to get there`, { everyMs: 20 });
}

t.test('26: the Lock is held without a gap; killed at every write and every answer of an install', async (t) => {
  const plain = freeName();
  await install(plain);
  const status = await driver.drive(plain);
  t.equal(conditionIn(status, 'Ready')?.status, 'True');
  await isInstalled(t, plain, 'not killed');
  for (const death of deathsOf(driver)) {
    const [name, number] = [freeName(), await nextNumber()];
    await install(name);
    const ended = await driver.drive(name, death);
    const what = `${death.at} ${death.number}`;
    t.equal(conditionIn(ended, 'Ready')?.status, 'True', what);
    t.equal(at(ended, 'transactionNumber'), number, `${what}: the number is kept, and none is left out`);
    await isInstalled(t, name, what);
  }
});

t.test('b, c: killed at every write and every answer of an install that fails', async (t) => {
  refuseTwos();
  const plain = freeName();
  await install(plain);
  const status = await driver.drive(plain);
  t.equal(conditionIn(status, 'Installed')?.reason, 'CRDInstallationFailed', JSON.stringify(status));
  await isNotInstalled(t, plain, 'not killed');
  for (const death of deathsOf(driver)) {
    const name = freeName();
    await install(name);
    const ended = await driver.drive(name, death);
    const what = `${death.at} ${death.number}`;
    t.equal(conditionIn(ended, 'Ready')?.reason, 'InstallationFailed', what);
    t.equal(at(ended, 'failures'), 1, what);
    await isNotInstalled(t, name, what);
  }
  admission.decide(() => undefined);
});

t.test('deleted in each phase: rolled back, released, gone', async (t) => {
  const phases = ['Waiting', 'Validating', 'Preparing', 'Installing', 'RollingBack', 'Verifying', 'Releasing', 'Cleaning'];
  for (const phase of phases) {
    const name = freeName();
    if (phase === 'RollingBack') refuseTwos();
    await install(name);
    if (phase !== 'Waiting') await reach(name, (status) => textAt(status, 'phase') === phase);
    must(await client.delete(ptxPath(name)));
    await driver.drive(name);
    t.equal((await client.get(ptxPath(name))).code, 404, `${phase}: gone`);
    admission.decide(() => undefined);
    // Once the Lock is written it is done.
    if (['Releasing', 'Cleaning'].includes(phase)) t.ok((await sources()).includes(source(name)), `${phase}: it was done`);
    else await isNotInstalled(t, name, phase);
  }
});

t.test('21: a holder that is removed by force is undone before the Lock is taken over', async (t) => {
  const [gone, next] = [freeName(), freeName()];
  await install(gone);
  await reach(gone, (status) => at(status, 'committed') === 3);
  t.equal((await client.get(definitionPath(`ones.${gone}.org`))).code, 200, 'half of it is there');
  must(await client.delete(ptxPath(gone)));
  must(await client.patch(ptxPath(gone), { metadata: { finalizers: null } }));
  await install(next);
  const status = await driver.drive(next);
  t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
  await isInstalled(t, next, 'the next one');
  t.equal((await client.get(definitionPath(`ones.${gone}.org`))).code, 404, 'nothing of the former one is installed');
  t.notOk((await sources()).includes(source(gone)));
});

t.test('23, d: a Lock that somebody edits while it is held: rolled back, and their entry stays', async (t) => {
  const name = freeName();
  await install(name, 1);
  await reach(name, (status) => at(status, 'committed') === 2);
  const live = await lock();
  const theirs = { name: 'theirs-1', source: 'registry.example.org/acme/theirs', version: 'v1.0.0', dependencies: [] };
  must(await client.update(lockPath, { ...live, packages: [...(at(live, 'packages') as readonly JsonObject[]), theirs] }));
  const status = await driver.drive(name);
  t.equal(conditionIn(status, 'Installed')?.status, 'False', JSON.stringify(status));
  t.match(conditionIn(status, 'Installed')?.message, /changed by somebody else/);
  t.ok((await sources()).includes('registry.example.org/acme/theirs'), 'nothing is overwritten');
  await isNotInstalled(t, name, 'rolled back');
});
