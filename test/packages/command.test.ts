// `npm run packages -- resolve`: whole trees from a real registry, against a folder and against a cluster.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { at, type JsonObject, parseJson } from '../../hooks/objects/json.ts';
import { runPackages } from '../../scripts/packages/run.ts';
import { kubeconfigOfSuite } from '../server/kubernetes/real.ts';
import { freeNamespace, must, waitFor } from '../support/client.ts';
import { connectToCluster, isEstablished } from '../support/install.ts';
import { definitionOf, packageOf, providerYaml, push } from '../support/registry/builder.ts';
import { startRegistry } from '../support/registry/process.ts';
import { answering, startProxy, where } from '../support/registry/proxy.ts';

const registry = await startRegistry(t);
const proxy = await startProxy(t, registry.origin);
const root = join(import.meta.dirname, '..', '..');

const source = (name: string): string => `${proxy.host}/acme/${name}`;

async function publish(
  name: string,
  tag: string,
  requires: Readonly<Record<string, string>> = {},
  objects: readonly object[] = [],
): Promise<string> {
  const needed = Object.fromEntries(Object.entries(requires).map(([one, range]) => [source(one), range]));
  return push({ origin: registry.origin, repository: `acme/${name}`, tag }, await packageOf(providerYaml(name, needed, objects)));
}

const group = `s3-${process.pid}.example.org`;
const bucket = (spec: object): object => definitionOf('buckets', group, spec);
const text1 = { type: 'object', properties: { region: { type: 'string' }, acl: { type: 'string' } } };
const digests = {
  family: await publish('provider-family-aws', 'v1.1.0'),
  old: await publish('provider-family-aws', 'v1.0.0'),
  s3: await publish('provider-aws-s3', 'v1.0.0', { 'provider-family-aws': '>=v1.1.0' }, [bucket(text1)]),
  s3next: await publish('provider-aws-s3', 'v2.0.0', { 'provider-family-aws': '>=v1.1.0' }, [
    bucket({ type: 'object', properties: { region: { type: 'string' } } }),
  ]),
  second: await publish('second', 'v1.0.0', { 'provider-aws-s3': 'v1.0.0' }, [bucket(text1)]),
  missing: await publish('missing', 'v1.0.0', { 'provider-family-aws': '>=v9.0.0' }),
  nowhere: await publish('nowhere', 'v1.0.0', { none: '>=v1.0.0' }),
  broken: await publish('broken', 'v1.0.0', {}, [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } }]),
};

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** In this process: a start of the program takes longer than what it does. */
async function run(...args: readonly string[]): Promise<Ran> {
  const said = { stdout: '', stderr: '' };
  const code = await runPackages(args, {
    out: (text) => (said.stdout += text),
    error: (text) => (said.stderr += text),
  });
  return { code, ...said };
}

/** As `npm run packages` does. */
async function start(...args: readonly string[]): Promise<Ran> {
  const child = spawn(process.execPath, [join(root, 'scripts', 'packages.ts'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr };
}

const directory = t.testdir();
const cache = ['--cache', join(directory, 'cache')];

function snapshot(name: string, tag: string, spec: JsonObject = {}): string {
  const file = join(directory, `${name}-${tag}-${Object.keys(spec).join('-')}.yaml`);
  const object = {
    apiVersion: 'pkg.crossplane.io/v1',
    kind: 'Provider',
    metadata: { name },
    spec: { package: `${source(name)}:${tag}`, novel: 9, ...spec },
  };
  writeFileSync(file, JSON.stringify(object));
  return file;
}

t.test('29, 35: the example, its tags as digests, dependencies first', async (t) => {
  const lock = join(directory, 'lock.yaml');
  const other = { name: 'gcp-1', source: 'registry.example.org/acme/provider-gcp-compute', version: 'v0.9.0', dependencies: [] };
  writeFileSync(lock, JSON.stringify({ apiVersion: 'pkg.crossplane.io/v1beta1', kind: 'Lock', packages: [other] }));
  const ran = await run('resolve', snapshot('provider-aws-s3', 'v1.0.0'), '--lock', lock, '--json', ...cache);
  t.equal(ran.code, 0, ran.stderr);
  const printed = parseJson(ran.stdout) as JsonObject;
  t.match(printed, {
    kind: 'resolved',
    packages: [
      {
        source: source('provider-family-aws'),
        tag: 'v1.1.0',
        digest: digests.family,
        change: 'added',
        demands: [{ package: 'provider-aws-s3', constraints: '>=v1.1.0' }],
      },
      { source: source('provider-aws-s3'), digest: digests.s3, change: 'root', objects: [{ kind: 'CustomResourceDefinition' }] },
    ],
    lock: [other, { version: `v1.1.0@${digests.family}` }, { version: `v1.0.0@${digests.s3}` }],
  });
  const people = await start('resolve', snapshot('provider-aws-s3', 'v1.0.0'), ...cache);
  t.equal(people.code, 0, people.stderr);
  t.match(
    people.stdout,
    /provider-family-aws v1\.1\.0@sha256:\w+ \(added\)\n {2}because provider-aws-s3 requires >=v1\.1\.0\n.*provider-aws-s3 v1\.0\.0/,
  );
  t.match(people.stdout, /2 of 2 packages change, dependencies first; the Lock then holds 2/);
});

t.test('the second run fetches no layer', async (t) => {
  const from = proxy.seen.length;
  t.equal((await run('resolve', snapshot('provider-aws-s3', 'v1.0.0'), ...cache)).code, 0);
  const asked = proxy.seen.slice(from);
  t.ok(asked.length > 0);
  t.same(
    asked.filter(({ path }) => path.includes('/blobs/')),
    [],
  );
});

t.test('the command prints a refusal', async (t) => {
  const printedFor = async (name: string, tag: string, ...more: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run('resolve', snapshot(name, tag), ...cache, ...more);
    t.equal(code, 1, `${name}: ${stdout}${stderr}`);
    return stdout;
  };
  t.match(
    await printedFor('missing', 'v1.0.0'),
    /^Refused: MissingDependency: Package missing requires provider-family-aws >=v9.0.0, but no compatible version found/,
  );
  t.match(await printedFor('nowhere', 'v1.0.0'), /^Refused: MissingDependency: .*has no version/);
  t.match(
    await printedFor('broken', 'v1.0.0'),
    new RegExp(`^Refused: InvalidPackage: ${source('broken')}@${digests.broken}: a Provider may not hold v1 Secret x`),
  );
  t.match(
    await printedFor('second', 'v1.0.0'),
    /^Refused: CRDConflict: Multiple packages install incompatible versions of CRD buckets/,
  );
  const crds = t.testdir({ 'bucket.yaml': JSON.stringify(bucket(text1)) });
  t.match(
    await printedFor('provider-aws-s3', 'v2.0.0', '--crds', crds),
    /^Refused: SchemaIncompatible: CRD buckets\.\S+ would break what is there: v1beta1 \.spec\.acl the field is gone/,
  );
});

t.test('15: against a cluster', async (t) => {
  const client = connectToCluster();
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  must(await client.create(path, bucket(text1) as JsonObject));
  t.teardown(async () => {
    await client.delete(`${path}/buckets.${group}`);
    await client.close();
  });
  const with2 = (tag: string) =>
    run('resolve', snapshot('provider-aws-s3', tag), '--kubeconfig', kubeconfigOfSuite(), '--json', ...cache);
  const same = await with2('v1.0.0');
  t.equal(same.code, 0, same.stdout + same.stderr);
  const read = async (): Promise<JsonObject> => must(await client.get(`${path}/buckets.${group}`));
  // The API server writes the conditions of a new CRD on its own, a second later on a busy machine.
  await waitFor(async () => isEstablished(await read()), 'the CRD to be established');
  const before = await read();
  const without = await with2('v2.0.0');
  t.match({ code: without.code, stdout: parseJson(without.stdout) }, { code: 0, stdout: { kind: 'resolved' } }, 'no instance');
  const instance = { apiVersion: `${group}/v1beta1`, kind: 'Bucket', metadata: { name: 'mine' }, spec: { acl: 'public' } };
  await waitFor(async () => (await client.create(`/apis/${group}/v1beta1/buckets`, instance)).code === 201, 'an instance');
  const broken = await with2('v2.0.0');
  t.equal(broken.code, 1);
  t.match(parseJson(broken.stdout), { kind: 'refused', faults: [{ reason: 'SchemaIncompatible', message: /mine/ }] });
  t.equal(at(await read(), 'metadata', 'resourceVersion'), at(before, 'metadata', 'resourceVersion'), 'nothing was written');
});

t.test('pull secrets of a cluster', async (t) => {
  const client = connectToCluster();
  t.teardown(() => client.close());
  const namespace = await freeNamespace(client, 'pull', t);
  const secrets = `/api/v1/namespaces/${namespace}/secrets`;
  const login = { auths: { [proxy.host]: { username: 'me', password: 'let-me-in' } } };
  const stringData = { '.dockerconfigjson': JSON.stringify(login) };
  must(await client.create(secrets, { metadata: { name: 'pull' }, type: 'kubernetes.io/dockerconfigjson', stringData }));
  must(await client.create(secrets, { metadata: { name: 'opaque' }, stringData: { password: 'let-me-in' } }));
  const known = `Basic ${Buffer.from('me:let-me-in').toString('base64')}`;
  proxy.act((asked, answer) => {
    if (asked.headers.authorization === known) return false;
    return answering(401, { 'www-authenticate': 'Basic realm="here"' })(asked, answer);
  });
  t.teardown(() => proxy.act(() => false));
  const resolveWith = (name: string, ...more: readonly string[]): Promise<Ran> =>
    run('resolve', snapshot('provider-family-aws', 'v1.1.0', { packagePullSecrets: [{ name }] }), '--json', ...cache, ...more);
  const cluster = ['--kubeconfig', kubeconfigOfSuite(), '--namespace', namespace];
  const ran = await resolveWith('pull', ...cluster);
  t.equal(ran.code, 0, ran.stdout + ran.stderr);
  t.match(parseJson(ran.stdout), { kind: 'resolved' });
  t.match(await resolveWith('pull'), { code: 2, stdout: /"denied"/ }, 'the command does not know the Secret without the cluster');
  for (const [name, found] of [
    ['opaque', 'a Secret of type Opaque'],
    ['absent', 'no such Secret'],
  ] as const) {
    const wrong = await resolveWith(name, ...cluster);
    t.match(wrong, { code: 64, stderr: new RegExp(`expected Secret ${namespace}/${name} of type \\S+, found ${found}`) });
    t.notMatch(wrong.stderr, /let-me-in/);
  }
});

t.test('the version of Crossplane that packages require', async (t) => {
  const range = '>=v1.20.0, <v2.0.0';
  const of = (name: string, requires: Readonly<Record<string, string>>, crossplane: string): string => {
    const [, meta = '', ...rest] = providerYaml(name, requires).split('---\n');
    const object = parseJson(meta) as JsonObject;
    const spec = { ...(object.spec as JsonObject), crossplane: { version: crossplane } };
    return ['', `${JSON.stringify({ ...object, spec })}\n`, ...rest].join('---\n');
  };
  const put = async (name: string, stream: string): Promise<string> =>
    push({ origin: registry.origin, repository: `acme/${name}`, tag: 'v1.0.0' }, await packageOf(stream));
  await put('below', of('below', {}, range));
  await put('above', of('above', { [source('below')]: '>=v1.0.0' }, '>=v1.0.0'));
  const on = (name: string, version: string, spec?: JsonObject): Promise<Ran> =>
    run('resolve', snapshot(name, 'v1.0.0', spec), ...cache, '--crossplane', version);
  t.match(await on('above', 'v1.20.1'), { code: 0 });
  t.match(await on('above', 'v1.19.0'), {
    code: 1,
    stdout: `Refused: VersionConflict: ${source('below')} requires Crossplane "${range}", but its version is v1.19.0\n`,
  });
  t.match(await on('below', 'v2.0.0'), { code: 1 });
  t.match(await on('below', 'v2.0.0', { ignoreCrossplaneConstraints: true }), { code: 0 });
  t.match(await on('above', 'v2.0.0', { ignoreCrossplaneConstraints: true }), { code: 1 }, 'of what it requires it is checked');
  t.match(await run('resolve', snapshot('above', 'v1.0.0'), ...cache), { code: 0 }, 'without a version nothing is checked');
  t.match(await on('above', 'v1'), { code: 64, stderr: /expected a version such as v1\.20\.0, found "v1"/ });
});

t.test('a registry that does not answer, a call that is wrong', async (t) => {
  proxy.act(where(/family/, answering(503)));
  const ran = await run('resolve', snapshot('provider-aws-s3', 'v1.0.0'), ...cache);
  t.match(ran, { code: 2, stdout: new RegExp(`^Failed: ${source('provider-family-aws')}: the registry answers 503`) });
  proxy.act(() => false);
  for (const args of [
    [],
    ['install', 'x'],
    ['resolve'],
    ['resolve', join(directory, 'none.yaml')],
    ['resolve', snapshot('x', 'v 1')],
    ['resolve', snapshot('a', 'v1'), '--crds', '.', '--kubeconfig', 'x'],
  ])
    t.match(await run(...args), { code: 64, stdout: '', stderr: /^packages: / }, args.join(' '));
  t.match(await start('install', 'x'), { code: 64, stdout: '', stderr: /^packages: expected: resolve FILE/ });
});
