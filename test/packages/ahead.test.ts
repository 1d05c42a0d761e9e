// A tree is read ahead of its resolution: tags of what a package requires are listed while other packages are still read.
import t from 'tap';
import { readTree } from '../../hooks/crossplane/observe/tree.ts';
import type { Registry } from '../../hooks/crossplane/registry.ts';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { digestOf, sourceOf } from './trees.ts';

const requires: Readonly<Record<string, readonly string[]>> = { a: ['b', 'c'], b: ['d'], c: ['d'], d: [] };

function metaOf(name: string): JsonObject {
  const dependsOn = requires[name]?.map((one) => ({
    apiVersion: 'pkg.crossplane.io/v1',
    kind: 'Provider',
    package: sourceOf(one),
    version: '>=v1.0.0',
  }));
  return { apiVersion: 'meta.pkg.crossplane.io/v1', kind: 'Provider', metadata: { name }, spec: { dependsOn: dependsOn ?? [] } };
}

t.test('the engine reads c only after it has requested the tags of d, which b requires', { timeout: 60_000 }, async (t) => {
  const listed: string[] = [];
  let isListed = (): void => undefined;
  const tagsOfD = new Promise<void>((resolve) => (isListed = resolve));
  const nameOf = (source: string): string => source.slice(source.lastIndexOf('/') + 1);
  const registry: Registry = {
    tags: async (source) => {
      listed.push(nameOf(source));
      if (nameOf(source) === 'd') isListed();
      return { kind: 'ok', tags: ['v1.0.0'] };
    },
    digest: async ({ source, version }) => ({ kind: 'ok', digest: digestOf(nameOf(source), version) }),
    read: async (source, _digest, take) => {
      if (nameOf(source) === 'c') await tagsOfD;
      take(metaOf(nameOf(source)));
      return { kind: 'ok' };
    },
  };
  const reference = { source: sourceOf('a'), version: 'v1.0.0' };
  const tree = await readTree({ name: 'a', kind: 'Provider', reference, skipsDependencies: false, installed: [] }, registry);
  t.equal(tree.kind, 'resolved', JSON.stringify(tree));
  t.strictSame(listed.toSorted(), ['b', 'c', 'd'], 'each list is requested once');
});

t.test('the engine refuses a package whose sources have too many tags, with few tags in memory', async (t) => {
  const many = Array.from({ length: 300_000 }, (_, index) => `v1.0.${index}`);
  let [listed, atOnce, most] = [0, 0, 0];
  const registry: Registry = {
    async tags() {
      listed += 1;
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      atOnce -= 1;
      return { kind: 'ok', tags: many };
    },
    digest: async ({ source, version }) => ({ kind: 'ok', digest: digestOf(source, version) }),
    read: async (_source, _digest, take) => {
      const dependsOn = Array.from({ length: 200 }, (_, index) => ({ provider: sourceOf(`p${index}`), version: '>=v1.0.0' }));
      take({ apiVersion: 'meta.pkg.crossplane.io/v1', kind: 'Provider', metadata: { name: 'a' }, spec: { dependsOn } });
      return { kind: 'ok' };
    },
  };
  const reference = { source: sourceOf('a'), version: 'v1.0.0' };
  const tree = await readTree({ name: 'a', kind: 'Provider', reference, skipsDependencies: false, installed: [] }, registry);
  t.match(tree, { kind: 'refused', faults: [{ reason: 'InvalidPackage', message: /at most 2000 packages .* 500000 tags/ }] });
  t.ok(listed <= 16 && most <= 8, `${listed} lists, ${most} at once`);
});

t.test('the engine refuses a tree with more objects than the limit, and does not read its other packages', async (t) => {
  const nameOf = (source: string): string => source.slice(source.lastIndexOf('/') + 1);
  const dependsOn = Array.from({ length: 60 }, (_, index) => ({ provider: sourceOf(`p${index}`), version: '>=v1.0.0' }));
  const read: string[] = [];
  const registry: Registry = {
    tags: async () => ({ kind: 'ok', tags: ['v1.0.0'] }),
    digest: async ({ source, version }) => ({ kind: 'ok', digest: digestOf(nameOf(source), version) }),
    async read(source, _digest, take) {
      const name = nameOf(source);
      read.push(name);
      // As long as a download takes: all that may begin has begun.
      await new Promise((resolve) => setTimeout(resolve, 20));
      take({
        apiVersion: 'meta.pkg.crossplane.io/v1',
        kind: 'Provider',
        metadata: { name },
        spec: name === 'a' ? { dependsOn } : {},
      });
      for (let index = 0; index < 4_999 && name !== 'a'; index += 1)
        take({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${name}-${index}` } });
      return { kind: 'ok' };
    },
  };
  const reference = { source: sourceOf('a'), version: 'v1.0.0' };
  const tree = await readTree({ name: 'a', kind: 'Provider', reference, skipsDependencies: false, installed: [] }, registry);
  t.match(tree, { kind: 'refused', faults: [{ reason: 'InvalidPackage', message: /with 200000 objects/ }] });
  t.ok(read.length < 60, `${read.length} were read`);
});

t.test('the engine refuses a tree with texts above the limit, in any place', async (t) => {
  const digest = digestOf('any', 'v1.0.0');
  const nameOf = (source: string): string => source.slice(source.lastIndexOf('/') + 1);
  const metaWith = (dependsOn: readonly object[], labels = {}) =>
    ({
      apiVersion: 'meta.pkg.crossplane.io/v1',
      kind: 'Provider',
      metadata: { name: 'x', labels },
      spec: { dependsOn },
    }) as unknown as JsonObject;
  const definition = (name: string): JsonObject => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
  });
  const root = metaWith(Array.from({ length: 100 }, (_, index) => ({ provider: sourceOf(`p${index}`), version: digest })));
  const long = 'x'.repeat(1_000_000);
  const rows: readonly (readonly [what: string, objects: (source: string) => readonly JsonObject[], atMost: number])[] = [
    ['names', (source) => (source === 'a' ? [root] : [metaWith([]), definition(long)]), 50],
    ['metas', (source) => (source === 'a' ? [root] : [metaWith([], { long })]), 50],
    ['the root', () => [metaWith([]), ...Array.from({ length: 40 }, (_, index) => definition(`${index}${long}`))], 1],
  ];
  for (const [what, objectsOf, atMost] of rows) {
    let read = 0;
    const registry: Registry = {
      tags: async () => ({ kind: 'ok', tags: ['v1.0.0'] }),
      digest: async () => ({ kind: 'ok', digest }),
      async read(source, _digest, take) {
        read += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
        for (const object of objectsOf(nameOf(source))) take(object);
        return { kind: 'ok' };
      },
    };
    const reference = { source: sourceOf('a'), version: 'v1.0.0' };
    const tree = await readTree({ name: 'a', kind: 'Provider', reference, skipsDependencies: false, installed: [] }, registry);
    t.match(tree, { kind: 'refused', faults: [{ reason: 'InvalidPackage', message: /32000000 characters/ }] }, what);
    t.ok(read <= atMost, `${what}: ${read} were read`);
  }
});

t.test('an unreadable version ends the tree only if the choice needs it', async (t) => {
  const tags: Readonly<Record<string, readonly string[]>> = { b: ['v1.0.0', 'v2.0.0'], z: ['v1.0.0'] };
  const dependency = (name: string, version: string) => ({ provider: sourceOf(name), version });
  const nameOf = (source: string): string => source.slice(source.lastIndexOf('/') + 1);
  const treeWith = async (ofZ: readonly object[], broken: 'invalid' | 'denied' | 'absent' | 'unavailable' | 'a webhook') => {
    const requiredBy: Readonly<Record<string, readonly object[]>> = {
      a: [dependency('b', '>=v1.0.0'), dependency('z', '>=v1.0.0')],
      z: ofZ,
    };
    const registry: Registry = {
      tags: async (source) => ({ kind: 'ok', tags: tags[nameOf(source)] ?? [] }),
      digest: async ({ source, version }) => ({ kind: 'ok', digest: digestOf(nameOf(source), version) }),
      read: async (source, digest, take) => {
        const isBroken = digest === digestOf('b', 'v2.0.0');
        if (isBroken && broken !== 'a webhook')
          return { kind: 'failed', failure: { kind: broken, message: 'b v2.0.0 is not read' } };
        const name = nameOf(source);
        const metadata = { name };
        const spec = { dependsOn: requiredBy[name] ?? [] } as unknown as JsonObject;
        take({ apiVersion: 'meta.pkg.crossplane.io/v1', kind: 'Provider', metadata, spec });
        if (isBroken)
          take({
            apiVersion: 'admissionregistration.k8s.io/v1',
            kind: 'ValidatingWebhookConfiguration',
            metadata: { name: 'w' },
          });
        return { kind: 'ok' };
      },
    };
    const reference = { source: sourceOf('a'), version: 'v1.0.0' };
    return readTree({ name: 'a', kind: 'Provider', reference, skipsDependencies: false, installed: [] }, registry);
  };
  const passedOver = ['invalid', 'denied', 'absent', 'a webhook'] as const;
  for (const broken of passedOver) {
    const tree = await treeWith([dependency('b', '<v2.0.0')], broken);
    t.match(tree, { kind: 'resolved', packages: [{ tag: 'v1.0.0' }, {}, {}] }, broken);
  }
  t.match(await treeWith([dependency('b', '<v2.0.0')], 'unavailable'), { kind: 'failed' }, 'it may be readable later');
  t.match(await treeWith([], 'a webhook'), { kind: 'refused', faults: [{ reason: 'InvalidPackage', message: /b@sha256.* w / }] });
  t.match(await treeWith([], 'denied'), { kind: 'failed', failure: { kind: 'denied' } });
});

function required(sources: readonly string[]): JsonObject {
  const dependsOn = sources.map((provider) => ({ provider, version: '>=v1.0.0' }));
  return { apiVersion: 'meta.pkg.crossplane.io/v1', kind: 'Provider', metadata: { name: 'a' }, spec: { dependsOn } };
}

const sources = (count: number, prefix: string) => Array.from({ length: count }, (_, index) => sourceOf(`${prefix}${index}`));

t.test('the engine asks no registry for the dependencies of an invalid package', async (t) => {
  const rows: readonly (readonly [name: string, objects: readonly JsonObject[], message: RegExp])[] = [
    [
      'metas',
      Array.from({ length: 1_700 }, (_, index) => required(sources(500, `m${index}-`))),
      /expected one meta object .* 1700/,
    ],
    ['dependencies', [required(sources(501, 'd'))], /spec.dependsOn: at most 500 entries, found 501/],
    ['an object', [required(sources(2, 'o')), { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }], /may not hold/],
  ];
  for (const [name, objects, message] of rows) {
    const listed: string[] = [];
    const registry: Registry = {
      async tags(source) {
        listed.push(source);
        return { kind: 'ok', tags: ['v1.0.0'] };
      },
      digest: async ({ source, version }) => ({ kind: 'ok', digest: digestOf(source, version) }),
      async read(_source, _digest, take) {
        for (const object of objects) take(object);
        return { kind: 'ok' };
      },
    };
    const reference = { source: sourceOf('a'), version: 'v1.0.0' };
    const tree = await readTree({ name: 'a', kind: 'Provider', reference, skipsDependencies: false, installed: [] }, registry);
    t.match(tree, { kind: 'refused', faults: [{ reason: 'InvalidPackage', message }] }, name);
    t.same(listed, [], name);
  }
});

t.test('the engine refuses a tree whose packages name sources without end', async (t) => {
  let listed = 0;
  const registry: Registry = {
    async tags() {
      listed += 1;
      return { kind: 'ok', tags: ['v1.0.0'] };
    },
    digest: async ({ source, version }) => ({ kind: 'ok', digest: digestOf(source, version) }),
    async read(source, _digest, take) {
      take(required(sources(500, `${source.slice(source.lastIndexOf('/') + 1)}-`)));
      return { kind: 'ok' };
    },
  };
  const reference = { source: sourceOf('a'), version: 'v1.0.0' };
  const tree = await readTree({ name: 'a', kind: 'Provider', reference, skipsDependencies: false, installed: [] }, registry);
  t.match(tree, { kind: 'refused', faults: [{ reason: 'InvalidPackage', message: /of 4000 sources/ }] });
  t.ok(listed <= 4_001, `${listed}`);
});
