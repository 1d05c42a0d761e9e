// What a package may be: each thing that is wrong with one, as a layer, a stream, a document or an object. No registry is needed:
// layers lie in files.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import t from 'tap';
import { brokenFault, isBroken, replacementFaults, sharedObjects } from '../../hooks/crossplane/checks/conflicts.ts';
import { inspect, installable } from '../../hooks/crossplane/checks/contents.ts';
import { finalFault, type PackageFault, packageFault } from '../../hooks/crossplane/model/fault.ts';
import { dnsLabel, packageName, revisionName } from '../../hooks/crossplane/model/names.ts';
import { readMeta } from '../../hooks/crossplane/model/package.ts';
import { readReference, readSource } from '../../hooks/crossplane/model/reference.ts';
import { compareWithLive, liveVersionOf } from '../../hooks/crossplane/observe/comparison.ts';
import type { TreePackage } from '../../hooks/crossplane/observe/tree.ts';
import type { Registry } from '../../hooks/crossplane/registry.ts';
import { at, type JsonObject, parseJson } from '../../hooks/objects/json.ts';
import { openInputs } from '../../scripts/packages/inputs.ts';
import { writeText } from '../../scripts/packages/outcome.ts';
import { readDocuments } from '../../server/registry/documents.ts';
import { packageStream } from '../../server/registry/layers.ts';
import { readManifest } from '../../server/registry/manifest.ts';
import { definitionOf, type File, providerYaml, tarOf } from '../support/registry/builder.ts';

type Tap = typeof t;

async function read(t: Pick<Tap, 'testdir'>, ...layers: readonly Buffer[]): Promise<readonly JsonObject[] | string> {
  const directory = t.testdir();
  const files = layers.map((_, index) => join(directory, `${index}`));
  for (const [index, file] of files.entries()) writeFileSync(file, layers[index] ?? '');
  const objects: JsonObject[] = [];
  try {
    await readDocuments(packageStream(files), (object) => objects.push(object), AbortSignal.timeout(120_000));
    return objects;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const good = providerYaml('good');
const file = (parts: Partial<File> = {}): File => ({ name: 'package.yaml', content: good, ...parts }) as File;
const long = `${'folder/'.repeat(40)}package.yaml`;

const tars: readonly (readonly [name: string, files: readonly File[], expected: RegExp | 'ok'])[] = [
  ['plain', [file()], 'ok'],
  ['a long name, by a PAX header', [file({ name: long })], 'ok'],
  [
    'other files beside it',
    [{ name: 'bin/', type: 'directory' } as File, file(), file({ name: 'bin/other', content: 'x' })],
    'ok',
  ],
  ['none', [file({ name: 'other.yaml' })], /holds no package.yaml/],
  ['two', [file(), file({ name: 'deeper/package.yaml' })], /holds 2 files package.yaml/],
  ['a repeated path', [file(), file()], /holds 2 files/],
  ['a symbolic link', [{ name: 'package.yaml', type: 'symlink', linkname: '/etc/passwd' } as File], /no plain file/],
  ['a hard link', [{ name: 'package.yaml', type: 'link', linkname: 'other' } as File], /no plain file/],
  ['a device', [{ name: 'package.yaml', type: 'character-device' } as File], /no plain file/],
  ['a sparse file', [file({ pax: { 'GNU.sparse.major': '1' } } as Partial<File>)], /no plain file/],
  ['an absolute path', [file({ name: '/package.yaml' })], /leads out of its layer/],
  ['a path upwards', [file({ name: 'a/../../package.yaml' })], /leads out of its layer/],
  [
    'too many files',
    Array.from({ length: 10_001 }, (_, index) => file({ name: `f${index}`, content: '' })),
    /more than 10000 files/,
  ],
];

for (const [name, files, expected] of tars)
  t.test(`tar: ${name}`, async (t) => {
    const tar = await tarOf(...files);
    for (const layer of [tar, gzipSync(tar), zstdCompressSync(tar)]) {
      const found = await read(t, layer);
      if (expected === 'ok') t.match(found, [{ metadata: { name: 'good' } }]);
      else t.match(found, expected);
    }
  });

const faultsIn = (found: ReturnType<typeof replacementFaults>): readonly PackageFault[] =>
  isBroken(found) ? [brokenFault(found)] : found;

t.test('the engine refuses a blob that is no layer', async (t) => {
  const tar = await tarOf(file({ content: good.padEnd(20_000, '\n') }));
  t.match(await read(t, gzipSync(tar).subarray(0, 100)), /neither gzip nor zstd, or is cut/);
  t.match(await read(t, zstdCompressSync(tar).subarray(0, 100)), /neither gzip nor zstd, or is cut/);
  t.match(await read(t, Buffer.concat([gzipSync(tar).subarray(0, 40), Buffer.alloc(60, 7)])), /neither gzip|not a tar/);
  t.match(await read(t, Buffer.alloc(2_048, 7)), /not a tar/);
  t.match(await read(t, tar.subarray(0, 5_000)), /not a tar, or is cut|holds no package.yaml/);
});

t.test('the engine refuses a zstd frame with a window of more than 8 MiB', async (t) => {
  const tar = await tarOf(file({ name: 'other', content: Buffer.alloc(20 * 1024 * 1024, '#') }), file());
  const params = { [constants.ZSTD_c_windowLog]: 24, [constants.ZSTD_c_contentSizeFlag]: 0 };
  t.match(await read(t, zstdCompressSync(tar, { params })), /needs a zstd window of more than 8388608 bytes/);
});

t.test('the engine refuses more than 64 MiB, in little memory', async (t) => {
  const zeros = Buffer.alloc(65 * 1024 * 1024, '#');
  const bomb = gzipSync(await tarOf(file({ name: 'other', content: zeros }), file()));
  t.ok(bomb.length < 1_000_000, 'it is small as it is sent');
  t.match(await read(t, bomb), /unpack to more than 67108864 bytes/);
  const dense = zstdCompressSync(await tarOf(file({ name: 'other', content: zeros }), file()));
  t.match(await read(t, dense), /unpack to more than 67108864 bytes/, 'by zstd');
  const half = gzipSync(await tarOf(file({ name: 'other', content: zeros.subarray(0, 40 * 1024 * 1024) })));
  t.match(await read(t, gzipSync(await tarOf(file())), half, half), /unpack to more than/, 'all layers count');
});

/** The header of a file with so many bytes. */
function blockOf(type: string, size: number): Buffer {
  const block = Buffer.alloc(512);
  block.write('name');
  block.write('0000644\0', 100);
  block.write(`${size.toString(8).padStart(11, '0')} `, 124);
  block.write('        ', 148);
  block.write(type, 156);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((all, byte) => all + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

function headerOf(type: string, records: string | Buffer): Buffer {
  const content = Buffer.from(records);
  return Buffer.concat([blockOf(type, content.length), content, Buffer.alloc(-content.length & 511)]);
}

/** A record of a PAX header begins with its own length. */
function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const length = rest.length + String(rest.length).length;
  return `${rest.length + String(length).length}${rest}`;
}

const manyKeys = Array.from({ length: 300_000 }, (_, index) => record(index.toString(36), '')).join('');

const hungry: readonly (readonly [name: string, tar: () => Buffer, expected: RegExp])[] = [
  [
    'a path of 30 000 levels',
    () => Buffer.concat([headerOf('x', record('path', `${'a/'.repeat(30_000)}package.yaml`)), blockOf('0', 0)]),
    /a path of more than 4096 characters/,
  ],
  [
    'a path with a way up after each of 500 000 levels',
    () => Buffer.concat([headerOf('x', record('path', `${'a'.repeat(1_000_000)}/${'b/../'.repeat(500_000)}c`)), blockOf('0', 0)]),
    /a path of more than 4096 characters/,
  ],
  [
    'a path of 65 levels',
    () => Buffer.concat([headerOf('x', record('path', `${'a/'.repeat(64)}package.yaml`)), blockOf('0', 0)]),
    /more than 64 levels deep/,
  ],
  [
    'a global header of 300 000 records before 10 000 headers',
    () => Buffer.concat([headerOf('g', manyKeys), ...Array.from({ length: 10_000 }, () => headerOf('x', record('a', 'b')))]),
    /more than 4194304 bytes of extended headers/,
  ],
];

for (const [name, tar, expected] of hungry)
  t.test(`in bounded memory and time: ${name}`, async (t) => {
    const layer = join(t.testdir(), 'layer');
    writeFileSync(layer, gzipSync(Buffer.concat([tar(), Buffer.alloc(1_024)])));
    const program = join(import.meta.dirname, 'reading.ts');
    const child = spawnSync(process.execPath, ['--max-old-space-size=192', program, layer], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    t.equal(child.status, 0, child.stderr);
    const { found, memory } = JSON.parse(child.stdout) as { found: string; memory: number };
    t.match(found, expected);
    t.ok(memory < 320, `${memory} MiB`);
  });

const nested = (levels: number): string => `a: ${'['.repeat(levels)}${']'.repeat(levels)}`;
const bomb = [
  'a: &a [x,x,x,x,x,x,x,x,x,x]',
  ...'bcdef'.split('').map((name, index) => `${name}: &${name} [${'*'}${'abcdef'[index]}${`,*${'abcdef'[index]}`.repeat(9)}]`),
].join('\n');

const streams: readonly (readonly [name: string, text: string | Buffer, expected: RegExp])[] = [
  ['no YAML', 'a: b: c', /not the YAML of objects: line 1/],
  ['a tab for a space', 'a:\n\t- b', /not the YAML of objects/],
  ['a list', '- a', /not an object/],
  ['a text', 'hello', /not an object/],
  ['not UTF-8', Buffer.from([0x61, 0x3a, 0x20, 0xff]), /not UTF-8/],
  ['200 levels', nested(200), /not the YAML of objects/],
  ['a million levels', nested(900_000), /not the YAML of objects/],
  ['an alias bomb', bomb, /more than 300000 values/],
  [
    'many small documents that aliases make large',
    `a: &a ${'x'.repeat(1_000)}\nb: [${'*a,'.repeat(1_500)}]\n---\n`.repeat(20),
    /4194304 characters/,
  ],
  ['an alias of what holds it', 'a: &a [*a]', /not the YAML|levels/],
  ['merges', 'a: &a {b: 1}\nc: {<<: *a}', /merges maps/],
  ['a key twice', 'a: 1\na: 2', /not the YAML|a key twice/],
  ['a key that is a list', '? [a]\n: 1', /key that is no text/],
  ['a number that JSON has not', 'a: .nan', /number that JSON has not/],
  ['a document too long', `a: ${'x'.repeat(3_000_000)}`, /more than 2097152 bytes/],
  ['lines too many', `a: |\n${'  x\n'.repeat(1_000_000)}`, /more than 2097152 bytes/],
  ['10 000 objects', 'a: 1\n---\n'.repeat(10_000), /more than 5000 objects/],
  ['a tag of another program', 'a: !!js/function "x"', /not the YAML of objects/],
];

for (const [name, text, expected] of streams)
  t.test(`stream: ${name}`, async (t) => {
    t.match(await read(t, await tarOf(file({ content: text }))), expected);
  });

t.test('a stream of separators is no package, and costs no more than its bound', async (t) => {
  const take = (): void => undefined;
  await readDocuments([Buffer.from('---\n'.repeat(19_000)), Buffer.from('a: 1\n')], take);
  let chunks = 0;
  function* bomb(): Generator<Uint8Array> {
    for (; chunks < 1_000; chunks += 1) yield Buffer.from('---\n'.repeat(10_000));
  }
  await t.rejects(readDocuments(bomb(), take), /more than 20000 documents/);
  t.ok(chunks <= 3, `${chunks} chunks were read`);
});

t.test('YAML that takes longer than the call ends with the call, however many wait', async (t) => {
  const document = `a: [${'{a: b},'.repeat(90_000)}]\n---\n`;
  const heavy = Buffer.from(document.repeat(60));
  const timed = async (work: Promise<unknown>): Promise<number> => {
    const started = performance.now();
    await work;
    return performance.now() - started;
  };
  const one = await timed(readDocuments([Buffer.from(document)], () => undefined, AbortSignal.timeout(600_000)));
  const signal = AbortSignal.timeout(700);
  const reading = Promise.allSettled([1, 2, 3].map(() => readDocuments([heavy], () => undefined, signal)));
  const took = await timed(reading);
  const ended = await reading;
  for (const one of ended) t.match(one, { status: 'rejected', reason: { failure: { kind: 'unavailable', message: /in time/ } } });
  // No layer was read to the end: that takes 180 times as long as one document.
  t.ok(took < 60 * one, `${Math.round(took)} ms, one document ${Math.round(one)} ms`);
  t.match(await read(t, await tarOf(file())), [{ metadata: { name: 'good' } }], 'and the next one is read');
});

t.test('values as Kubernetes reads them', async (t) => {
  const text = `---\n# nothing\n---\nlarge: 9223372036854775807\nsmall: -9223372036854775808\noctal: 0644\nhexa: 0x10\nyes: on\n"n": "y"\ntime: 2026-01-01\nclock: 1:30\nnone: ~\nfloat: 1.5\nproto: {__proto__: 1}\nsame: &s [1]\nagain: *s\n--- # end\n`;
  const [object] = (await read(t, await tarOf(file({ content: text })))) as readonly JsonObject[];
  const expected = `{"large":9223372036854775807,"small":-9223372036854775808,"octal":420,"hexa":16,"true":true,"n":"y","time":"2026-01-01","clock":"1:30","none":null,"float":1.5,"proto":{"__proto__":1},"same":[1],"again":[1]}`;
  t.equal(JSON.stringify(object), JSON.stringify(parseJson(expected)));
});

function inspected(...objects: readonly object[]): ReturnType<ReturnType<typeof inspect>['done']> {
  const inspection = inspect();
  for (const object of objects) inspection.take(object as JsonObject);
  return inspection.done();
}

const meta = (parts: object = {}) => ({
  apiVersion: 'meta.pkg.crossplane.io/v1',
  kind: 'Provider',
  metadata: { name: 'p' },
  ...parts,
});
const requires = (entry: object) => meta({ spec: { dependsOn: [entry] } });
const crd = definitionOf('buckets', 's3.example.org');
const source = 'registry.example.org/acme/b';

t.test('beside Crossplane a package may call webhooks; Crossplane makes their configurations', async (t) => {
  const inspection = inspect({});
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'w' },
  };
  for (const object of [meta(), { ...crd, spec: { conversion: { strategy: 'Webhook' } } }, configuration])
    inspection.take(object as JsonObject);
  const done = inspection.done();
  t.same(typeof done === 'string' ? done : done.objects.map(({ kind }) => kind), ['CustomResourceDefinition']);
});

const contents: readonly (readonly [name: string, objects: readonly object[], expected: RegExp | 'ok'])[] = [
  ['a Provider', [meta(), crd], 'ok'],
  ['an older meta', [meta({ apiVersion: 'meta.pkg.crossplane.io/v1alpha1' })], 'ok'],
  ['no meta', [crd], /expected one meta object of meta.pkg.crossplane.io, found 0/],
  ['two metas', [meta(), meta()], /found 2/],
  ['a meta of another version', [meta({ apiVersion: 'meta.pkg.crossplane.io/v9' })], /expected a meta object of kind/],
  ['a meta of another kind', [meta({ kind: 'Other' })], /expected a meta object of kind/],
  [
    'an object that is not allowed',
    [meta(), { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }],
    /a Provider may not hold v1 Secret s/,
  ],
  ['a CRD in a Configuration', [meta({ kind: 'Configuration' }), crd], /a Configuration may not hold/],
  ['a repeated object', [meta(), crd, crd], /CustomResourceDefinition buckets.s3.example.org is there twice/],
  ['an object without name', [meta(), { ...crd, metadata: {} }], /expected apiVersion, kind and metadata.name/],
  [
    'a conversion webhook',
    [meta(), { ...crd, spec: { conversion: { strategy: 'Webhook' } } }],
    /nothing serves it: .*; or set JANUS_PACKAGES_WEBHOOK_SECRET/,
  ],
  [
    'an admission webhook',
    [meta(), { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', metadata: { name: 'w' } }],
    /only Crossplane makes its configuration: run the package by Crossplane, and set JANUS_PACKAGES_CROSSPLANE=beside$/,
  ],
  ['a legacy dependency', [requires({ provider: source, version: '>=v1.0.0' })], 'ok'],
  ['a digest', [requires({ kind: 'Provider', package: source, version: `sha256:${'a'.repeat(64)}` })], 'ok'],
  [
    'a bad constraint',
    [requires({ kind: 'Provider', package: source, version: 'newest' })],
    /dependsOn\[0\]: expected a range of versions or a digest sha256:…, found "newest"/,
  ],
  ['4: a source with a tag', [requires({ kind: 'Provider', package: `${source}:v1`, version: '*' })], /without tag or digest/],
  ['a dependency of no kind', [requires({ package: source, version: '*' })], /expected kind and package/],
  ['no list', [meta({ spec: { dependsOn: {} } })], /expected a list/],
  ['a bad range of Crossplane', [meta({ spec: { crossplane: { version: 'new' } } })], /spec.crossplane.version/],
];

for (const [name, objects, expected] of contents)
  t.test(`contents: ${name}`, async (t) => {
    const found = inspected(...objects);
    if (expected === 'ok') t.type(found, 'object');
    else t.match(found, expected);
  });

t.test('a Function installs none of its objects', async (t) => {
  t.match(inspected(meta({ kind: 'Function' }), crd), { objects: [] });
});

t.test('a status of nulls is dropped', async (t) => {
  t.equal(at(installable({ ...crd, status: { conditions: null } } as JsonObject), 'status'), undefined);
});

t.test('14: one CRD of two packages, or of somebody else', async (t) => {
  const members = [
    { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: 'buckets.s3.aws.example.org' },
  ];
  t.same(
    sharedObjects([
      { source: 'a', objects: members },
      { source: 'b', objects: [] },
    ]),
    [],
  );
  t.match(
    sharedObjects([
      { source: 'a', objects: members },
      { source: 'b', objects: members },
    ]),
    [
      {
        reason: 'CRDConflict',
        message: 'Multiple packages install incompatible versions of CRD buckets.s3.aws.example.org: a and b',
      },
    ],
  );
  const owned = (owner: object) =>
    ({ ...crd, metadata: { name: 'buckets.s3.example.org', ownerReferences: [owner] } }) as JsonObject;
  const revision = { apiVersion: 'pkg.crossplane.io/v1', kind: 'ProviderRevision', name: 'p-1', controller: true };
  const faults = (live: JsonObject) =>
    faultsIn(replacementFaults({ live, next: crd as JsonObject, leaving: ['p-1'] })).map(({ reason }) => reason);
  t.same(faults(crd as JsonObject), [], 'it has no controller');
  t.same(faults(owned(revision)), [], 'a revision that leaves');
  t.same(faults(owned({ ...revision, controller: false, name: 'other' })), [], 'an owner that does not control');
  t.same(faults(owned({ ...revision, name: 'p-2' })), ['CRDConflict']);
  t.same(faults(owned({ ...revision, apiVersion: 'apps/v1' })), ['CRDConflict']);
  const next: JsonObject = { apiVersion: 'apiextensions.crossplane.io/v1', kind: 'Composition', metadata: { name: 'x' } };
  const live = { ...next, metadata: { name: 'x', ownerReferences: [{ ...revision, kind: 'ConfigurationRevision' }] } };
  t.same(replacementFaults({ live, next, leaving: ['p-1'] }), []);
  t.match(replacementFaults({ live, next, leaving: ['p-2'] }), [
    {
      reason: 'CRDConflict',
      message: 'Composition x is controlled by "ConfigurationRevision" "p-1", which does not leave',
    },
  ]);
});

t.test('T31: an object of any kind that another package controls is not taken over', async (t) => {
  const composition = { apiVersion: 'apiextensions.crossplane.io/v1', kind: 'Composition', metadata: { name: 'x' } };
  const members = [{ apiVersion: composition.apiVersion, kind: composition.kind, name: 'x' }];
  const meta = readMeta({
    apiVersion: 'meta.pkg.crossplane.io/v1',
    kind: 'Configuration',
    metadata: { name: 'b' },
  });
  if (typeof meta === 'string') throw new Error(meta);
  const digest = `sha256:${'b'.repeat(64)}`;
  const held = {
    change: 'root',
    name: 'b',
    source: 'r.example.org/b',
    digest,
    revision: 'b-1',
    contents: { meta, objects: members },
  };
  const registry = {
    read: async (_source: string, _digest: string, take: (object: JsonObject) => void) => {
      take(composition);
      return { kind: 'ok' };
    },
  };
  const owner = { apiVersion: 'pkg.crossplane.io/v1', kind: 'ConfigurationRevision', controller: true };
  const compared = (name: string) =>
    compareWithLive([held as unknown as TreePackage], {
      registry: registry as unknown as Registry,
      live: async () => ({ ...composition, metadata: { name: 'x', ownerReferences: [{ ...owner, name }] } }),
    });
  t.match(await compared('a-1'), [{ reason: 'CRDConflict', message: /^Composition x is controlled by / }]);
  t.same(await compared('b-1'), [], 'its own');
  const read = (kind: string, apiVersion: string): string => liveVersionOf({ kind, apiVersion, name: 'x' });
  t.equal(read('Composition', 'apiextensions.crossplane.io/v1'), 'apiextensions.crossplane.io/v1');
  t.equal(read('WatchOperation', 'ops.crossplane.io/v1alpha1'), 'ops.crossplane.io/v1alpha1');
  t.equal(read('CompositeResourceDefinition', 'apiextensions.crossplane.io/v2'), 'apiextensions.crossplane.io/v1');
});

t.test('a source is a host as in a URL, and a repository', async (t) => {
  const of = (registry: string): boolean => readSource(`${registry}/acme/x`) !== undefined;
  for (const registry of [
    'registry.example.org',
    'Registry.Example.org:5000',
    '127.0.0.1:1',
    'a.b:65535',
    'a.b:443',
    `${'a.'.repeat(126)}b`,
  ])
    t.ok(of(registry), registry);
  const none = [
    'registry',
    'a.b:0',
    'a.b:00',
    'a.b:080',
    'a.b:',
    `${'a.'.repeat(126)}bc`,
    'a.b:65536',
    'a.b:99999',
    'a.1',
    '1.2.3.4.5',
    '256.1.1.1',
    'a.b.0x',
    '0x7f.0.0.1',
    '127.1',
    'xn--.b',
  ];
  for (const registry of none) t.notOk(of(registry), registry);
});

t.test('30: names', async (t) => {
  t.equal(packageName('registry.example.org/Acme/provider_x.y'.toLowerCase()), 'acme-providerx-y');
  t.equal(revisionName('provider-aws-s3', `sha256:abc123def456${'0'.repeat(52)}`), 'provider-aws-s3-abc123def456');
  t.equal(revisionName('n'.repeat(60), `sha256:${'1'.repeat(64)}`), `${'n'.repeat(50)}-${'1'.repeat(12)}`);
  t.equal(dnsLabel('-a.b:c/d-'), 'a-b-c-d');
  t.equal(dnsLabel('x'.repeat(70)).length, 63);
});

t.test('references', async (t) => {
  const digest = `sha256:${'a'.repeat(64)}`;
  t.same(readReference('127.0.0.1:5000/org/p:v1'), { source: '127.0.0.1:5000/org/p', version: 'v1' });
  t.same(readReference(`r.example.org/p@${digest}`), { source: 'r.example.org/p', version: digest });
  t.same(readReference(`r.example.org/p:v1@${digest}`), { source: 'r.example.org/p', version: digest, tag: 'v1' });
  t.same(readReference('r.example.org/p'), { source: 'r.example.org/p', version: 'latest' });
  for (const bad of [
    'localhost:5000/p:v1',
    'p:v1',
    'r.example.org/P:v1',
    'r.example.org/p:',
    'r.example.org/p@sha256:a',
    'r.example.org/../p:v1',
    'r.example.org/p?x:v1',
    'u@r.example.org/p:v1',
    'r.example.org:x/p:v1',
  ])
    t.equal(readReference(bad), undefined, bad);
});

t.test('manifests', async (t) => {
  const image = (parts: object) => JSON.stringify({ schemaVersion: 2, layers: [], ...parts });
  const layer = { digest: `sha256:${'a'.repeat(64)}`, size: 1 };
  const base = { ...layer, annotations: { 'io.crossplane.xpkg': 'base' } };
  t.same(readManifest(image({ layers: [layer, base] })), {
    kind: 'image',
    layers: [layer].map(({ digest, size }) => ({ digest, size })),
  });
  const bad: readonly (readonly [string, RegExp])[] = [
    ['<html>', /no JSON object/],
    [image({ schemaVersion: 1 }), /schemaVersion 2/],
    [image({ manifests: [] }), /or both/],
    [image({ layers: [base, base] }), /2 layers with the annotation/],
    [image({ layers: [{ ...layer, digest: 'md5:x' }] }), /something else than a digest/],
    [image({ layers: [{ ...layer, size: -1 }] }), /has no size/],
    [image({ layers: [{ ...layer, size: 2 ** 40 }] }), /at most 67108864/],
    [image({ layers: Array.from({ length: 200 }, () => layer) }), /200 layers/],
    [JSON.stringify({ schemaVersion: 2, manifests: [layer, layer] }), /none for linux\/amd64/],
  ];
  for (const [text, expected] of bad) t.throws(() => readManifest(text), expected);
});

t.test('the engine shows words of a package on one line, with every character visible', async (t) => {
  const member = { apiVersion: 'v1', kind: 'CustomResourceDefinition', name: 'a\u001b[2J\nReady: True\u202e' };
  const [fault, ...others] = sharedObjects([
    { source: 'a', objects: [member] },
    { source: 'b', objects: [member] },
  ]);
  t.match(fault?.message, /CRD a\\u\{1b\}\[2J Ready: True\\u\{202e\}: a and b$/);
  t.same(others, []);
  const field = { 'x\u001b[31m\n': { type: 'string' } };
  const [live, next] = [field, {}].map((properties) =>
    definitionOf('things', 'example.org', { type: 'object', properties }),
  ) as JsonObject[];
  const breaches = faultsIn(replacementFaults({ live: live ?? {}, next: next ?? {}, leaving: [] }));
  t.equal(breaches.length, 1);
  t.match(breaches[0]?.message, /^[\x20-\x7e]+$/);
  t.equal(finalFault('InvalidPackage', 'a\nb').message, packageFault('InvalidPackage', 'a b').message);
  const held: TreePackage = {
    ...{ source: 'r.example.org/a', name: 'a', revision: 'a-1', tag: 'v1.0.0', digest: undefined, meta: undefined },
    ...{ change: 'added', from: undefined, leaves: undefined, demands: [{ package: 'b', constraints: '>=v1.0.0\u001b' }] },
    contents: { meta: {} as never, objects: [member] },
  };
  const text = writeText({ kind: 'resolved', packages: [held], lock: [], notes: ['a\u001bb'] });
  t.match(text, /^[\x20-\x7e\n]+$/);
  t.equal(text.split('\n').length, 6, text);
});

t.test('live objects in files of a folder', async (t) => {
  const definition = (name: string, more: object = {}) => ({ kind: 'CustomResourceDefinition', metadata: { name }, ...more });
  const description = 'x'.repeat(100_000);
  const several = Array.from({ length: 30 }, (_, index) => definition(`listed${index}`, { spec: { description } }));
  const folder = t.testdir({
    'snapshot.yaml': `{kind: Provider, metadata: {name: a}, spec: {package: "r.example.org/acme/a:v1.0.0"}}`,
    live: {
      'one.yaml': `---\n---\n${JSON.stringify(definition('one'))}\n---\n${JSON.stringify(definition('two'))}`,
      'list.yaml': JSON.stringify({ apiVersion: 'v1', kind: 'List', items: several }),
    },
    wrong: { 'text.yaml': 'words' },
    twice: { 'twice.yaml': 'a: 1\na: 2' },
  });
  const open = (crds: string) =>
    openInputs({ file: join(folder, 'snapshot.yaml'), crds: join(folder, crds), namespace: 'n', pullSecrets: [] });
  const { live } = await open('live');
  for (const name of ['one', 'two', 'listed0', 'listed29'])
    t.match(
      await live({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name }),
      { metadata: { name } },
      name,
    );
  t.equal(await live({ apiVersion: 'v1', kind: 'List', name: 'undefined' }), undefined);
  await t.rejects(open('none'), /--crds: expected a folder, found none at .*none; nothing would be compared$/);
  await t.rejects(open('snapshot.yaml'), /expected a folder/);
  await t.rejects(open('wrong'), /text\.yaml: it holds a document that is not an object$/);
  await t.rejects(open('twice'), /twice\.yaml: it /);
});
