// What ImageConfigs say about an image, and who must have signed it: pure, as tables.
import t from 'tap';
import { type ImageName, placeOf, readImageConfig } from '../../hooks/crossplane/model/image-config.ts';
import { readKeySelector } from '../../hooks/crossplane/model/key-selector.ts';
import { readAuthorities } from '../../hooks/crossplane/model/signing-authority.ts';
import type { JsonObject } from '../../hooks/objects/json.ts';

const config = (name: string, prefixes: string | readonly string[], spec: JsonObject): JsonObject => ({
  metadata: { name },
  spec: { matchImages: [prefixes].flat().map((prefix) => ({ type: 'Prefix', prefix })), ...spec },
});
const rewrite = (prefix: string): JsonObject => ({ rewriteImage: { prefix } });
const secret = (name: string): JsonObject => ({ registry: { authentication: { pullSecretRef: { name } } } });
const verified: JsonObject = { verification: { provider: 'Cosign' } };

const registry = 'registry.example.org';
const source = `${registry}/acme/s3`;
const digest = `sha256:${'a'.repeat(64)}`;
const other = `sha256:${'b'.repeat(64)}`;
const image = { source, version: 'v1.0.0' };
const place = (configs: readonly JsonObject[], one: ImageName = image) => placeOf(one, configs.map(readImageConfig));

type Row = readonly [what: string, configs: readonly JsonObject[], expected: object, image?: ImageName];

const rows: readonly Row[] = [
  ['no ImageConfig', [], { source, version: 'v1.0.0', applied: [], isNamed: false }],
  ['another prefix', [config('a', 'other.example.org/', secret('one'))], { pullSecret: undefined, applied: [] }],
  ['an empty prefix matches nothing', [config('a', '', secret('one'))], { pullSecret: undefined, applied: [] }],
  [
    'the longest prefix counts',
    [
      config('a', registry, secret('one')),
      config('b', `${registry}/acme/`, secret('two')),
      config('c', `${registry}/`, secret('three')),
    ],
    { pullSecret: { config: 'b', name: 'two' }, applied: [{ name: 'b', reason: 'SetImagePullSecret' }], isNamed: true },
  ],
  [
    'the longest prefix of several in one ImageConfig',
    [config('a', [registry, source], secret('one')), config('b', `${registry}/acme`, secret('two'))],
    { pullSecret: { config: 'a', name: 'one' } },
  ],
  [
    'a prefix may end within a name, as in Crossplane',
    [config('a', `${registry}/acme/s`, secret('one'))],
    { pullSecret: { config: 'a', name: 'one' } },
  ],
  [
    'for each setting the longest prefix among the ImageConfigs that have it',
    [config('a', registry, { ...secret('one'), ...verified }), config('b', source, secret('two'))],
    {
      pullSecret: { config: 'b', name: 'two' },
      verification: { config: 'a', spec: { provider: 'Cosign' } },
      applied: [
        { name: 'b', reason: 'SetImagePullSecret' },
        { name: 'a', reason: 'VerifyImage' },
      ],
    },
  ],
  [
    'a pull secret without a name is none',
    [config('a', source, secret('')), config('b', registry, secret('two'))],
    { pullSecret: { config: 'b', name: 'two' } },
  ],
  [
    'a rewritten image has pull secret and verification of its new name',
    [
      config('mirror', `${registry}/`, rewrite('mirror.corp.example/cache/')),
      config('before', registry, { ...secret('one'), ...verified }),
      config('after', 'mirror.corp.example', { ...secret('two'), ...verified }),
    ],
    {
      source: 'mirror.corp.example/cache/acme/s3',
      version: 'v1.0.0',
      pullSecret: { config: 'after', name: 'two' },
      applied: [
        { name: 'mirror', reason: 'RewriteImage' },
        { name: 'after', reason: 'SetImagePullSecret' },
        { name: 'after', reason: 'VerifyImage' },
      ],
      isNamed: true,
    },
  ],
  [
    'it is rewritten once',
    [config('there', registry, rewrite('mirror.corp.example')), config('back', 'mirror.corp.example', rewrite(registry))],
    { source: 'mirror.corp.example/acme/s3', applied: [{ name: 'there', reason: 'RewriteImage' }], isNamed: true },
  ],
  [
    'a repository without a version',
    [config('a', registry, rewrite('mirror.corp.example'))],
    { source: 'mirror.corp.example/acme/s3', version: undefined },
    { source },
  ],
  [
    'a digest',
    [config('a', registry, rewrite('mirror.corp.example'))],
    { source: 'mirror.corp.example/acme/s3', version: digest },
    { source, version: digest },
  ],
  [
    'a tag in a prefix',
    [config('a', `${source}:v1`, rewrite('mirror.corp.example/s3:v1'))],
    { source: 'mirror.corp.example/s3', version: 'v1.0.0' },
  ],
  [
    'a tag in a prefix, beside a digest',
    [config('a', `${source}:v1`, rewrite('mirror.corp.example/s3:v1'))],
    { source: 'mirror.corp.example/s3', version: digest },
    { source, version: digest, tag: 'v1.0.0' },
  ],
  [
    'a tag in a prefix says nothing of the repository',
    [config('a', `${source}:v1`, rewrite('mirror.corp.example/s3:v1'))],
    { source },
    { source },
  ],
  // The author of the package chose a part of the host.
  [
    'a host that the ImageConfig does not name whole',
    [config('a', 'registry.', rewrite('inner.'))],
    { source: 'inner.example.org/acme/s3', isNamed: false },
  ],
];

for (const [what, configs, expected, one] of rows)
  t.test(what, async (t) => {
    t.match(place(configs, one), expected);
    t.same(place(configs.toReversed(), one), place(configs, one), 'in any order');
  });

const faults: readonly (readonly [what: string, configs: readonly JsonObject[], fault: string, image?: ImageName])[] = [
  [
    'two ImageConfigs with one prefix',
    [config('b', source, secret('one')), config('a', source, secret('two'))],
    `${source}:v1.0.0: ImageConfigs "a" and "b" have the prefix "${source}" for a pull secret, expected one; remove the other`,
  ],
  [
    'two of one prefix that rewrite',
    [config('b', registry, rewrite('a.example')), config('a', registry, rewrite('b.example'))],
    `${source}:v1.0.0: ImageConfigs "a" and "b" have the prefix "${registry}" for rewriteImage, expected one; remove the other`,
  ],
  [
    'two of one prefix that verify',
    [config('b', registry, verified), config('a', registry, verified)],
    `${source}:v1.0.0: ImageConfigs "a" and "b" have the prefix "${registry}" for verification, expected one; remove the other`,
  ],
  [
    'one prefix twice in an ImageConfig',
    [config('a', [registry, registry], secret('one'))],
    `${source}:v1.0.0: ImageConfig "a" has the prefix "${registry}" twice, expected one; remove the other`,
  ],
  [
    'a rewrite onto itself',
    [config('a', `${registry}/acme`, rewrite(`${registry}/acme`))],
    `${source}:v1.0.0: ImageConfig "a" rewrites the image onto itself: change its rewriteImage.prefix`,
  ],
  [
    'a rewrite to no repository',
    [config('a', registry, rewrite('localhost'))],
    `${source}:v1.0.0: ImageConfig "a" rewrites the image to "localhost/acme/s3:v1.0.0", expected registry and repository; change its rewriteImage.prefix`,
  ],
  [
    'a rewrite without a prefix',
    [config('a', `${registry}/`, { rewriteImage: {} })],
    `${source}:v1.0.0: ImageConfig "a" rewrites the image to "acme/s3:v1.0.0", expected registry and repository; change its rewriteImage.prefix`,
  ],
  [
    'a rewrite that loses the version',
    [config('a', `${source}:v1.0.0`, rewrite('mirror.corp.example/s3'))],
    `${source}:v1.0.0: ImageConfig "a" rewrites the image to "mirror.corp.example/s3", expected registry and repository; change its rewriteImage.prefix`,
  ],
  [
    'a rewrite to another digest',
    [config('a', `${source}@${digest}`, rewrite(`mirror.corp.example/s3@${other}`))],
    `${source}@${digest}: ImageConfig "a" rewrites the image to another digest: change its rewriteImage.prefix`,
    { source, version: digest },
  ],
];

for (const [what, configs, fault, one] of faults)
  t.test(`refused: ${what}`, async (t) => {
    t.equal(place(configs, one), fault);
    t.equal(place(configs.toReversed(), one), fault, 'in any order');
  });

const key = { secretRef: { name: 'cosign', key: 'cosign.pub' } };
const issuer = 'https://accounts.example.org';
const cosign = (...authorities: readonly JsonObject[]): JsonObject => ({ provider: 'Cosign', cosign: { authorities } });

t.test('authorities as an ImageConfig names them', async (t) => {
  const keyless = {
    identities: [
      { issuer, subjectRegExp: '^https://' },
      { issuer: 'x', issuerRegExp: 'y' },
    ],
    insecureIgnoreSCT: true,
  };
  const attestations = [{ name: 'sbom', predicateType: 'spdxjson' }];
  t.same(
    readAuthorities(cosign({ name: 'key', key: { ...key, hashAlgorithm: ' SHA512' } }, { name: 'ci', keyless, attestations })),
    [
      { kind: 'key', name: 'key', attestations: [], hashAlgorithm: 'sha512', secret: key.secretRef },
      {
        kind: 'keyless',
        name: 'ci',
        attestations: ['spdxjson'],
        identities: [{ issuer: { text: issuer }, subject: { pattern: '^https://' } }, { issuer: { pattern: 'y' } }],
        ignoresTransparency: true,
      },
    ],
  );
});

const wrong: readonly (readonly [what: string, verification: JsonObject, fault: RegExp])[] = [
  ['another provider', { provider: 'Notary' }, /^verification\.provider: expected Cosign, found "Notary"$/],
  ['no authority', cosign(), /^verification\.cosign\.authorities: expected from 1 to 32 entries, found 0$/],
  ['no member cosign', { provider: 'Cosign' }, /expected from 1 to 32 entries, found 0$/],
  ['too many', cosign(...Array.from({ length: 33 }, () => ({ name: 'a', key }))), /found 33$/],
  ['neither key nor keyless', cosign({ name: 'a' }), /^authority "a": expected key or keyless, and not both$/],
  ['both', cosign({ name: 'a', key, keyless: { identities: [{ issuer }] } }), /expected key or keyless, and not both$/],
  ['another hash', cosign({ name: 'a', key: { ...key, hashAlgorithm: 'md5' } }), /expected sha256, sha384, sha512, found "md5"$/],
  [
    'no identity',
    cosign({ name: 'a', keyless: { identities: [] } }),
    /keyless\.identities: expected from 1 to 32 entries, found 0$/,
  ],
  // The public Sigstore certifies everybody.
  [
    'an identity that is everybody',
    cosign({ name: 'a', keyless: { identities: [{ issuer }, {}] } }),
    /expected issuer, issuerRegExp, subject or subjectRegExp in each$/,
  ],
];

for (const [what, verification, fault] of wrong)
  t.test(`no authority: ${what}`, async (t) => t.match(readAuthorities(verification), fault));

t.test('a key of a ConfigMap or a Secret', async (t) => {
  t.same(readKeySelector('ConfigMap/trust/ca.crt'), { kind: 'ConfigMap', name: 'trust', key: 'ca.crt' });
  t.same(readKeySelector('Secret/trust/trusted_root.json'), { kind: 'Secret', name: 'trust', key: 'trusted_root.json' });
  for (const text of [
    '',
    'trust/ca.crt',
    'Pod/a/b',
    'Secret/A/b',
    'Secret/a/b/c',
    'Secret/a/',
    'Secret//b',
    'Secret/../b',
    'Secret/a/b c',
  ])
    t.equal(readKeySelector(text), undefined, text);
});
