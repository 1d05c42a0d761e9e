// The client against two registries, each another implementation, with packages of two producers.
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { imageOf, layerOf, packageOf, providerYaml, push, tarOf } from '../../support/registry/builder.ts';
import { type Implementation, startRegistry } from '../../support/registry/process.ts';
import { startProxy } from '../../support/registry/proxy.ts';
import { buildPackages } from '../../tools/packages/packages.ts';
import { failureOf, objectsOf, openRegistry } from './clients.ts';

const { producer } = await buildPackages(() => undefined);

function produce(reference: string, stream: string, ...flags: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync(producer, [...flags, reference], { input: stream, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

for (const implementation of ['distribution', 'go-containerregistry'] satisfies Implementation[])
  t.test(implementation, async (t) => {
    const { origin, host } = await startRegistry(t, { implementation });
    const proxy = await startProxy(t, origin);
    // The other one gives the tags that were asked for and no link to the rest.
    const hasPages = implementation === 'distribution';
    const source = (repository: string): string => `${proxy.host}/${repository}`;

    for (const types of ['docker', 'oci'])
      for (const index of [[], ['-index']])
        await t.test(`${types} ${index.join('')}`, async (t) => {
          const repository = `acme/${types}${index.length}`;
          const digest = produce(
            `${host}/${repository}:v1.0.0`,
            providerYaml('made', { 'registry.example.org/acme/b': '>=v1.0.0' }),
            '-types',
            types,
            ...index,
          );
          const registry = openRegistry(t);
          t.same(
            await registry.digest({ source: source(repository), version: 'v1.0.0' }),
            { kind: 'ok', digest },
            '28: the digest is the registry’s',
          );
          t.match(await objectsOf(registry, source(repository), digest), [{ kind: 'Provider', metadata: { name: 'made' } }]);
        });

    await t.test('the client reads a package that the test made', async (t) => {
      const digest = await push({ origin, repository: 'acme/own', tag: 'v1.0.0' }, await packageOf(providerYaml('own')));
      const registry = openRegistry(t);
      t.match(await objectsOf(registry, source('acme/own'), digest), [{ metadata: { name: 'own' } }]);
      t.same(await registry.tags(source('acme/own')), { kind: 'ok', tags: ['v1.0.0'] });
      t.same(await registry.digest({ source: source('acme/own'), version: digest }), { kind: 'ok', digest });
      t.match(failureOf(await registry.digest({ source: source('acme/own'), version: 'v9.9.9' })), { kind: 'absent' });
      t.match(failureOf(await registry.tags(source('acme/none'))), {
        kind: 'absent',
        message: new RegExp(`^${source('acme/none')}: `),
      });
    });

    await t.test('29: a tag that moves leaves the digest as it is', async (t) => {
      const [first, second] = [await packageOf(providerYaml('first')), await packageOf(providerYaml('second'))];
      await push({ origin, repository: 'acme/moving', tag: 'v1.0.0' }, first);
      const registry = openRegistry(t);
      const before = await registry.digest({ source: source('acme/moving'), version: 'v1.0.0' });
      t.same(before, { kind: 'ok', digest: first.manifest.digest });
      await push({ origin, repository: 'acme/moving', tag: 'v1.0.0' }, second);
      t.match(await objectsOf(registry, source('acme/moving'), first.manifest.digest), [{ metadata: { name: 'first' } }]);
    });

    await t.test('the client reads all layers without the annotation, the upper ones first', async (t) => {
      const layers = [
        [await layerOf(providerYaml('lower'))],
        [await tarOf({ name: 'etc/other', content: 'x' })],
        [await tarOf({ name: './package.yaml', content: providerYaml('upper') })],
      ] as const;
      const digest = await push({ origin, repository: 'acme/flat', tag: 'v1.0.0' }, imageOf(layers));
      t.match(await objectsOf(openRegistry(t), source('acme/flat'), digest), [{ metadata: { name: 'upper' } }]);
      const gone = imageOf([...layers, [await tarOf({ name: '.wh.package.yaml' })]]);
      const without = await push({ origin, repository: 'acme/flat', tag: 'v1.0.1' }, gone);
      t.match(await objectsOf(openRegistry(t), source('acme/flat'), without), {
        kind: 'invalid',
        message: /holds no package.yaml/,
      });
      const other = imageOf([
        [await layerOf(providerYaml('base')), { annotation: 'base' }],
        [await layerOf(providerYaml('x')), { annotation: 'upbound' }],
      ]);
      const annotated = await push({ origin, repository: 'acme/flat', tag: 'v1.0.2' }, other);
      t.match(await objectsOf(openRegistry(t), source('acme/flat'), annotated), [{ metadata: { name: 'base' } }]);
    });

    await t.test('the client reads tags in pages', async (t) => {
      const image = await packageOf(providerYaml('many'));
      const tags = Array.from({ length: 25 }, (_, index) => `v1.${index}.0`);
      for (const tag of tags) await push({ origin, repository: 'acme/many', tag }, image);
      proxy.act((asked) => {
        // Smaller pages than were asked for are the registry's right.
        if (hasPages) asked.url = asked.url?.replace('n=1000', 'n=10') ?? '';
        return false;
      });
      const answer = await openRegistry(t).tags(source('acme/many'));
      t.same(answer.kind === 'ok' && [...answer.tags].sort(), [...tags].sort());
    });

    await t.test('the client fetches no cached layer, but checks the right to it', async (t) => {
      const digest = await push({ origin, repository: 'acme/cached', tag: 'v1.0.0' }, await packageOf(providerYaml('cached')));
      const first = openRegistry(t);
      await objectsOf(first, source('acme/cached'), digest);
      const from = proxy.seen.length;
      const second = openRegistry(t, { cacheDirectory: first.directory });
      for (const version of ['v1.0.0', 'v1.0.0', digest])
        t.same(await second.digest({ source: source('acme/cached'), version }), { kind: 'ok', digest });
      const asked = (): readonly string[] =>
        proxy.seen.slice(from).map(({ method, path }) => `${method} ${path.replace('/v2/acme/cached/manifests/', '')}`);
      t.match(await objectsOf(second, source('acme/cached'), digest), [{ metadata: { name: 'cached' } }]);
      const once = ['GET v1.0.0', 'HEAD v1.0.0', `HEAD ${digest}`];
      t.same(asked(), once, 'what the client saw costs no manifest');
      t.match(await objectsOf(second.again(), source('acme/cached'), digest), [{ metadata: { name: 'cached' } }]);
      t.same(asked(), [...once, `HEAD ${digest}`], 'each call asks');
    });

    await t.test('the client sends at most eight requests at once', async (t) => {
      const digests = [];
      for (let index = 0; index < 24; index += 1)
        digests.push(
          await push({ origin, repository: `acme/p${index}`, tag: 'v1.0.0' }, await packageOf(providerYaml(`p${index}`))),
        );
      const own = await startProxy(t, origin);
      const registry = openRegistry(t);
      const read = await Promise.all(digests.map((digest, index) => objectsOf(registry, `${own.host}/acme/p${index}`, digest)));
      t.ok(read.every(Array.isArray));
      t.ok(own.mostAtOnce() > 1 && own.mostAtOnce() <= 8, `${own.mostAtOnce()}`);
    });
  });

t.test('the client reuses a connection, also after answers that it does not read', async (t) => {
  const { origin } = await startRegistry(t);
  const proxy = await startProxy(t, origin);
  const source = `${proxy.host}/acme/p`;
  const digest = await push({ origin, repository: 'acme/p', tag: 'v1.0.0' }, await packageOf(providerYaml('p')));
  const registry = openRegistry(t, { atOnce: 1 });
  for (let turn = 0; turn < 5; turn += 1) {
    t.same(await registry.digest({ source, version: 'v1.0.0' }), { kind: 'ok', digest });
    t.match(failureOf(await registry.tags(`${source}/none`)), { kind: 'absent' });
    t.match(await objectsOf(registry, source, digest), [{ metadata: { name: 'p' } }]);
  }
  t.ok(proxy.seen.length >= 11, `${proxy.seen.length}`);
  t.equal(proxy.connections(), 1);
});
