// Packages that make their own package transactions, on the real API server, with a real registry. Metacontroller's loops call two hooks
// in turn.
import t from 'tap';
import { ownName, packageUidLabel } from '../../hooks/crossplane/model/own.ts';
import type { PackageKind } from '../../hooks/crossplane/model/package.ts';
import { at, isList, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { runPackages } from '../../scripts/packages/run.ts';
import { must, waitFor } from '../support/client.ts';
import { post } from '../support/hook-process.ts';
import { applyObject, readManifest } from '../support/install.ts';
import { type } from '../support/kubectl.ts';
import { findMetacontroller } from '../support/metacontroller/binary.ts';
import { startPackageAdmission } from '../support/package-admission.ts';
import { ownFinalizer, startOwnLoops } from '../support/package-loops.ts';
import { definitionPath, kinds, lockPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { mutatingPolicies } from '../support/stamping.ts';

t.setTimeout(5_400_000);

const world = await startPackageWorld(t, { environment: { JANUS_PACKAGES_OWN: 'annotated' } });
const { client, source, plane } = world;
const hooks = [world.hook.url, (await world.startHook()).url];
/** With the real Metacontroller if METACONTROLLER names it, or if it is on PATH. */
const isReal = findMetacontroller() !== undefined;
const loops = await startOwnLoops(t, { kubeconfig: plane.kubeconfig, hookUrls: hooks, isReal });
const annotation = 'pkg.crossplane.io/own-transactions';
const group = 'own.example.org';
const account = client.asServiceAccount('janus-packages', 'janus-packages');

const admission = await startPackageAdmission(client, t);

/** `CREATE transactions NAME` of each write of package transactions and Packages, also of a create whose name was taken meanwhile. */
const writes: string[] = [];
let refusing: (name: string) => boolean = () => false;
admission.decide(({ resource, name, operation, dryRun }) => {
  if (dryRun) return undefined;
  if (refusing(name)) return { code: 403, message: 'not today' };
  writes.push(`${operation} ${resource} ${name}`);
  return undefined;
});
const writesOf = (words: string): readonly string[] => writes.filter((one) => one.includes(words));

const fieldsOf = (count: number): object => ({
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, { type: 'string' }])),
});
/** A package `name` with one kind, which has one field more in each version. */
const publish = (name: string, minor: number, requires: Readonly<Record<string, string>> = {}): Promise<string> =>
  world.publish({
    name,
    tag: `v1.${minor}.0`,
    requires,
    objects: [definitionOf(`${name}s`, group, fieldsOf(minor + 1))],
  });

interface Applied {
  readonly kind?: PackageKind;
  /** Of the package in the registry; the name of the Package if absent. */
  readonly of?: string;
  readonly annotations?: JsonObject;
  readonly spec?: JsonObject;
}

const pluralOf = (kind: PackageKind): string => `${kind.toLowerCase()}s`;

async function apply(
  name: string,
  tag: string,
  { kind = 'Provider', of = name, annotations, spec = {} }: Applied = {},
): Promise<JsonObject> {
  const metadata = { name, annotations: annotations ?? { [annotation]: 'true' } };
  const object = { apiVersion: 'pkg.crossplane.io/v1', kind, metadata, spec: { package: `${source(of)}:${tag}`, ...spec } };
  return must(await client.create(packagePath(pluralOf(kind)), object));
}

const edit = async (name: string, tag: string, of = name): Promise<JsonObject> =>
  must(await client.patch(packagePath('providers', name), { spec: { package: `${source(of)}:${tag}` } }));

const read = async (name: string, kind: PackageKind = 'Provider'): Promise<JsonObject> =>
  must(await client.get(packagePath(pluralOf(kind), name)));

const isGone = async (name: string): Promise<boolean> => (await client.get(packagePath('providers', name))).code === 404;

/** The Package once its condition Installed has this status and reason. */
async function until(name: string, wanted: string, kind: PackageKind = 'Provider'): Promise<JsonObject> {
  return waitFor(
    async () => {
      const found = await read(name, kind);
      const installed = conditionIn(statusOf(found), 'Installed');
      if (`${installed?.status}/${installed?.reason}` === wanted) return found;
      const made = await transactionsOf(found);
      throw new Error(JSON.stringify([statusOf(found), ...made.map((one) => [at(one, 'metadata', 'name'), statusOf(one)])]));
    },
    `${kind} ${name} to be ${wanted}`,
    // Ten installs, one after the other, take minutes on a busy machine.
    { timeoutMs: 1_200_000 },
  );
}

const active = 'True/ActivePackageRevision';
const messageOf = (object: JsonObject): string => conditionIn(statusOf(object), 'Installed')?.message ?? '';

async function transactionsOf(pkg: JsonObject): Promise<readonly JsonObject[]> {
  const labelSelector = `${packageUidLabel}=${textAt(pkg, 'metadata', 'uid')}`;
  return (await client.list(ptxPath(), { labelSelector })).items;
}

const namesOf = (objects: readonly JsonObject[]): readonly string[] =>
  objects.map((one) => textAt(one, 'metadata', 'name') ?? '').sort();

/** Name and version of each entry of the Lock, such as `s3 v1.0.0`. */
async function locked(): Promise<readonly string[]> {
  const packages = at(must(await client.get(lockPath)), 'packages');
  const entries = isList(packages) ? packages : [];
  return entries.map((one) => `${textAt(one, 'source')?.split('/').at(-1)} ${textAt(one, 'version')?.split('@')[0]}`).sort();
}

const typed = async (command: string): Promise<string> => {
  const { code, output } = await type(command, '.', { KUBECONFIG: plane.kubeconfig });
  if (code !== 0) throw new Error(output);
  return output;
};

// Every package transaction is kept: a Package that is created again meets those of the former one.
const keepsAll = { 'pkg.crossplane.io/transaction-history-limit': '0' };
const lock = { apiVersion: 'pkg.crossplane.io/v1beta1', kind: 'Lock', metadata: { name: 'lock', annotations: keepsAll } };
must(await client.create(lockPath.replace(/\/lock$/, ''), { ...lock, packages: [] }));
await publish('family', 0);
await publish('family', 1);
await publish('bucket', 0, { family: '>=v1.0.0' });
await publish('bucket', 1, { family: '>=v1.1.0' });

t.test('52: a user applies a Provider, and it is installed with its dependencies', async (t) => {
  // The newest family is v1.1.0: an older one is installed first, so that bucket v1.1.0 moves it.
  await apply('acme-family', 'v1.0.0', { of: 'family' });
  await until('acme-family', active);
  const created = await apply('bucket', 'v1.0.0');
  const answers = Array.from({ length: 10 }, (_, index) => post(`${hooks[index % 2]}/packages/own/sync`, { object: created }));
  for (const answer of await Promise.all(answers)) {
    t.equal(answer.statusCode, 200);
    await answer.body.dump();
  }
  const found = await until('bucket', active);
  t.same(namesOf(await transactionsOf(found)), [ownName('Provider', found)], '42: ten calls more, and one package transaction');
  t.match(statusOf(found), { currentIdentifier: `${source('bucket')}:v1.0.0`, currentRevision: /^bucket-/ });
  t.ok(listAt(found, 'metadata', 'finalizers').includes(ownFinalizer), 'the finalizer is there');
  t.same(await locked(), ['bucket v1.0.0', 'family v1.0.0']);
  const screen = await typed('kubectl get providers');
  t.match(screen, /^NAME +INSTALLED +HEALTHY +PACKAGE +REASON +AGE\n/);
  t.match(screen, /^bucket +True +Unknown +\S+ +ActivePackageRevision /m);
});

t.test('an edit updates it; a Package that this moves makes no package transaction for that', async (t) => {
  const family = await read('acme-family');
  const before = namesOf(await transactionsOf(family));
  const edited = await edit('bucket', 'v1.1.0');
  const found = await waitFor(async () => {
    const now = await until('bucket', active);
    return textAt(statusOf(now), 'currentIdentifier')?.endsWith('v1.1.0') ? now : undefined;
  }, 'the update');
  t.same(await locked(), ['bucket v1.1.0', 'family v1.1.0']);
  t.ok(namesOf(await transactionsOf(found)).includes(ownName('Provider', edited)));
  const moved = await until('acme-family', active);
  t.match(at(moved, 'spec'), { package: `${source('family')}:v1.1.0` });
  t.not(at(moved, 'metadata', 'generation'), at(family, 'metadata', 'generation'));
  t.same(namesOf(await transactionsOf(moved)), before);
});

t.test('a Package that a package transaction makes carries the annotation, and makes none itself', async (t) => {
  await publish('base', 0);
  await publish('queue', 0, { base: '>=v1.0.0' });
  await apply('queue', 'v1.0.0');
  await until('queue', active);
  const base = await until('acme-base', active);
  t.equal(textAt(base, 'metadata', 'annotations', annotation), 'true');
  t.ok(listAt(base, 'metadata', 'finalizers').includes(ownFinalizer));
  t.same(await transactionsOf(base), []);
});

t.test('the status shows the reason of a refusal, and a Package that returns to its former version writes nothing', async (t) => {
  await world.publish({ name: 'queue', tag: 'v2.0.0', requires: { missing: '>=v1.0.0' } });
  await edit('queue', 'v2.0.0');
  const refused = await waitFor(async () => {
    const found = await read('queue');
    return conditionIn(statusOf(found), 'Installed')?.status === 'False' ? found : undefined;
  }, 'the refusal');
  t.match(conditionIn(statusOf(refused), 'Installed'), {
    message: new RegExp(`Package transaction ${ownName('Provider', refused)}: `),
  });
  t.match(await typed('kubectl get providers queue -o wide'), messageOf(refused).slice(0, 60));
  t.match((await locked()).join(), /queue v1\.0\.0/);
  const back = await edit('queue', 'v1.0.0');
  await until('queue', active);
  await waitFor(async () => (await transactionsOf(back)).every((one) => textAt(one, 'status', 'phase') !== 'Waiting'), 'its end');
  t.notOk(namesOf(await transactionsOf(back)).includes(ownName('Provider', back)));
});

t.test(
  'revisionActivationPolicy Manual: a revision that is made Active by hand gets control by a package transaction',
  async (t) => {
    const digests = [await publish('manual', 0), await publish('manual', 1), await publish('manual', 2)] as const;
    const path = (minor: 0 | 1 | 2): string => packagePath('providerrevisions', `manual-${digests[minor].slice(7, 19)}`);
    const crd = definitionPath(`manuals.${group}`);
    const setState = async (minor: 0 | 1 | 2, desiredState: string): Promise<string> => {
      const object = must(await client.patch(path(minor), { spec: { desiredState } }));
      return textAt(object, 'metadata', 'uid') ?? '';
    };
    const states = async (): Promise<readonly (string | undefined)[]> => {
      const answers = await Promise.all(([0, 1, 2] as const).map((minor) => client.get(path(minor))));
      return answers.map(({ code, body }) => (code === 404 ? undefined : textAt(body, 'spec', 'desiredState')));
    };
    const controller = async (): Promise<string | undefined> =>
      listAt(must(await client.get(crd)), 'metadata', 'ownerReferences')
        .filter((one) => at(one, 'controller') === true)
        .map((one) => textAt(one, 'name'))[0];
    const ended = async (name: string): Promise<JsonObject> => {
      const finished = async (): Promise<JsonObject | undefined> => {
        const answer = await client.get(ptxPath(name));
        const isOver = answer.code === 200 && ['Succeeded', 'Failed'].includes(textAt(answer.body, 'status', 'phase') ?? '');
        return isOver ? statusOf(answer.body) : undefined;
      };
      return waitFor(finished, `package transaction ${name} to end`, { timeoutMs: 300_000 });
    };

    const created = await apply('manual', 'v1.0.0', { spec: { revisionActivationPolicy: 'Manual' } });
    const first = await ended(ownName('Provider', created));
    t.match(conditionIn(first, 'Installed')?.message, /is Inactive, since .* is Manual: set its spec\.desiredState to Active$/);
    t.same([await states(), (await client.get(crd)).code], [['Inactive', undefined, undefined], 404]);
    t.notMatch((await locked()).join(), /manual /);
    const activated = ownName('Provider', created, await setState(0, 'Active'));
    await ended(activated);
    t.match((await locked()).join(), /manual v1\.0\.0/);
    t.equal(await controller(), path(0).split('/').at(-1));

    const edited = await edit('manual', 'v1.1.0');
    await ended(ownName('Provider', edited));
    t.same(await states(), ['Active', 'Inactive', undefined]);
    t.match((await locked()).join(), /manual v1\.0\.0/, 'the Lock has what is Active');
    await ended(ownName('Provider', edited, await setState(1, 'Active')));
    t.same(await states(), ['Inactive', 'Active', undefined]);
    t.match((await locked()).join(), /manual v1\.1\.0/);
    t.equal(await controller(), path(1).split('/').at(-1));

    const next = await edit('manual', 'v1.2.0');
    await ended(ownName('Provider', next));
    refusing = (name) => name === `manuals.${group}`;
    const refused = ownName('Provider', next, await setState(2, 'Active'));
    await waitFor(async () => messageOf(await read('manual')).includes('not today'), 'the Package to say why', {
      timeoutMs: 300_000,
    });
    await setState(2, 'Inactive');
    await waitFor(
      async () => (await client.get(ptxPath(refused))).code === 404,
      'it to end, since the Package does not want it',
      {
        timeoutMs: 300_000,
      },
    );
    refusing = () => false;
    t.same((await states()).slice(1), ['Active', 'Inactive']);
    await setState(2, 'Active');
    await ended(refused);
    t.same((await states()).slice(1), ['Inactive', 'Active']);
    t.equal(await controller(), path(2).split('/').at(-1));
    const made = [created, edited, next].map((pkg) => ownName('Provider', pkg));
    const found = namesOf(await transactionsOf(await read('manual')));
    t.equal(found.length, 6, 'one for each generation, and one for each revision');
    for (const name of [...made, activated, refused]) t.ok(found.includes(name), name);
    await until('manual', active);
    await setState(1, 'Active');
    const other = await until('manual', 'True/OtherRevisionActive');
    t.match(messageOf(other), /is Active, and spec\.package names another version/);
    await setState(1, 'Inactive');
    await until('manual', active);
  },
);

t.test('a Package without a valid reference says what to write, and makes none', async (t) => {
  const metadata = { name: 'wrong', annotations: { [annotation]: 'true' } };
  const object = { apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', metadata };
  must(await client.create(packagePath('providers'), { ...object, spec: { package: 'registry.example.org/Upper/case:v1' } }));
  const found = await until('wrong', 'False/InvalidPackage');
  t.match(messageOf(found), /^spec\.package: expected registry, repository and tag or digest, such as registry\.example\.org/);
  t.same(await transactionsOf(found), []);
  must(await client.delete(packagePath('providers', 'wrong')));
  await waitFor(() => isGone('wrong'), 'it to go, for nothing of it is installed');
});

t.test('names: 63 characters, a dot, and one name for two kinds', async (t) => {
  const long = 'n'.repeat(63);
  await publish('long', 0);
  await publish('dotted', 0);
  await world.publish({ kind: 'Function', name: 'shared-function', tag: 'v1.0.0' });
  await publish('shared', 0);
  await apply(long, 'v1.0.0', { of: 'long' });
  await apply('dotted.name', 'v1.0.0', { of: 'dotted' });
  await apply('shared', 'v1.0.0');
  await apply('shared', 'v1.0.0', { kind: 'Function', of: 'shared-function' });
  for (const [name, kind] of [
    [long, 'Provider'],
    ['dotted.name', 'Provider'],
    ['shared', 'Provider'],
    ['shared', 'Function'],
  ] as const) {
    const found = await until(name, active, kind);
    t.same(namesOf(await transactionsOf(found)), [ownName(kind, found)], `${kind} ${name}`);
  }
});

t.test('off: a Package without the annotation gets no finalizer; one that loses it is let go', async (t) => {
  await publish('plain', 0);
  await apply('plain', 'v1.0.0', { annotations: {} });
  await publish('former', 0);
  await apply('former', 'v1.0.0');
  const former = await until('former', active);
  must(await client.patch(packagePath('providers', 'former'), { metadata: { annotations: { [annotation]: null } } }));
  const isFree = async (): Promise<boolean> => listAt(await read('former'), 'metadata', 'finalizers').length === 0;
  await waitFor(isFree, 'the finalizer to go');
  t.equal((await client.get(definitionPath(`formers.${group}`))).code, 200);
  t.equal(namesOf(await transactionsOf(former)).length, 1, 'no Delete');
  const plain = await read('plain');
  t.same([at(plain, 'metadata', 'finalizers'), await transactionsOf(plain)], [undefined, []]);
});

t.test('a first install that fails leaves nothing, and goes', async (t) => {
  await publish('below', 0);
  await publish('broken', 0, { below: '>=v1.0.0' });
  refusing = (name) => name === `brokens.${group}`;
  await apply('broken', 'v1.0.0');
  const failed = await waitFor(async () => {
    const found = await read('broken');
    return conditionIn(statusOf(found), 'Installed')?.reason === 'CRDInstallationFailed' ? found : undefined;
  }, 'the failure');
  t.match(messageOf(failed), /not today/);
  must(await client.delete(packagePath('providers', 'broken')));
  await waitFor(() => isGone('broken'), 'it to go', { timeoutMs: 300_000 });
  refusing = () => false;
  t.ok(await isGone('acme-below'), 'the Package that it had made is gone, finalizer or not');
  t.equal((await client.get(definitionPath(`belows.${group}`))).code, 404);
});

t.test('ten at once: each makes one package transaction', async (t) => {
  const names = Array.from({ length: 10 }, (_, index) => `many${index}`);
  for (const name of names) await publish(name, 0);
  await Promise.all(names.map((name) => apply(name, 'v1.0.0')));
  for (const name of names) {
    const found = await until(name, active);
    t.same(namesOf(await transactionsOf(found)), [ownName('Provider', found)], name);
    t.equal(writesOf(`customresourcedefinitions ${name}s.${group}`).length, 1, name);
  }
});

t.test(
  'Packages that require one another are applied at once: each is installed under its own name and in its version',
  async (t) => {
    for (const minor of [0, 1]) await publish('under', minor);
    await publish('middle', 0, { under: '>=v1.0.0' });
    await publish('top', 0, { middle: '>=v1.0.0', under: '>=v1.0.0' });
    const before = await locked();
    // The names that the repositories give are acme-top, acme-middle, acme-under.
    await Promise.all(['top', 'middle', 'under'].map((name) => apply(name, 'v1.0.0')));
    for (const name of ['top', 'middle', 'under']) {
      const found = await until(name, active);
      t.same(namesOf(await transactionsOf(found)), [ownName('Provider', found)], name);
      t.ok(await isGone(`acme-${name}`), `no acme-${name}`);
    }
    t.same(await locked(), [...before, 'middle v1.0.0', 'top v1.0.0', 'under v1.0.0'].sort());
  },
);

t.test('a Package waits for another one that cannot be installed yet, and names it', async (t) => {
  await publish('awaited', 0);
  await publish('waiting', 0, { awaited: '>=v1.0.0' });
  await apply('awaited', 'v1.0.7');
  await apply('waiting', 'v1.0.0');
  const found = await until('waiting', 'Unknown/WaitingForPackage');
  t.match(messageOf(found), /awaited is required, and Provider "awaited" installs it first: read the condition Installed/);
  await edit('awaited', 'v1.0.0');
  for (const name of ['waiting', 'awaited']) await until(name, active);
});

t.test('a Package of the name that its repository gives it is installed in the version that the user wrote', async (t) => {
  for (const minor of [0, 1]) await publish('pinned', minor);
  await publish('pinning', 0, { pinned: '>=v1.0.0' });
  await apply('acme-pinned', 'v1.0.7', { of: 'pinned' });
  await apply('pinning', 'v1.0.0');
  await until('pinning', 'Unknown/WaitingForPackage');
  await edit('acme-pinned', 'v1.0.0', 'pinned');
  for (const name of ['pinning', 'acme-pinned']) await until(name, active);
  t.match((await locked()).join(), /pinned v1\.0\.0/);
});

t.test('a Package cannot move to another source: it says which one is installed', async (t) => {
  const before = await locked();
  await edit('many2', 'v1.0.0', 'many3');
  const refused = await waitFor(async () => {
    const found = await read('many2');
    return conditionIn(statusOf(found), 'Installed')?.reason === 'InvalidPackage' ? found : undefined;
  }, 'the refusal');
  t.match(messageOf(refused), /found one of .*many2: use that source/);
  const back = await edit('many2', 'v1.0.0');
  await until('many2', active);
  t.same(await locked(), before);
  t.equal(writesOf(`CREATE transactions ${ownName('Provider', back)}`).length, 0, 'what is installed already');
});

t.test('ten edits within a second: only tried generations made a package transaction, and the last one wins', async (t) => {
  for (let minor = 0; minor <= 10; minor += 1) await publish('edited', minor);
  await apply('edited', 'v1.0.0');
  await until('edited', active);
  const before = writes.length;
  for (let minor = 1; minor <= 10; minor += 1) await edit('edited', `v1.${minor}.0`);
  await waitFor(async () => (await locked()).includes('edited v1.10.0'), 'the last version', { timeoutMs: 300_000 });
  const found = await until('edited', active);
  const since = writes.slice(before);
  const made = [...new Set(since.filter((one) => one.startsWith('CREATE transactions tx-edited-')))];
  t.ok(made.length <= 10 && made.includes(`CREATE transactions ${ownName('Provider', found)}`), made.join());
  const crd = since.filter((one) => one.includes(`customresourcedefinitions editeds.${group}`));
  t.ok(crd.length >= 1 && crd.length <= 10, `${crd.length} writes of the CRD, ${made.length} package transactions`);
  const fields = at(listAt(must(await client.get(definitionPath(`editeds.${group}`))), 'spec', 'versions')[0], 'schema');
  t.match(JSON.stringify(fields), 'field10');
});

t.test('47: kubectl delete is refused while instances exist, says so, and goes on by itself', async (t) => {
  const object = { apiVersion: `${group}/v1beta1`, kind: 'Bucket', metadata: { name: 'mine' } };
  const path = `/apis/${group}/v1beta1/buckets`;
  must(await client.create(path, object));
  await typed('kubectl delete provider bucket --wait=false');
  const refused = await until('bucket', 'True/ResourcesInUse');
  t.match(messageOf(refused), /CRD buckets\.own\.example\.org has 1 instance, such as "mine": delete them first/);
  t.ok(textAt(refused, 'metadata', 'deletionTimestamp'));
  const figures = await waitFor(async () => {
    const text = await (await fetch(`${world.hook.url}/metrics`)).text();
    return /^janus_own_package_oldest_deletion_seconds [1-9]/m.test(text) ? text : undefined;
  }, 'the metrics to show for how long it has been Terminating');
  t.match(figures, /^janus_own_packages\{state="Deleting"\} 1$/m);
  t.match(figures, /^janus_own_packages\{state="NotInstalled"\} 0$/m);
  t.match(figures, /^janus_own_packages\{state="Installed"\} [1-9]\d*$/m);
  const again = await client.create(packagePath('providers'), { ...refused, metadata: { name: 'bucket' } });
  t.equal(again.code, 409, 'it cannot be created while it is being deleted');
  await edit('bucket', 'v1.0.0');
  const edited = await waitFor(async () => {
    const found = await read('bucket');
    return messageOf(found).includes('which has no effect') ? found : undefined;
  }, 'the status to say that the edit has no effect');
  t.equal((await transactionsOf(edited)).filter((one) => at(one, 'spec', 'change') === 'Delete').length, 1);
  t.match((await locked()).join(), /bucket v1\.1\.0/);
  must(await client.delete(`${path}/mine`));
  await waitFor(() => isGone('bucket'), 'it to go by itself', { timeoutMs: 300_000 });
  await waitFor(async () => !(await locked()).some((one) => one.startsWith('bucket ')), 'its entry to go');
  t.equal((await client.get(definitionPath(`buckets.${group}`))).code, 404);
  t.match((await locked()).join(), /family v1\.1\.0/, 'what it required stays');
});

t.test('a Package of the name of one that is gone is installed, although package transactions have its names', async (t) => {
  const created = await apply('bucket', 'v1.0.0');
  const found = await until('bucket', active);
  t.equal(at(found, 'metadata', 'uid'), at(created, 'metadata', 'uid'));
  t.match((await locked()).join(), /bucket v1\.0\.0/);
});

t.test('kubectl delete is refused while another package requires it, and goes once that one is gone', async (t) => {
  must(await client.delete(packagePath('providers', 'acme-base')));
  const refused = await until('acme-base', 'True/RequiredByOthers');
  t.match(messageOf(refused), /queue requires .*base >=v1\.0\.0/);
  must(await client.delete(packagePath('providers', 'queue')));
  for (const name of ['queue', 'acme-base']) await waitFor(() => isGone(name), `${name} to go`, { timeoutMs: 300_000 });
  await waitFor(async () => !(await locked()).some((one) => /^(queue|base) /.test(one)), 'the entries to go');
});

t.test('a Delete whose Package is not being deleted deletes nothing: its request came late', async (t) => {
  const labels = { [packageUidLabel]: textAt(await read('plain'), 'metadata', 'uid') ?? '' };
  const object = { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', metadata: { name: 'late', labels } };
  must(await client.create(ptxPath(), { ...object, spec: { change: 'Delete', delete: { source: source('many0') } } }));
  const validated = conditionIn(await world.finished('late'), 'Validated');
  t.match(validated, { reason: 'InvalidPackage', message: /is not being deleted/ });
  t.match((await locked()).join(), /many0 v1\.0\.0/);
});

/** Resource versions of all that Packages are about, and the names of package transactions, which are swept at their time. */
async function versions(): Promise<readonly string[]> {
  const paths = [...kinds.map((plural) => packagePath(plural)), lockPath.replace(/\/lock$/, ''), definitionPath()];
  const lists = await Promise.all(paths.map(async (path) => (await client.list(path)).items));
  const found = lists.flat().map((one) => `${at(one, 'metadata', 'name')} ${at(one, 'metadata', 'resourceVersion')}`);
  return [...found, ...namesOf((await client.list(ptxPath())).items)];
}

t.test('an idle set of Packages writes nothing, however often the hooks are called', async (t) => {
  const running = async (): Promise<readonly string[]> =>
    (await client.list(ptxPath())).items
      .filter(
        (one) =>
          !['Succeeded', 'Failed'].includes(textAt(one, 'status', 'phase') ?? '') || textAt(one, 'metadata', 'deletionTimestamp'),
      )
      .map((one) => textAt(one, 'metadata', 'name') ?? '');
  await waitFor(async () => (await running()).length === 0, 'all package transactions to rest', { timeoutMs: 300_000 });
  const packages = (await client.list(packagePath('providers'))).items.filter(
    (one) => textAt(one, 'metadata', 'annotations', annotation) === 'true',
  );
  t.ok(packages.length > 10, `${packages.length} Packages`);
  const [before, count] = [await versions(), writes.length];
  const former = loops.calls().length;
  await loops.restart();
  const calls = (): readonly string[] => loops.calls().slice(former);
  await waitFor(
    () => packages.every((one) => calls().includes(`/sync ${textAt(one, 'metadata', 'name')}`)),
    'a call for each Package',
  );
  t.same(await versions(), before);
  t.equal(writes.length, count);
});

const policy = (await client.get(mutatingPolicies)).code === 200;

t.test('the policy pauses a Package from its creation on, and keeps it paused', { skip: !policy }, async (t) => {
  for (const object of await readManifest('packages/own/beside/admission-paused.yaml')) must(await applyObject(client, object));
  const probe = (annotations?: JsonObject): JsonObject => ({
    ...{ apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', spec: { package: `${source('plain')}:v1.0.0` } },
    metadata: { name: 'paused-probe', ...(annotations === undefined ? {} : { annotations }) },
  });
  const path = packagePath('providers');
  const pausedOf = (object: JsonObject): string | undefined => textAt(object, 'metadata', 'annotations', 'crossplane.io/paused');
  const own = { [annotation]: 'true' };
  await waitFor(
    async () => pausedOf(must(await client.create(path, probe(own), { dryRun: 'All' }))) === 'true',
    'the policy to be in force',
  );
  t.equal(pausedOf(must(await client.create(path, probe(), { dryRun: 'All' }))), undefined, 'not one without the annotation');
  t.equal(pausedOf(must(await account.create(path, probe(own), { dryRun: 'All' }))), undefined, 'not what the hook writes');
  const live = packagePath('providers', 'many1');
  t.equal(pausedOf(must(await client.patch(live, { metadata: { labels: { any: 'update' } } }))), 'true', 'an update');
  const unpaused = { metadata: { annotations: { 'crossplane.io/paused': null } } };
  t.equal(pausedOf(must(await client.patch(live, unpaused))), 'true', 'the policy keeps it paused');
  t.equal(pausedOf(must(await account.patch(live, unpaused))), undefined, 'but an undo may');
});

/** `npm run packages -- leave`: its exit code, and what it said. */
async function leave(): Promise<{ readonly code: number; readonly said: string }> {
  const said: string[] = [];
  const terminal = { out: (text: string) => said.push(text), error: (text: string) => said.push(text) };
  const code = await runPackages(['leave', '--kubeconfig', plane.kubeconfig], terminal);
  return { code, said: said.join('') };
}

t.test('npm run packages -- leave: it is refused while a Package is being deleted, and says what to do', async (t) => {
  const object = { apiVersion: `${group}/v1beta1`, kind: 'Many4', metadata: { name: 'mine' } };
  must(await client.create(`/apis/${group}/v1beta1/many4s`, object));
  must(await client.delete(packagePath('providers', 'many4')));
  await until('many4', 'True/ResourcesInUse');
  const before = await Promise.all(['many1', 'many4'].map((name) => read(name)));
  const { code, said } = await leave();
  t.equal(code, 1);
  t.equal(
    said,
    `Provider many4 is being deleted: wait until it is gone, or annotate it with ${annotation}=false first\n`,
    'it says nothing else',
  );
  const finalizersOf = (objects: readonly JsonObject[]) => objects.map((one) => listAt(one, 'metadata', 'finalizers'));
  t.same(finalizersOf(await Promise.all(['many1', 'many4'].map((name) => read(name)))), finalizersOf(before));
  must(await client.patch(packagePath('providers', 'many4'), { metadata: { annotations: { [annotation]: 'false' } } }));
  await waitFor(() => isGone('many4'), 'it to go without its Delete');
  t.equal((await client.get(`/apis/${group}/v1beta1/many4s/mine`)).code, 200, 'what it installed stays');
});

t.test('npm run packages -- leave: no finalizer and no annotation is left, and all stays installed', async (t) => {
  const before = await locked();
  const { code, said } = await leave();
  t.equal(code, 0, said);
  t.match(said, /Provider many1: finalizer and annotation are removed/);
  const lists = await Promise.all(['providers', 'configurations', 'functions'].map((one) => client.list(packagePath(one))));
  const all = lists.flatMap(({ items }) => items);
  t.same(namesOf(all.filter((one) => listAt(one, 'metadata', 'finalizers').includes(ownFinalizer))), []);
  t.same(namesOf(all.filter((one) => textAt(one, 'metadata', 'annotations', annotation) !== undefined)), []);
  t.same(await locked(), before);
  if (policy) t.same((await client.list(mutatingPolicies)).items, []);
});
