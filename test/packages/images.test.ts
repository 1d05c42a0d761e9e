// The registries of one call, as ImageConfigs say: which repository is read, with which pull secret, and what is asked about signatures.
// Cluster and registries are made up.
import t from 'tap';
import type { Opening } from '../../hooks/crossplane/call.ts';
import { imageOf, unsignedPackages } from '../../hooks/crossplane/observe/image-configs.ts';
import { type Images, openImages } from '../../hooks/crossplane/observe/images.ts';
import type { PackageReader } from '../../hooks/crossplane/observe/read.ts';
import type { SignedAnswer, SigningQuestion, VerifyingRegistry } from '../../hooks/crossplane/registry.ts';
import type { Changed } from '../../hooks/crossplane/writes/changed.ts';
import type { JsonObject } from '../../hooks/objects/json.ts';

const canary = 'cAnaRy-2608';
const [ours, mirror] = ['registry.example.org', 'mirror.corp.example'];
const [root, needed] = [`${ours}/acme/root`, `${ours}/acme/needed`];
const digest = `sha256:${'a'.repeat(64)}`;

const config = (name: string, prefix: string, spec: JsonObject): JsonObject => ({
  metadata: { name },
  spec: { matchImages: [{ prefix }], ...spec },
});
const secret = (name: string): JsonObject => ({ registry: { authentication: { pullSecretRef: { name } } } });
const rewrite = (prefix: string): JsonObject => ({ rewriteImage: { prefix } });
const key = { name: 'ours', key: { hashAlgorithm: 'sha256', secretRef: { name: 'cosign', key: 'cosign.pub' } } };
const verified = (...authorities: readonly JsonObject[]): JsonObject => ({
  verification: { provider: 'Cosign', cosign: { authorities } },
});
const encoded = (text: string): string => Buffer.from(text).toString('base64');

interface Scene {
  readonly configs?: readonly JsonObject[];
  /** Data of Secrets and ConfigMaps: \`KIND/NAME\`. */
  readonly data?: Readonly<Record<string, JsonObject>>;
  readonly isServed?: boolean;
  readonly answer?: SignedAnswer;
  readonly trustedRoot?: { readonly kind: 'ConfigMap' | 'Secret'; readonly name: string; readonly key: string };
  readonly authority?: { readonly kind: 'ConfigMap' | 'Secret'; readonly name: string; readonly key: string };
}

interface Opened {
  readonly images: Images;
  /** What registries were asked for: logins, and the request. */
  readonly asked: string[];
  readonly questions: SigningQuestion[];
  readonly openings: Opening[];
}

async function open({ configs = [], data = {}, isServed = true, answer = { kind: 'ok' }, ...set }: Scene): Promise<Opened> {
  const absent = { kind: 'failed', failure: { kind: 'absent', reason: 'NotFound' } };
  const cluster = {
    listMetadata: async () => (isServed ? { kind: 'ok', items: configs, complete: true, size: 1 } : absent),
    get: async ({ resource, name }: { resource: { kind: string }; name: string }) => {
      const found = data[`${resource.kind}/${name}`];
      return found === undefined ? absent : { kind: 'ok', object: { data: found } };
    },
  };
  const [asked, questions, openings]: [string[], SigningQuestion[], Opening[]] = [[], [], []];
  const registry = (opening: Opening): VerifyingRegistry => {
    openings.push(opening);
    const logins = [opening.configured, ...opening.pullSecrets].filter((one) => one !== undefined).join('+');
    const noted = <Answer>(what: string, given: Answer): Answer => {
      asked.push(`${what} (${logins})`);
      return given;
    };
    return {
      tags: async (source) => noted(`tags ${source}`, { kind: 'ok', tags: ['v1.0.0'] }),
      digest: async ({ source, version }) => noted(`digest ${source} ${version}`, { kind: 'ok', digest }),
      read: async (source, read) => noted(`read ${source} ${read}`, { kind: 'ok' }),
      signed: async (question) => {
        questions.push(question);
        return answer;
      },
    };
  };
  const images = await openImages({
    reader: { cluster, namespace: 'janus-packages' } as unknown as PackageReader,
    ...{ open: registry, root, pullSecrets: ['of the package'], left: () => 999.5 },
    ...{ authority: undefined, trustedRoot: undefined, ...set },
  });
  if ('reason' in images) throw new Error(images.message);
  return { images, asked, questions, openings };
}

const login = (text: string): JsonObject => ({ '.dockerconfigjson': encoded(text) });
const read = async ({ images }: Opened, source: string): Promise<void> => {
  await images.tags(source);
  await images.digest({ source, version: 'v1.0.0' });
  await images.read(source, digest, () => undefined);
};

t.test('without ImageConfigs, and without their kind, the pull secrets of the package count for the package alone', async (t) => {
  for (const isServed of [true, false]) {
    const opened = await open({ isServed });
    await read(opened, root);
    await read(opened, needed);
    const requests = (source: string, logins: string) => [
      `tags ${source} (${logins})`,
      `digest ${source} v1.0.0 (${logins})`,
      `read ${source} ${digest} (${logins})`,
    ];
    t.same(opened.asked, [...requests(root, 'of the package'), ...requests(needed, '')]);
    t.equal(opened.openings.length, 2, 'each registry is opened once');
    t.ok(
      opened.openings.every(({ deadline }) => deadline === 1_000),
      'for what is left of the call, in whole ms',
    );
    t.same(opened.images.applied({ source: root, version: 'v1.0.0' }), { refs: [], resolved: `${root}:v1.0.0` });
  }
});

t.test('an ImageConfig comes before the package, and rewrites each request', async (t) => {
  const opened = await open({
    configs: [config('cache', ours, rewrite(`${mirror}/cache`)), config('login', `${mirror}/`, secret('pull'))],
    data: { 'Secret/pull': login('of the ImageConfig') },
  });
  await read(opened, root);
  await read(opened, needed);
  const both = 'of the ImageConfig+of the package';
  t.same(opened.asked, [
    `tags ${mirror}/cache/acme/root (${both})`,
    `digest ${mirror}/cache/acme/root v1.0.0 (${both})`,
    `read ${mirror}/cache/acme/root ${digest} (${both})`,
    `tags ${mirror}/cache/acme/needed (of the ImageConfig)`,
    `digest ${mirror}/cache/acme/needed v1.0.0 (of the ImageConfig)`,
    `read ${mirror}/cache/acme/needed ${digest} (of the ImageConfig)`,
  ]);
  t.ok(
    opened.openings.every(({ isNamed }) => isNamed),
    'the administrator has named the registry',
  );
  t.same(opened.images.applied({ source: needed, version: digest }), {
    refs: [
      { name: 'cache', reason: 'RewriteImage' },
      { name: 'login', reason: 'SetImagePullSecret' },
    ],
    resolved: `${mirror}/cache/acme/needed@${digest}`,
  });
});

t.test('the hook reads a digest from the registry of its tag', async (t) => {
  const opened = await open({ configs: [config('one', `${root}:v1.0.0`, rewrite(`${mirror}/root:v1.0.0`))] });
  await opened.images.digest({ source: root, version: 'v1.0.0' });
  await opened.images.read(root, digest, () => undefined);
  t.same(
    opened.asked.map((one) => one.split(' ').slice(0, 2).join(' ')),
    [`digest ${mirror}/root`, `read ${mirror}/root`],
  );
  const later = await open({ configs: [config('one', `${root}:v1.0.0`, rewrite(`${mirror}/root:v1.0.0`))] });
  later.images.remember({ source: root, version: digest, tag: 'v1.0.0' });
  await later.images.read(root, digest, () => undefined);
  t.match(later.asked, [`read ${mirror}/root ${digest}`], 'also in a later call');
});

t.test('an ImageConfig with a fault fails each request, and names itself', async (t) => {
  for (const [configs, data, message] of [
    [
      [config('a', ours, secret('none'))],
      {},
      /^\S+: ImageConfig "a": expected a Secret "none" of type kubernetes\.io\/dockerconfigjson in namespace janus-packages, found none$/,
    ],
    [
      [config('a', ours, secret('other'))],
      { 'Secret/other': { [canary]: encoded(canary) } },
      /ImageConfig "a": expected a Secret "other" .* found one of another type$/,
    ],
    [[config('a', ours, secret('x')), config('b', ours, secret('y'))], {}, /ImageConfigs "a" and "b" have the prefix/],
    [[config('a', ours, rewrite(ours))], {}, /ImageConfig "a" rewrites the image onto itself/],
  ] as const) {
    const { images, asked } = await open({ configs, data });
    for (const answer of [
      await images.tags(root),
      await images.digest({ source: root, version: 'v1.0.0' }),
      await images.read(root, digest, () => undefined),
    ]) {
      t.match(answer, { kind: 'failed', failure: { kind: 'invalid', message } });
      t.notMatch(JSON.stringify(answer), canary);
    }
    t.same(asked, [], 'no registry is asked');
  }
});

const changed = {
  source: root,
  digest,
  package: `${root}:v1.0.0`,
  name: 'root',
  kind: 'Provider',
  revision: 'root-a',
  isRoot: true,
} satisfies Changed;
const checked = async (scene: Scene) => {
  const opened = await open(scene);
  const progress = { has: () => false, add: () => undefined, notes: new Set<string>(), isOver: () => false };
  return { ...opened, found: await unsignedPackages(opened.images, [changed], progress) };
};
const publicKey = { 'Secret/cosign': { 'cosign.pub': encoded('PUBLIC KEY') } };

t.test('the name of an image has its tag, if the package has one', async (t) => {
  t.same(imageOf(changed), { source: root, version: digest, tag: 'v1.0.0' });
  t.same(imageOf({ ...changed, package: `${root}:v1.0.0@${digest}` }), { source: root, version: digest, tag: 'v1.0.0' });
  t.same(imageOf({ ...changed, package: `${root}@${digest}` }), { source: root, version: digest, tag: undefined });
});

t.test('an image that must be signed: the registry is asked with the keys, at its new place', async (t) => {
  const configs = [config('cache', ours, rewrite(mirror)), config('strict', mirror, verified(key))];
  const { found, questions } = await checked({ configs, data: publicKey });
  t.same(found, []);
  t.same(questions, [
    {
      source: `${mirror}/acme/root`,
      digest,
      authorities: [{ kind: 'key', name: 'ours', attestations: [], hashAlgorithm: 'sha256', publicKey: 'PUBLIC KEY' }],
      trustedRoot: undefined,
    },
  ]);
  t.same(
    (await checked({ configs: [config('strict', 'other.example.org', verified(key))] })).questions,
    [],
    'another image need not be',
  );
});

const keyless = { name: 'ci', keyless: { identities: [{ issuer: 'https://accounts.example.org' }] } };
const trustedRoot = { kind: 'ConfigMap', name: 'trust', key: 'trusted_root.json' } as const;

t.test('the trusted root is read if a certificate may have signed', async (t) => {
  const configs = [config('strict', ours, verified(keyless))];
  const { questions } = await checked({ configs, trustedRoot, data: { 'ConfigMap/trust': { 'trusted_root.json': '{"a":1}' } } });
  t.match(questions, [{ trustedRoot: '{"a":1}', authorities: [{ kind: 'keyless', name: 'ci' }] }]);
});

const refusals: readonly (readonly [what: string, scene: Scene, message: RegExp])[] = [
  [
    'no signature',
    { data: publicKey, answer: { kind: 'unsigned', why: ['authority "ours": no valid signature'] } },
    /^registry\.example\.org\/acme\/root:v1\.0\.0: ImageConfig "strict" requires a signature of registry\.example\.org\/acme\/root: authority "ours": no valid signature$/,
  ],
  [
    'a signature that cannot be read',
    { data: publicKey, answer: { kind: 'failed', failure: { kind: 'invalid', message: 'its key is none' } } },
    /ImageConfig "strict" requires a signature of \S+: its key is none$/,
  ],
  [
    'no Secret',
    {},
    /ImageConfig "strict": authority "ours": expected a Secret "cosign" with the key "cosign\.pub" in namespace janus-packages, found none$/,
  ],
  [
    'a Secret without the key',
    { data: { 'Secret/cosign': { other: encoded(canary) } } },
    /expected a Secret "cosign" with the key "cosign\.pub" in namespace janus-packages, found none$/,
  ],
  [
    'a verification that cannot be read',
    { configs: [config('strict', ours, { verification: { provider: 'Other' } })] },
    /ImageConfig "strict": verification\.provider: expected Cosign, found "Other"$/,
  ],
  [
    'an empty verification',
    { configs: [config('strict', ours, { verification: {} })] },
    /ImageConfig "strict": verification\.provider: expected Cosign/,
  ],
  [
    'no trusted root where one is set',
    { configs: [config('strict', ours, verified(keyless))], trustedRoot },
    /ImageConfig "strict": JANUS_PACKAGES_TRUSTED_ROOT: expected ConfigMap\/trust\/trusted_root\.json \(kind, name and key\) in namespace janus-packages, found none$/,
  ],
];

for (const [what, scene, message] of refusals)
  t.test(`refused: ${what}`, async (t) => {
    const { found } = await checked({ configs: [config('strict', ours, verified(key))], ...scene });
    t.match(found, [{ reason: 'InvalidPackage', message }]);
    t.notMatch(JSON.stringify(found), canary);
  });

t.test('a registry that does not answer is no refusal', async (t) => {
  const failure = { kind: 'unavailable', message: 'the registry answers 503' } as const;
  const { found } = await checked({
    configs: [config('strict', ours, verified(key))],
    data: publicKey,
    answer: { kind: 'failed', failure },
  });
  t.same(found, { kind: 'failed', failure });
});

t.test('the authority of registries is read in each call', async (t) => {
  const authority = { kind: 'Secret', name: 'trust', key: 'ca.crt' } as const;
  const { images, openings } = await open({ authority, data: { 'Secret/trust': { 'ca.crt': encoded('PEM') } } });
  await images.tags(root);
  t.match(openings, [{ authority: 'PEM' }]);
  await t.rejects(open({ authority }), {
    message:
      /^JANUS_PACKAGES_AUTHORITY: expected Secret\/trust\/ca\.crt \(kind, name and key\) in namespace janus-packages, found none$/,
  });
});
