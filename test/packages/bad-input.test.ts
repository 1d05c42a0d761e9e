// What people, registries and clusters get wrong, on the real API server: each ends with its reason, names what it is about, and leaves
// nothing behind.
import t, { type Test } from 'tap';
import { at, type Json, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { type Answer, must, waitFor } from '../support/client.ts';
import { startPackageAdmission } from '../support/package-admission.ts';
import { createDriver } from '../support/package-driver.ts';
import { definitionPath, lockPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { passOn, where } from '../support/registry/proxy.ts';

t.setTimeout(600_000);

const world = await startPackageWorld(t, { isByHand: true });
const { client, source, proxy } = world;
const driver = createDriver(t, world);
const crdOf = (name: string): JsonObject => definitionOf('ones', `${name}.example.org`) as JsonObject;

interface Row {
  readonly what: string;
  readonly objects: (name: string) => readonly object[];
  readonly before?: (name: string) => Promise<unknown>;
  readonly kind?: string;
  readonly reason: string;
  readonly message: RegExp;
  /** It can never be right, so it is not tried again. */
  readonly isFinal?: boolean;
}

const rows: readonly Row[] = [
  {
    what: 'a kind other than the package’s own',
    objects: () => [],
    kind: 'Configuration',
    reason: 'InvalidPackage',
    message: /is a Provider, expected a Configuration/,
    isFinal: true,
  },
  {
    what: 'a CRD that the API server refuses',
    objects: (name) => [withPath(crdOf(name), ['spec', 'names', 'plural'], 'others')],
    reason: 'DryRunFailed',
    message: /^ones\.\S+\.example\.org: .*metadata\.name/,
  },
  ...['a/b', '..', 'a%2fb'].map(
    (odd): Row => ({
      what: `a CRD of the name ${odd}, which no object can have`,
      objects: (name) => [withPath(crdOf(name), ['metadata', 'name'], odd)],
      reason: 'DryRunFailed',
      message: /: no object can have this name/,
    }),
  ),
  {
    what: 'a CRD that somebody else controls',
    objects: (name) => [crdOf(name)],
    before: async (name) => {
      const owner = must(await client.get('/api/v1/namespaces/default'));
      const reference = { apiVersion: 'v1', kind: 'Namespace', name: 'default', uid: textAt(owner, 'metadata', 'uid') ?? '' };
      const owned = withPath(crdOf(name), ['metadata', 'ownerReferences'], [{ ...reference, controller: true }]);
      must(await client.create(definitionPath(), owned));
    },
    reason: 'CRDConflict',
    message: /^CRD ones\.\S+\.example\.org is controlled by .*default/,
  },
  {
    what: 'a CRD that is being deleted',
    objects: (name) => [crdOf(name)],
    before: async (name) => {
      must(await client.create(definitionPath(), withPath(crdOf(name), ['metadata', 'finalizers'], ['example.org/held'])));
      must(await client.delete(definitionPath(`ones.${name}.example.org`)));
    },
    reason: 'DryRunFailed',
    message: /^CustomResourceDefinition "ones\.\S+\.example\.org" is being deleted: wait until it is gone$/,
  },
  ...['tx.janus.io', 'pkg.crossplane.io', 'metacontroller.k8s.io'].map(
    (group): Row => ({
      what: `a CRD of the group ${group}`,
      objects: () => [definitionOf('things', group)],
      reason: 'CRDConflict',
      message: new RegExp(`"things\\.${group}" belongs to a group of what installs packages`),
    }),
  ),
  {
    what: 'a ManagedResourceDefinition where the kind is not served',
    objects: () => [
      { apiVersion: 'apiextensions.crossplane.io/v1alpha1', kind: 'ManagedResourceDefinition', metadata: { name: 'one' } },
    ],
    reason: 'InvalidPackage',
    message: /the cluster does not serve "apiextensions\.crossplane\.io\/v1alpha1"/,
  },
];

/** Nothing of the package is in the cluster, and the Lock is free and does not name it. */
async function nothingOf(t: Test, name: string): Promise<void> {
  const lock = await client.get(lockPath);
  t.notOk(JSON.stringify(lock.body).includes(source(name)), `${name}: not in the Lock`);
  t.notOk(JSON.stringify(lock.body).includes(`"${name}"`), `${name}: does not hold the Lock`);
  t.equal((await client.get(packagePath('providers', name))).code, 404, `${name}: no Provider`);
}

let count = 0;
const freeName = (): string => {
  count += 1;
  return `bad-${count}`;
};

// The first test: no other one has moved the time that the processes see.
t.test('a cluster that cannot answer, such as by a webhook that is down, ends the try after ten minutes', async (t) => {
  const name = freeName();
  const admission = await startPackageAdmission(client, t);
  admission.decide(({ resource }) => (resource === 'locks' ? undefined : { code: 500, message: 'the webhook is down' }));
  await world.publish({ name, tag: 'v1.0.0', objects: [crdOf(name)] });
  await world.install(name, `${source(name)}:v1.0.0`, { packageName: name, retryLimit: 1 });
  for (let phase = ''; phase !== 'Validating'; ) phase = textAt(statusOf(await driver.step(name)), 'phase') ?? '';
  const status = statusOf(await driver.step(name));
  t.match(conditionIn(status, 'Synced'), { status: 'False', message: /the webhook is down/ });
  t.match(status, { phase: 'Validating', failures: 0 });
  const began = new Date(Date.now() - 601_000).toISOString();
  must(await client.update(`${ptxPath(name)}/status`, withPath(await world.read(name), ['status', 'tryTime'], began)));
  const ended = await driver.drive(name);
  t.match(ended, { failures: 1, outcome: { reason: 'Unavailable' } });
  t.match(conditionIn(ended, 'Synced'), { message: /^the cluster could not be read in time: .*the webhook is down/ });
  await nothingOf(t, name);
  admission.decide(() => undefined);
});

for (const { what, objects, before, kind, reason, message, isFinal = false } of rows)
  t.test(what, async (t) => {
    const name = freeName();
    await world.publish({ name, tag: 'v1.0.0', objects: objects(name) });
    await before?.(name);
    const options = { packageName: name, retryLimit: isFinal ? 5 : 1, ...(kind === undefined ? {} : { kind }) };
    await world.install(name, `${source(name)}:v1.0.0`, options);
    const status = await driver.drive(name);
    t.match(conditionIn(status, 'Validated'), { status: 'False', reason, message });
    t.match(conditionIn(status, 'Finished'), { status: 'True' });
    t.equal(at(status, 'failures'), 1);
    await nothingOf(t, name);
  });

t.test('a registry that refuses: FetchDenied, tried again, and the pull Secret is never named by its content', async (t) => {
  const canary = 'cAnaRy-9137';
  const auths = { [proxy.host]: { username: 'robot', password: canary } };
  const data = { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') };
  const secret = { metadata: { name: 'pull' }, type: 'kubernetes.io/dockerconfigjson', data };
  must(await client.create('/api/v1/namespaces/janus-packages/secrets', secret));
  for (const code of [401, 403]) {
    const name = freeName();
    await world.publish({ name, tag: 'v1.0.0' });
    proxy.act(({ url = '' }, answer) => {
      if (!url.includes(`/acme/${name}/`)) return false;
      answer.writeHead(code, code === 401 ? { 'www-authenticate': `Basic realm="${canary}"` } : {}).end(`no ${canary}`);
      return true;
    });
    const created = await client.create(ptxPath(), pulled(name));
    t.equal(created.code, 201, created.text);
    const status = await driver.drive(name);
    proxy.act(passOn);
    t.match(conditionIn(status, 'Validated')?.reason, 'FetchDenied', JSON.stringify(status));
    t.equal(at(status, 'failures'), 2, 'each of the two tries counts');
    const isAuthorized = proxy.seen.some(
      ({ path, authorization }) => path.includes(`/acme/${name}/`) && authorization !== undefined,
    );
    t.equal(isAuthorized, code === 401, 'the Secret is sent where the registry demands it');
    const secrets = [canary, Buffer.from(`robot:${canary}`).toString('base64')];
    for (const text of secrets) t.notOk(JSON.stringify(status).includes(text), `${code}: ${text}`);
    await nothingOf(t, name);
  }
});

t.test('a pull Secret that is not there, under a name that an object can have or not', async (t) => {
  for (const secret of ['missing', 'a/b', '']) {
    const name = freeName();
    await world.publish({ name, tag: 'v1.0.0' });
    must(await client.create(ptxPath(), pulled(name, secret)));
    const status = await driver.drive(name);
    t.match(conditionIn(status, 'Validated'), {
      reason: 'InvalidPackage',
      message: `packagePullSecrets: expected a Secret "${secret}" of type`,
    });
    t.match(conditionIn(status, 'Finished'), { status: 'True' });
    await nothingOf(t, name);
  }
});

/** A package transaction with two tries and a pull Secret. */
function pulled(name: string, secret = 'pull'): JsonObject {
  const spec = { package: `${source(name)}:v1.0.0`, packagePullSecrets: [{ name: secret }] };
  const wanted = { apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', metadata: { name }, spec };
  const metadata = { name };
  return {
    apiVersion: 'pkg.crossplane.io/v1alpha1',
    kind: 'Transaction',
    metadata,
    spec: { change: 'Install', install: { package: wanted }, retryLimit: 2 },
  };
}

t.test('a registry in trouble: Synced is False and names host and path; the try counts', async (t) => {
  for (const code of [404, 429, 500, 503]) {
    const name = freeName();
    await world.publish({ name, tag: 'v1.0.0' });
    proxy.act(({ url = '' }, answer) => {
      if (!url.includes(`/acme/${name}/`)) return false;
      answer.writeHead(code, code === 429 ? { 'retry-after': '1' } : {}).end();
      return true;
    });
    await world.install(name, `${source(name)}:v1.0.0`, { packageName: name, retryLimit: 1 });
    const status = await driver.drive(name);
    proxy.act(passOn);
    t.match(conditionIn(status, 'Synced'), {
      status: 'False',
      message: new RegExp(`${source(name)}|${proxy.host}.*/acme/${name}`),
    });
    t.equal(at(status, 'failures'), 1, `${code}`);
    await nothingOf(t, name);
  }
});

t.test('a registry that sends byte by byte: it is read without the Lock, which others take meanwhile', async (t) => {
  await world.publish({ name: 'slowly', tag: 'v1.0.0', objects: [crdOf('slowly')] });
  await world.publish({ name: 'quickly', tag: 'v1.0.0', objects: [crdOf('quickly')] });
  let isAsked = (): void => undefined;
  const asked = new Promise<void>((resolve) => (isAsked = resolve));
  proxy.act(
    where(/slowly\/blobs/, (_asked, answer) => {
      answer.writeHead(200, { 'content-length': '100000' });
      const more = setInterval(() => answer.write('x'), 100);
      answer.on('close', () => clearInterval(more));
      isAsked();
      return true;
    }),
  );
  await world.install('slowly', `${source('slowly')}:v1.0.0`, { packageName: 'slowly', retryLimit: 1 });
  const other = createDriver(t, world);
  const reading = driver.drive('slowly');
  await asked;
  const lock = must(await client.get(lockPath));
  t.equal(textAt(lock, 'metadata', 'annotations', 'pkg.crossplane.io/current-transaction'), undefined);
  await world.install('quickly', `${source('quickly')}:v1.0.0`, { packageName: 'quickly' });
  t.equal(conditionIn(await other.drive('quickly'), 'Ready')?.status, 'True');
  const status = await reading;
  proxy.act(passOn);
  t.match(conditionIn(status, 'Synced'), {
    reason: 'ReconcileError',
    message: new RegExp(`^${proxy.host}/v2/acme/slowly/blobs/sha256:[0-9a-f]+: sends fewer than 4096 bytes a second$`),
  });
  t.equal(at(status, 'transactionNumber'), undefined, 'it never had the Lock');
});

const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic';

/** Refuses to create these objects, unless as a dry run, in words that quote the object. */
async function refuseBut(name: string, rule: JsonObject, probe: () => Promise<Answer>): Promise<void> {
  const words = `'no \\u202E' + object.metadata.name + ' today'`;
  const spec = {
    failurePolicy: 'Fail',
    matchConstraints: { resourceRules: [{ ...rule, operations: ['CREATE'] }] },
    validations: [
      {
        expression: `!object.metadata.name.startsWith('${name}') || request.dryRun == true`,
        messageExpression: words,
      },
      { expression: "object.metadata.name != 'probes.probe.example.org'", message: 'it is in force' },
    ],
  };
  must(await client.create(`${policies}ies`, { metadata: { name }, spec }));
  must(
    await client.create(`${policies}ybindings`, { metadata: { name }, spec: { policyName: name, validationActions: ['Deny'] } }),
  );
  await waitFor(async () => (await probe()).text.includes('it is in force'), 'the policy to be in force');
}

t.test('a policy that refuses an object of a stage, and not its dry run: its words reach the condition', async (t) => {
  const probes = definitionOf('probes', 'probe.example.org') as JsonObject;
  const provider = {
    apiVersion: 'pkg.crossplane.io/v1',
    kind: 'Provider',
    metadata: { name: 'probes.probe.example.org' },
    spec: { package: source('policed') },
  };
  const rows = [
    {
      refused: 'ones.policed.example.org',
      rule: { apiGroups: ['apiextensions.k8s.io'], apiVersions: ['v1'], resources: ['customresourcedefinitions'] },
      probe: () => client.create(definitionPath(), probes, { dryRun: 'All' }),
      reason: 'CRDInstallationFailed',
      what: 'CRD ones.policed.example.org',
    },
    {
      refused: 'policed',
      rule: { apiGroups: ['pkg.crossplane.io'], apiVersions: ['v1'], resources: ['providers'] },
      probe: () => client.create(packagePath('providers'), provider, { dryRun: 'All' }),
      reason: 'InstallationFailed',
      what: 'Provider policed',
    },
  ];
  await world.publish({ name: 'policed', tag: 'v1.0.0', objects: [crdOf('policed')] });
  for (const { refused, rule, probe: isInForce, reason, what } of rows) {
    await refuseBut(refused, rule, isInForce);
    const name = `refused-${refused}`;
    await world.install(name, `${source('policed')}:v1.0.0`, { packageName: 'policed', retryLimit: 1 });
    const installed = conditionIn(await driver.drive(name), 'Installed');
    t.equal(installed?.reason, reason);
    t.match(installed?.message, `Failed to install ${what}: `);
    t.match(installed?.message, `no \\u{202e}${refused} today`);
    for (const path of [`${policies}ybindings/${refused}`, `${policies}ies/${refused}`]) must(await client.delete(path));
  }
});

t.test('the engine refuses a package transaction that was edited, or created without the policy', async (t) => {
  const name = freeName();
  await world.publish({ name, tag: 'v1.0.0' });
  await world.install(name, `${source(name)}:v1.0.0`, { packageName: name });
  const edited = await client.patch(ptxPath(name), { spec: { retryLimit: 2 } });
  t.match(edited, { code: 422, text: /spec is immutable: create another transaction with another name/ });
  const binding = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/spec.transactions.pkg.crossplane.io';
  must(await client.delete(binding));
  const bad = freeName();
  const malformed = async (): Promise<boolean> => {
    const answer = await client.create(ptxPath(), withPath(pulled(bad), [...reference], 'no-registry/one:v1'));
    return answer.code === 201;
  };
  await waitFor(malformed, 'the API server to have forgotten the policy');
  const status = await driver.drive(bad);
  t.match(conditionIn(status, 'Validated'), { status: 'False', reason: 'InvalidPackage', message: /registry/ });
  t.match(conditionIn(status, 'Finished'), { status: 'True' });
  t.equal(at(status, 'failures'), 1, 'final at once');
});
const reference = ['spec', 'install', 'package', 'spec', 'package'];

t.test('a holder on the Lock that no package transaction can be is gone', async (t) => {
  const annotations = { 'pkg.crossplane.io/current-transaction': 'a/b' };
  must(await client.patch(lockPath, { metadata: { annotations } }));
  const name = freeName();
  await world.publish({ name, tag: 'v1.0.0', objects: [crdOf(name)] });
  await world.install(name, `${source(name)}:v1.0.0`, { packageName: name });
  t.match(conditionIn(await driver.drive(name), 'Ready'), { status: 'True' });
});

/** Puts these packages into the Lock, with a member that we do not know. */
async function writeLock(packages: readonly Json[]): Promise<void> {
  const lock = must(await client.get(lockPath));
  const annotated = withPath(lock, ['metadata', 'annotations', 'example.org/theirs'], 'kept');
  must(await client.update(lockPath, { ...annotated, packages }));
}

t.test('the engine does not take a Lock with an unreadable next number; the wait ends when a user repairs it', async (t) => {
  const key = 'pkg.crossplane.io/next-transaction-number';
  const number = async (next?: string): Promise<string | undefined> => {
    const lock =
      next === undefined
        ? await client.get(lockPath)
        : await client.patch(lockPath, { metadata: { annotations: { [key]: next } } });
    return textAt(must(lock), 'metadata', 'annotations', key);
  };
  const next = await number();
  await number('seven');
  const name = freeName();
  await world.publish({ name, tag: 'v1.0.0', objects: [crdOf(name)] });
  await world.install(name, `${source(name)}:v1.0.0`, { packageName: name });
  for (let calls = 0; calls < 3; calls += 1) await driver.step(name);
  t.match(conditionIn(statusOf(await world.read(name)), 'Validated'), {
    reason: 'WaitingForLock',
    message: /found "seven": set it to one more/,
  });
  t.equal(await number(), 'seven');
  await nothingOf(t, name);
  await number(next);
  t.match(await driver.drive(name), { transactionNumber: Number(next) });
  t.equal(await number(), String(Number(next) + 1));
});

t.test(
  'a Lock with foreign members and unparsable versions works; the engine refuses one that names a source twice',
  async (t) => {
    const theirs: JsonObject = {
      name: 'theirs-1',
      apiVersion: 'pkg.crossplane.io/v1',
      kind: 'Provider',
      source: 'registry.example.org/acme/theirs',
      version: 'not-semantic',
      dependencies: [],
    };
    const packages = at(must(await client.get(lockPath)), 'packages') as readonly Json[];
    await writeLock([...packages, theirs]);
    const name = freeName();
    await world.publish({ name, tag: 'v1.0.0', objects: [crdOf(name)] });
    await world.install(name, `${source(name)}:v1.0.0`, { packageName: name });
    t.match(conditionIn(await driver.drive(name), 'Ready'), { status: 'True' });
    const after = must(await client.get(lockPath));
    t.same(
      (at(after, 'packages') as readonly JsonObject[]).find((one) => one.name === 'theirs-1'),
      theirs,
    );
    t.equal(textAt(after, 'metadata', 'annotations', 'example.org/theirs'), 'kept');
    await writeLock([...(at(after, 'packages') as readonly Json[]), { ...theirs, name: 'theirs-2' }]);
    const refused = freeName();
    await world.publish({ name: refused, tag: 'v1.0.0' });
    await world.install(refused, `${source(refused)}:v1.0.0`, { packageName: refused, retryLimit: 1 });
    const status = await driver.drive(refused);
    t.match(conditionIn(status, 'Validated'), {
      reason: 'InvalidPackage',
      message: /the Lock holds "registry\.example\.org\/acme\/theirs" twice; to remove the second entry: kubectl patch /,
    });
    t.match(statusOf(await world.read(refused)), { failures: 1 });
    await nothingOf(t, refused);
  },
);
