// What users do wrong with Packages that make their own package transactions, and what goes wrong around them: kubectl on the real API
// server, with a real registry. Two hooks take the calls in turn.
import t from 'tap';
import { at, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { type } from '../support/kubectl.ts';
import { startOwnLoops } from '../support/package-loops.ts';
import { definitionPath, lockPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { passOn } from '../support/registry/proxy.ts';

t.setTimeout(1_800_000);

const world = await startPackageWorld(t, { isBalanced: true, environment: { JANUS_PACKAGES_OWN: 'annotated' } });
const { client, source } = world;
const { kubeconfig } = world.plane;
await startOwnLoops(t, { kubeconfig, hookUrls: [world.address] });
const group = 'misuse.example.org';
const patience = { timeoutMs: 600_000 };

const publish = (name: string, tag: string, requires: Readonly<Record<string, string>> = {}): Promise<string> =>
  world.publish({ name, tag, requires, objects: [definitionOf(`${name}s`, group)] });

const typed = async (command: string): Promise<string> => {
  const { code, output } = await type(command, '.', { KUBECONFIG: kubeconfig });
  if (code !== 0) throw new Error(`${command}: ${output}`);
  return output;
};

const yaml = (name: string, tag: string): string =>
  JSON.stringify({
    ...{ apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider' },
    metadata: { name, annotations: { 'pkg.crossplane.io/own-transactions': 'true' } },
    spec: { package: `${source(name)}:${tag}` },
  });

/** `kubectl VERB -f` of Providers with their tags. */
const send = (verb: string, providers: Readonly<Record<string, string>>): Promise<string> => {
  const objects = Object.entries(providers).map(([name, tag]) => yaml(name, tag));
  return typed(`kubectl ${verb} -f - <<'END'\n${objects.join('\n---\n')}\nEND`);
};

const read = async (name: string): Promise<JsonObject> => must(await client.get(packagePath('providers', name)));
const isGone = async (name: string): Promise<boolean> => (await client.get(packagePath('providers', name))).code === 404;

/** The message of the condition Installed once it has this status and reason. */
const until = (name: string, wanted: RegExp): Promise<string> =>
  waitFor(
    async () => {
      const found = conditionIn(statusOf(await read(name)), 'Installed');
      if (wanted.test(`${found?.status}/${found?.reason}`)) return found?.message ?? '-';
      throw new Error(JSON.stringify(found));
    },
    `${name} to be ${wanted}`,
    patience,
  );

const untilInstalled = async (name: string, tag: string): Promise<void> => {
  await waitFor(
    async () => textAt(statusOf(await read(name)), 'currentIdentifier')?.endsWith(`:${tag}`) === true,
    `${name} ${tag}`,
    patience,
  );
  await until(name, /^True\/ActivePackageRevision$/);
};

/** Name and tag of each entry of the Lock. */
async function locked(): Promise<readonly string[]> {
  const entries = listAt((await client.get(lockPath)).body, 'packages');
  return entries.map((one) => `${textAt(one, 'source')?.split('/').at(-1)} ${textAt(one, 'version')?.split('@')[0]}`).sort();
}

const isFree = async (): Promise<boolean> =>
  textAt((await client.get(lockPath)).body, 'metadata', 'annotations', 'pkg.crossplane.io/current-transaction') === undefined;

t.test('two packages that require each other are refused, and go', async (t) => {
  await publish('ring', 'v1.0.0');
  await publish('round', 'v1.0.0', { ring: '>=v1.1.0' });
  await publish('ring', 'v1.1.0', { round: '>=v1.0.0' });
  await send('apply', { ring: 'v1.1.0', round: 'v1.0.0' });
  for (const name of ['ring', 'round']) t.match(await until(name, /CircularDependency$/), /ring.*round|round.*ring/);
  await typed('kubectl delete providers ring round --timeout=300s');
  t.same(await locked(), []);
});

t.test('a wrong tag: the status says so, and an edit repairs it', async (t) => {
  await publish('typo', 'v1.0.0');
  await send('apply', { typo: 'v1.0.O' });
  t.match(
    await until('typo', /^(Unknown|False)\/(Resolving|Unavailable)$/),
    /typo: the registry answers 404 to manifests\/v1\.0\.O/,
  );
  await send('apply', { typo: 'v1.0.0' });
  await untilInstalled('typo', 'v1.0.0');
  await send('apply', { typo: 'v7.0.0' });
  t.match(
    await until('typo', /^False\/Unavailable$/),
    /typo: .* manifests\/v7\.0\.0.*; it is not tried again: change the Package, or/,
  );
  t.same(await locked(), ['typo v1.0.0'], 'the former version stays');
  await send('apply', { typo: 'v1.0.0' });
  await untilInstalled('typo', 'v1.0.0');
});

t.test(
  'the registry is away: a Package that is deleted meanwhile goes, another one is installed once the registry is back',
  async (t) => {
    await publish('first', 'v1.0.0');
    await publish('second', 'v1.0.0');
    world.proxy.act((_, answer) => {
      answer.destroy();
      return true;
    });
    await send('apply', { first: 'v1.0.0', second: 'v1.0.0' });
    for (const name of ['first', 'second']) await until(name, /^Unknown\//);
    await typed('kubectl delete provider first --timeout=300s');
    world.proxy.act(passOn);
    await untilInstalled('second', 'v1.0.0');
    t.same(await locked(), ['second v1.0.0', 'typo v1.0.0']);
  },
);

t.test(
  'kubectl replace --force of a package and of what it requires, as GitOps tools do; the hooks end in between',
  async (t) => {
    await publish('base', 'v1.0.0');
    await publish('leaf', 'v1.0.0', { base: '>=v1.0.0' });
    await publish('leaf', 'v1.1.0', { base: '>=v1.0.0' });
    await send('apply', { base: 'v1.0.0', leaf: 'v1.0.0' });
    for (const name of ['base', 'leaf']) await untilInstalled(name, 'v1.0.0');
    const before = textAt(await read('leaf'), 'metadata', 'uid');
    const replaced = send('replace --force --timeout=300s', { leaf: 'v1.1.0' });
    await waitFor(
      async () => (await isGone('leaf')) || at(await read('leaf'), 'metadata', 'deletionTimestamp') !== undefined,
      'the deletion',
    );
    await world.replaceHooks();
    await replaced;
    await untilInstalled('leaf', 'v1.1.0');
    t.not(textAt(await read('leaf'), 'metadata', 'uid'), before);
    t.same(await locked(), ['base v1.0.0', 'leaf v1.1.0', 'second v1.0.0', 'typo v1.0.0']);
    await send('replace', { base: 'v1.0.0' });
    await waitFor(
      async () => listAt(await read('base'), 'metadata', 'finalizers').length > 0,
      'the finalizer, which the replace has left out',
    );
    await until('base', /^True\/ActivePackageRevision$/);
  },
);

t.test(
  'a new package waits until a Package that it requires is gone and applied again; an installed one does not wait',
  async (t) => {
    await publish('floor', 'v1.0.0');
    for (const tag of ['v1.0.0', 'v1.1.0']) await publish('tenant', tag, { floor: '>=v1.0.0' });
    await publish('newcomer', 'v1.0.0', { floor: '>=v1.0.0' });
    await send('apply', { floor: 'v1.0.0', tenant: 'v1.0.0' });
    for (const name of ['floor', 'tenant']) await untilInstalled(name, 'v1.0.0');
    const before = textAt(await read('floor'), 'metadata', 'uid');
    await typed('kubectl delete provider floor --wait=false');
    await until('floor', /RequiredByOthers$/);
    await send('apply', { newcomer: 'v1.0.0' });
    t.match(
      await until('newcomer', /^Unknown\/WaitingForPackage$/),
      /floor is required, and Provider "floor" is being deleted: read/,
    );
    await send('apply', { tenant: 'v1.1.0' });
    await untilInstalled('tenant', 'v1.1.0');
    t.notOk((await locked()).includes('newcomer v1.0.0'), 'it still waits');
    await typed('kubectl delete provider tenant --timeout=600s');
    await waitFor(() => isGone('floor'), 'floor to go', patience);
    await waitFor(
      async () => /its Package "floor" was deleted just now/.test(await until('newcomer', /^Unknown\/WaitingForPackage$/)),
      'newcomer to wait until floor is applied again',
      patience,
    );
    await send('apply', { floor: 'v1.0.0' });
    for (const name of ['floor', 'newcomer']) await untilInstalled(name, 'v1.0.0');
    t.not(textAt(await read('floor'), 'metadata', 'uid'), before);
    t.ok(await isGone('acme-floor'), 'the hook gave it no other name');
    await typed('kubectl delete provider newcomer floor --timeout=600s');
  },
);

t.test('all are deleted at once, and applied again until they are there: GitOps tools heal', async (t) => {
  const wanted = { base: 'v1.0.0', leaf: 'v1.1.0', second: 'v1.0.0' };
  const uids = await Promise.all(Object.keys(wanted).map(async (name) => textAt(await read(name), 'metadata', 'uid')));
  await typed(`kubectl delete providers ${Object.keys(wanted).join(' ')} --wait=false`);
  const areNew = async (): Promise<boolean> => {
    await send('apply', wanted);
    const found = await Promise.all(Object.keys(wanted).map(read));
    return found.every((one, index) => textAt(one, 'metadata', 'uid') !== uids[index]);
  };
  await waitFor(areNew, 'all Packages to be created again', { ...patience, everyMs: 2_000 });
  for (const [name, tag] of Object.entries(wanted)) await untilInstalled(name, tag);
  t.same(await locked(), ['base v1.0.0', 'leaf v1.1.0', 'second v1.0.0', 'typo v1.0.0']);
  for (const name of Object.keys(wanted)) t.equal((await client.get(definitionPath(`${name}s.${group}`))).code, 200);
});

t.test('the Lock is deleted: a Package that requires another one says so, and all are back in the Lock', async (t) => {
  await publish('later', 'v1.0.0', { base: '>=v1.0.0' });
  const before = await locked();
  await typed('kubectl delete locks.pkg.crossplane.io lock');
  await send('apply', { later: 'v1.0.0' });
  t.match(
    await until('later', /InvalidPackage$/),
    /installed as Provider "base", and the Lock has lost its entry: install "base"/,
  );
  await typed('kubectl delete transactions.pkg.crossplane.io --all --timeout=300s');
  // A Package whose package transactions history has removed sees no event of their deletion.
  await typed('kubectl annotate providers --all checked=again');
  await untilInstalled('later', 'v1.0.0');
  await waitFor(async () => (await locked()).length > before.length, 'all entries', patience);
  t.same(await locked(), [...before, 'later v1.0.0'].sort());
});

t.test('a user deletes a revision: the Package makes it again, and its CRD stays', async (t) => {
  const revision = packagePath('providerrevisions', textAt(statusOf(await read('second')), 'currentRevision'));
  const uidAt = async (path: string) => textAt((await client.get(path)).body, 'metadata', 'uid');
  const crd = definitionPath(`seconds.${group}`);
  const [former, kept] = await Promise.all([revision, crd].map(uidAt));
  await typed(`kubectl delete providerrevision ${revision.split('/').at(-1)}`);
  await waitFor(async () => ![undefined, former].includes(await uidAt(revision)), 'the revision to be made again', patience);
  await untilInstalled('second', 'v1.0.0');
  t.equal(await uidAt(crd), kept);
  const controller = listAt(must(await client.get(crd)), 'metadata', 'ownerReferences').find((one) => at(one, 'controller'));
  t.equal(textAt(controller, 'uid'), await uidAt(revision));
});

t.test('a user deletes a Package and its revision at once: an instance keeps both CRD and Package', async (t) => {
  const [crd, pkg] = [definitionPath(`seconds.${group}`), packagePath('providers', 'second')];
  const instances = `/apis/${group}/v1beta1/seconds`;
  must(await client.create(instances, { apiVersion: `${group}/v1beta1`, kind: 'Second', metadata: { name: 'used' } }));
  const revision = textAt(statusOf(await read('second')), 'currentRevision');
  await typed(`kubectl delete providerrevision/${revision} provider/second --wait=false`);
  const owners = async () => listAt(must(await client.get(crd)), 'metadata', 'ownerReferences');
  await waitFor(
    async () => !(await owners()).some((one) => textAt(one, 'name') === revision),
    'the garbage collector to take the reference away',
    patience,
  );
  await until('second', /ResourcesInUse$/);
  must(await client.delete(`${instances}/used`));
  await waitFor(async () => (await client.get(pkg)).code === 404, 'the Package to go', patience);
  t.equal((await client.get(crd)).code, 404);
});

t.test('kubectl delete of all: nothing is left, and the Lock is free', async (t) => {
  await typed('kubectl delete providers --all --timeout=600s');
  await waitFor(async () => (await locked()).length === 0 && (await isFree()), 'the Lock to be free', patience);
  t.same((await client.list(packagePath('providerrevisions'))).items, []);
  const left = (await client.list(definitionPath())).items.filter((one) => textAt(one, 'spec', 'group') === group);
  t.same(left, []);
  const running = (await client.list(ptxPath())).items.filter(
    (one) => !/^(Succeeded|Failed)$/.test(textAt(one, 'status', 'phase') ?? ''),
  );
  t.same(running, []);
});
