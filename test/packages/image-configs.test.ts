// ImageConfigs on a real API server and a real registry: images are read where they say, with the pull secrets that they name, and
// installed only if they are signed as they require. The Lock keeps the names that users wrote.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { runPackages } from '../../scripts/packages/run.ts';
import { must } from '../support/client.ts';
import { definitionPath, imageConfigPath, lockPath, packagePath, ptxPath, stagesPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld } from '../support/package-world.ts';
import { definitionOf, packageOf, providerYaml, push } from '../support/registry/builder.ts';
import { passOn } from '../support/registry/proxy.ts';
import { pushSigned } from '../support/registry/signatures.ts';
import { createSigstore, keyPair, keySigner, pemOf, signText } from '../support/sigstore.ts';

t.setTimeout(600_000);

const world = await startPackageWorld(t, {
  environment: { JANUS_PACKAGES_TRUSTED_ROOT: 'ConfigMap/sigstore/trusted_root.json' },
});
const { client, source, proxy } = world;
const namespace = '/api/v1/namespaces/janus-packages';
const sigstore = createSigstore();
const ours = keyPair();
const person = { subject: 'https://ci.example.org/release', issuer: 'https://accounts.example.org' };
must(
  await client.create(`${namespace}/configmaps`, {
    metadata: { name: 'sigstore' },
    data: { 'trusted_root.json': sigstore.trustedRoot },
  }),
);
const secret = (name: string, stringData: JsonObject, type = 'Opaque') =>
  client.create(`${namespace}/secrets`, { metadata: { name }, type, stringData });
must(await secret('cosign', { 'cosign.pub': pemOf(ours.publicKey) }));

/** ImageConfigs for the time of one test. */
async function withConfigs(t: Test, configs: Readonly<Record<string, JsonObject>>): Promise<void> {
  for (const [name, spec] of Object.entries(configs)) {
    const object = { apiVersion: 'pkg.crossplane.io/v1beta1', kind: 'ImageConfig', metadata: { name }, spec };
    must(await client.create(imageConfigPath, object));
    t.teardown(() => client.delete(`${imageConfigPath}/${name}`));
  }
}

const matching = (prefix: string) => ({ matchImages: [{ prefix }] });
const pulling = (name: string) => ({ registry: { authentication: { pullSecretRef: { name } } } });
const rewriting = (prefix: string) => ({ rewriteImage: { prefix } });
const verifying = (...authorities: readonly JsonObject[]) => ({
  verification: { provider: 'Cosign', cosign: { authorities } },
});
const byKey = { name: 'ours', key: { hashAlgorithm: 'sha256', secretRef: { name: 'cosign', key: 'cosign.pub' } } };
const byCi = { name: 'ci', keyless: { identities: [person] } };

/** Publishes at the registry's own repository, without a proxy. */
const repositoryOf = (name: string) => ({ origin: proxy.origin, repository: `acme/${name}` });
const entries = async (): Promise<readonly string[]> => {
  const packages = at(must(await client.get(lockPath)), 'packages');
  return (isList(packages) ? packages : []).map((one) => `${textAt(one, 'source')}:${textAt(one, 'version')}`);
};
const revisionOf = async (name: string, digest: string): Promise<JsonObject> =>
  must(await client.get(packagePath('providerrevisions', `${name}-${digest.slice(7, 19)}`)));

t.test('a mirror, and its pull secret, for a package and its dependencies', async (t) => {
  const canary = 'cAnaRy-5170';
  const auths = { [proxy.host]: { username: 'robot', password: canary } };
  must(await secret('mirror', { '.dockerconfigjson': JSON.stringify({ auths }) }, 'kubernetes.io/dockerconfigjson'));
  const written = 'registry.unknown.invalid/team';
  await withConfigs(t, {
    mirror: { ...matching('registry.unknown.invalid/team/'), ...rewriting(`${proxy.host}/acme/`) },
    login: { ...matching(`${proxy.host}/acme/mirrored`), ...pulling('mirror') },
  });
  const yaml = (name: string, requires = {}) => providerYaml(name, requires, [definitionOf('ones', `${name}.example.org`)]);
  const place = repositoryOf('mirrored-needed');
  const needed = await push({ ...place, tag: 'v1.0.0' }, await packageOf(yaml('mirrored-needed')));
  const requires = { [`${written}/mirrored-needed`]: '>=v1.0.0' };
  const root = await push({ ...repositoryOf('mirrored'), tag: 'v1.0.0' }, await packageOf(yaml('mirrored', requires)));
  const admitted = `Basic ${Buffer.from(`robot:${canary}`).toString('base64')}`;
  proxy.act((asked, answer) => {
    if (asked.headers.authorization === admitted) return false;
    answer.writeHead(401, { 'www-authenticate': 'Basic realm="tests"' }).end();
    return true;
  });
  await world.install('mirrored', `${written}/mirrored:v1.0.0`, { packageName: 'mirrored', retryLimit: 1 });
  const status = await world.finished('mirrored');
  proxy.act(passOn);
  t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
  t.same([...(await entries())].sort(), [`${written}/mirrored-needed:v1.0.0@${needed}`, `${written}/mirrored:v1.0.0@${root}`]);
  t.equal(textAt(must(await client.get(packagePath('providers', 'mirrored'))), 'spec', 'package'), `${written}/mirrored:v1.0.0`);
  const revision = await revisionOf('mirrored', root);
  t.equal(textAt(revision, 'spec', 'image'), `${written}/mirrored@${root}`);
  const refs = [
    { name: 'mirror', reason: 'RewriteImage' },
    { name: 'login', reason: 'SetImagePullSecret' },
  ];
  const noted = textAt(revision, 'metadata', 'annotations', 'packages.janus.io/image-configs') ?? '';
  t.same(JSON.parse(noted), { refs, resolved: `${proxy.host}/acme/mirrored@${root}` });
  for (const one of [revision, await revisionOf('team-mirrored-needed', needed)])
    t.same(at(one, 'status', 'appliedImageConfigRefs'), refs, 'only the hook writes the status of a revision');
  t.notMatch(JSON.stringify(await world.read('mirrored')), canary);
});

const signed = async (name: string, ...signers: readonly Parameters<typeof signText>[1][]): Promise<string> => {
  const digest = await world.publish({ name, tag: 'v1.0.0', objects: [definitionOf('ones', `${name}.example.org`)] });
  if (signers.length > 0)
    await pushSigned(
      { ...repositoryOf(name), digest },
      signers.map((signer) => signText(digest, signer)),
    );
  return digest;
};

t.test('signed packages are installed: by a key, by a certificate', async (t) => {
  await withConfigs(t, {
    key: { ...matching(source('signed-by-key')), ...verifying(byKey) },
    ci: { ...matching(source('signed-by-ci')), ...verifying(byKey, byCi) },
  });
  for (const [name, signer, config] of [
    ['signed-by-key', keySigner(ours), 'key'],
    ['signed-by-ci', sigstore.signer(person), 'ci'],
  ] as const) {
    const digest = await signed(name, signer);
    await world.install(name, `${source(name)}:v1.0.0`, { packageName: name, retryLimit: 1 });
    const status = await world.finished(name);
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    const noted = textAt(await revisionOf(name, digest), 'metadata', 'annotations', 'packages.janus.io/image-configs');
    t.match(JSON.parse(noted ?? ''), { refs: [{ name: config, reason: 'VerifyImage' }] });
  }
});

t.test('keyless: an update must be signed, too, and a renewed trusted root counts from the next try on', async (t) => {
  const name = 'signed-again';
  await withConfigs(t, { again: { ...matching(source(name)), ...verifying(byCi) } });
  const renewed = createSigstore();
  const installed = async (ptx: string, tag: string) => {
    await world.install(ptx, `${source(name)}:${tag}`, { packageName: name, retryLimit: 1 });
    return world.finished(ptx);
  };
  await signed(name, sigstore.signer(person));
  t.match(conditionIn(await installed('again-1', 'v1.0.0'), 'Ready'), { status: 'True' });
  const unsigned = providerYaml(name, {}, [definitionOf('twos', `${name}.example.org`)]);
  await push({ ...repositoryOf(name), tag: 'v1.1.0' }, await packageOf(unsigned));
  const refused = { status: 'False', reason: 'InvalidPackage', message: /ImageConfig "again" requires a signature/ };
  t.match(conditionIn(await installed('again-2', 'v1.1.0'), 'Validated'), refused);
  const digest = await push({ ...repositoryOf(name), tag: 'v1.2.0' }, await packageOf(unsigned));
  await pushSigned({ ...repositoryOf(name), digest }, [signText(digest, renewed.signer(person))]);
  t.match(conditionIn(await installed('again-3', 'v1.2.0'), 'Validated'), refused, 'its authority is not in the trusted root');
  const setRoot = async (root: string) =>
    must(await client.patch(`${namespace}/configmaps/sigstore`, { data: { 'trusted_root.json': root } }));
  await setRoot(renewed.trustedRoot);
  t.match(conditionIn(await installed('again-4', 'v1.2.0'), 'Ready'), { status: 'True' });
  await setRoot(sigstore.trustedRoot);
});

const canary = 'cAnaRy-6021';
must(await secret('no-login', { [canary]: canary }));
must(await secret('no-key', { 'cosign.pub': canary }));

interface Row {
  readonly what: string;
  readonly configs: (image: string) => Readonly<Record<string, JsonObject>>;
  readonly signer?: Parameters<typeof signText>[1];
  readonly message: RegExp;
}

const noKey = { name: 'ours', key: { hashAlgorithm: 'sha256', secretRef: { name: 'none', key: 'cosign.pub' } } };
const rows: readonly Row[] = [
  {
    what: 'two ImageConfigs with one prefix',
    configs: (image) => ({ one: { ...matching(image), ...pulling('a') }, two: { ...matching(image), ...pulling('b') } }),
    message: /ImageConfigs "one" and "two" have the prefix "\S+" for a pull secret, expected one; remove the other$/,
  },
  {
    what: 'an ImageConfig with one prefix twice',
    configs: (image) => ({ one: { matchImages: [{ prefix: image }, { prefix: image }], ...pulling('a') } }),
    message: /ImageConfig "one" has the prefix "\S+" twice, expected one; remove the other$/,
  },
  {
    what: 'a pull secret that does not exist',
    configs: (image) => ({ one: { ...matching(image), ...pulling('none') } }),
    message:
      /ImageConfig "one": expected a Secret "none" of type kubernetes\.io\/dockerconfigjson in namespace janus-packages, found none$/,
  },
  {
    what: 'a Secret that is no pull secret',
    configs: (image) => ({ one: { ...matching(image), ...pulling('no-login') } }),
    message: /ImageConfig "one": expected a Secret "no-login" .*, found one of another type$/,
  },
  {
    what: 'a rewrite onto itself',
    configs: (image) => ({ one: { ...matching(image), ...rewriting(image) } }),
    message: /ImageConfig "one" rewrites the image onto itself: change its rewriteImage\.prefix$/,
  },
  {
    what: 'an image without a signature',
    configs: (image) => ({ one: { ...matching(image), ...verifying(byKey) } }),
    message: /: ImageConfig "one" requires a signature of \S+: authority "ours": no valid signature$/,
  },
  {
    what: 'a signature by another key',
    configs: (image) => ({ one: { ...matching(image), ...verifying(byKey) } }),
    signer: keySigner(keyPair()),
    message:
      /: ImageConfig "one" requires a signature of \S+: authority "ours": no valid signature \(it is not valid: SIGNATURE_ERROR\)$/,
  },
  {
    what: 'a signature by another identity',
    configs: (image) => ({ one: { ...matching(image), ...verifying(byCi) } }),
    signer: sigstore.signer({ ...person, subject: 'https://evil.example.org' }),
    message:
      /authority "ci": no valid signature \(it is by https:\/\/evil\.example\.org, whom https:\/\/accounts\.example\.org has named\)$/,
  },
  {
    what: 'a certificate from an authority that the trusted root does not have',
    configs: (image) => ({ one: { ...matching(image), ...verifying(byCi) } }),
    signer: createSigstore().signer(person),
    message: /authority "ci": no valid signature \(it is not valid: [A-Z_]+\)$/,
  },
  {
    what: 'a Secret of a key that does not exist',
    configs: (image) => ({ one: { ...matching(image), ...verifying(noKey) } }),
    message:
      /ImageConfig "one": authority "ours": expected a Secret "none" with the key "cosign\.pub" in namespace janus-packages, found none$/,
  },
  {
    what: 'a Secret without a key in it',
    configs: (image) => ({
      one: {
        ...matching(image),
        ...verifying({ ...byKey, key: { ...byKey.key, secretRef: { name: 'no-key', key: 'cosign.pub' } } }),
      },
    }),
    message: /authority "ours": its key is no public key in PEM, of the type EC or RSA$/,
  },
];

t.test('`npm run packages -- resolve` reads images where ImageConfigs say, and refuses those that are not signed', async (t) => {
  const directory = t.testdir();
  const written = 'registry.unknown.invalid/team';
  const digest = await signed('inspected', sigstore.signer(person));
  await signed('inspected-needs', keySigner(keyPair()));
  await withConfigs(t, {
    mirror: { ...matching('registry.unknown.invalid/team/'), ...rewriting(`${proxy.host}/acme/`) },
    ci: { ...matching(`${proxy.host}/acme/inspected`), ...verifying(byCi) },
  });
  const resolve = async (name: string, ...more: readonly string[]) => {
    const file = join(directory, `${name}.json`);
    const spec = { package: `${written}/${name}:v1.0.0` };
    writeFileSync(file, JSON.stringify({ apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', metadata: { name }, spec }));
    const said = { out: '', error: '' };
    const cluster = ['--kubeconfig', world.plane.kubeconfig, '--namespace', 'janus-packages'];
    const code = await runPackages(['resolve', file, ...cluster, '--cache', join(directory, 'cache'), ...more], {
      out: (text) => (said.out += text),
      error: (text) => (said.error += text),
    });
    return { code, ...said };
  };
  const root = ['--trusted-root', 'ConfigMap/sigstore/trusted_root.json'];
  const found = await resolve('inspected', ...root);
  t.match(found, { code: 0, error: '' }, found.out);
  t.ok(found.out.startsWith(`${written}/inspected v1.0.0@${digest} (root)`), found.out);
  t.match(await resolve('inspected-needs', ...root), {
    code: 1,
    out: /^Refused: InvalidPackage: registry\.unknown\.invalid\/team\/inspected-needs:v1\.0\.0: ImageConfig "ci" requires a signature of \S+: /,
  });
  t.match(await resolve('inspected'), { code: 1, out: /keyless requires a trusted root, found none/ });
  t.match(await resolve('inspected', '--trusted-root', 'Secret/none/key'), { code: 1, out: /Secret\/none\/key .*found none/ });
  t.match(await resolve('inspected', '--authority', 'ConfigMap/none/ca.crt'), {
    code: 1,
    out: /ConfigMap\/none\/ca\.crt .*found none/,
  });
  t.match(await resolve('inspected', '--authority', 'ca.crt'), {
    code: 64,
    error: /--authority: expected ConfigMap\/NAME\/KEY or Secret\/NAME\/KEY, found "ca\.crt"/,
  });
});

let count = 0;
for (const { what, configs, signer, message } of rows)
  t.test(`refused before the first write: ${what}`, async (t) => {
    count += 1;
    const [name, dependent] = [`wrong-${count}`, `needs-wrong-${count}`];
    await signed(name, ...(signer === undefined ? [] : [signer]));
    await world.publish({ name: dependent, tag: 'v1.0.0', requires: { [name]: '>=v1.0.0' } });
    await withConfigs(t, configs(source(name)));
    for (const root of [name, dependent]) {
      await world.install(root, `${source(root)}:v1.0.0`, { packageName: root, retryLimit: 1 });
      const status = await world.finished(root);
      const validated = conditionIn(status, 'Validated');
      t.match(validated, { status: 'False', reason: 'InvalidPackage', message });
      t.ok(validated?.message?.startsWith(source(name)), 'the message names the image');
      t.notMatch(JSON.stringify(status), canary, 'no message has a secret');
      t.equal((await client.get(packagePath('providers', root))).code, 404);
      const labelSelector = `packages.janus.io/transaction-uid=${textAt(await world.read(root), 'metadata', 'uid')}`;
      for (const path of [stagesPath, `${namespace}/configmaps`]) t.same((await client.list(path, { labelSelector })).items, []);
    }
    t.equal((await client.get(definitionPath(`ones.${name}.example.org`))).code, 404);
    t.notOk((await entries()).some((one) => one.startsWith(source(name))));
    t.equal(must(await client.get(ptxPath(name))).kind, 'Transaction');
  });
